// The compression function G and the filling of a segment (RFC 9106 sections 3.4 to 3.6), for one instruction set.
//
// argon2.c includes this file once for each set, and defines before it
//   WORDS     64-bit words in one vector: 2, 4 or 8
//   TARGET    the attribute that names the instruction set
//   NAME(x)   a name of its own for each set
//
// G takes a block of 128 words as a matrix of 8 x 8 cells of two words, and applies the permutation P to each row and
// then to each column. P takes its 16 words as four rows a, b, c and d of four words. It does the same with all of
// their columns, then with their diagonals, which become columns when b, c and d are rotated by one, two and three words.
//
// With two and four words, a vector has the words that follow one another. With eight, it has two times two cells: the
// words of two rows for P on rows, and of two columns for P on columns. In this order (see place) blocks are in memory,
// too, because only G reads them.

typedef uint64_t NAME(vector) __attribute__((vector_size(8 * WORDS), may_alias));
#define VECTOR NAME(vector)
#define VECTORS (BLOCK_WORDS / WORDS)
#define COLUMN_VECTORS (WORDS == 2 ? 8 : 4) // in which all columns are
#define INLINE static inline __attribute__((always_inline)) TARGET
#define UNROLLED _Pragma("clang loop unroll(full)")
#define ROTATED(x, n) ((x) >> (n) | (x) << (64 - (n)))

// The place in a block of a word of section 3.
INLINE size_t NAME(place)(size_t word)
{
#if WORDS == 8
    size_t row = word / 16, column = word % 16;
    return 32 * (row / 2) + 8 * (column / 4) + 4 * (row % 2) + column % 4;
#else
    return word;
#endif
}

// A line of the function GB of section 3.6. The sum has twice the product of the lower halves.
#define STEP(to, from, turned, n) \
    UNROLLED for (int i = 0; i < count; i++) \
    { \
        VECTOR *sum = &x[i * step + to * row], other = x[i * step + from * row], *last = &x[i * step + turned * row]; \
        *sum += other + 2 * ((*sum & 0xffffffff) * (other & 0xffffffff)); \
        VECTOR difference = *last ^ *sum; \
        *last = ROTATED(difference, n); \
    }

// GB of `count` times four vectors. Those of one are `row` apart, two of them are `step` apart.
INLINE void NAME(mix)(VECTOR *x, int count, int step, int row)
{
    STEP(0, 1, 3, 32) STEP(2, 3, 1, 24) STEP(0, 1, 3, 16) STEP(2, 3, 1, 63)
}

#if WORDS > 2
// A vector's rows of P, rotated by the given number of words.
INLINE VECTOR NAME(rotated)(VECTOR x, int words, bool columns)
{
#if WORDS == 8
    if (columns)
        return words == 1 ? __builtin_shufflevector(x, x, 1, 4, 3, 6, 5, 0, 7, 2)
             : words == 2 ? __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3)
                          : __builtin_shufflevector(x, x, 5, 0, 7, 2, 1, 4, 3, 6);
    return words == 1 ? __builtin_shufflevector(x, x, 1, 2, 3, 0, 5, 6, 7, 4)
         : words == 2 ? __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5)
                      : __builtin_shufflevector(x, x, 3, 0, 1, 2, 7, 4, 5, 6);
#else
    (void)columns; // They are in two vectors: permute_halves.
    return words == 1 ? __builtin_shufflevector(x, x, 1, 2, 3, 0)
         : words == 2 ? __builtin_shufflevector(x, x, 2, 3, 0, 1)
                      : __builtin_shufflevector(x, x, 3, 0, 1, 2);
#endif
}

// P where each of its rows is within one vector: `count` times four vectors.
INLINE void NAME(permute)(VECTOR *x, int count, int step, int row, bool columns)
{
    NAME(mix)(x, count, step, row);
    UNROLLED for (int i = 0; i < count; i++) UNROLLED for (int words = 1; words < 4; words++)
    {
        VECTOR *turned = &x[i * step + words * row];
        *turned = NAME(rotated)(*turned, words, columns);
    }
    NAME(mix)(x, count, step, row);
    UNROLLED for (int i = 0; i < count; i++) UNROLLED for (int words = 1; words < 4; words++)
    {
        VECTOR *turned = &x[i * step + words * row];
        *turned = NAME(rotated)(*turned, 4 - words, columns);
    }
}
#endif

#if WORDS < 8
#if WORDS == 2
#define NEXT(x, y) __builtin_shufflevector(x, y, 1, 2)
#else
#define NEXT(x, y) __builtin_shufflevector(x, y, 1, 4, 3, 6)
#endif

// A row of P in two vectors, rotated by the given number of words.
INLINE void NAME(rotate)(VECTOR *first, VECTOR *second, int words)
{
    const VECTOR x = *first, y = *second;
    *first = words == 1 ? NEXT(x, y) : words == 2 ? y : NEXT(y, x);
    *second = words == 1 ? NEXT(y, x) : words == 2 ? x : NEXT(x, y);
}

// P where each of its rows is in two vectors, of which the second is `step` after the first.
INLINE void NAME(permute_halves)(VECTOR *all, int step)
{
    VECTOR x[8];
    UNROLLED for (int i = 0; i < 8; i++) x[i] = all[i * step];
    NAME(mix)(x, 2, 1, 2);
    UNROLLED for (int words = 1; words < 4; words++) NAME(rotate)(&x[2 * words], &x[2 * words + 1], words);
    NAME(mix)(x, 2, 1, 2);
    UNROLLED for (int words = 1; words < 4; words++) NAME(rotate)(&x[2 * words], &x[2 * words + 1], 4 - words);
    UNROLLED for (int i = 0; i < 8; i++) all[i * step] = x[i];
}
#undef NEXT
#endif

// P on all rows.
INLINE void NAME(permute_rows)(VECTOR x[VECTORS])
{
#if WORDS == 8
    NAME(permute)(x, 4, 4, 1, false);
#elif WORDS == 4
    // Two rows at once fill the registers.
    for (int i = 0; i < VECTORS; i += 8) NAME(permute)(x + i, 2, 4, 1, false);
#else
    for (int i = 0; i < VECTORS; i += 8) NAME(permute_halves)(x + i, 1);
#endif
}

// P on the columns that are in `count` vectors.
INLINE void NAME(permute_columns)(VECTOR x[VECTORS], int first, int count)
{
#if WORDS == 8
    NAME(permute)(x + first, count, 1, COLUMN_VECTORS, true);
#else
    for (int i = 0; i < count; i++) NAME(permute_halves)(x + first + i, COLUMN_VECTORS);
#endif
}

// G of two blocks, to a third.
TARGET static __attribute__((noinline)) void NAME(compress)(const uint64_t *one, const uint64_t *other, uint64_t *to)
{
    VECTOR x[VECTORS], before[VECTORS];
    for (int i = 0; i < VECTORS; i++) before[i] = x[i] = ((const VECTOR *)one)[i] ^ ((const VECTOR *)other)[i];
    NAME(permute_rows)(x);
    NAME(permute_columns)(x, 0, COLUMN_VECTORS);
    for (int i = 0; i < VECTORS; i++) ((VECTOR *)to)[i] = x[i] ^ before[i];
}

INLINE void NAME(next_addresses)(uint64_t input[BLOCK_WORDS], uint64_t addresses[BLOCK_WORDS])
{
    input[NAME(place)(6)]++;
    NAME(compress)(zeros, input, addresses);
    NAME(compress)(zeros, addresses, addresses);
}

// Fills one segment (section 3.4).
TARGET static void NAME(fill)(const struct instance *all, struct position at)
{
    // The two blocks of section 3.4.1.2: what the addresses are computed from, and the addresses.
    uint64_t input[BLOCK_WORDS] ALIGNED = {0}, addresses[BLOCK_WORDS] ALIGNED;
    const bool is_independent = all->type == POSTERN_ARGON2_I || (at.pass == 0 && at.slice < 2);
    const uint64_t blocks = (uint64_t)all->lanes * all->lane_blocks;
    const uint64_t counts[] = {at.pass, at.lane, at.slice, blocks, all->passes, all->type};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) input[NAME(place)(i)] = counts[i];

    // The first two blocks of each lane are there.
    at.index = at.pass == 0 && at.slice == 0 ? 2 : 0;
    const uint32_t column = at.slice * all->segment_blocks + at.index;
    VECTOR *to = (VECTOR *)block_at(all, at.lane, column);
    const VECTOR *last = (VECTOR *)block_at(all, at.lane, column > 0 ? column - 1 : all->lane_blocks - 1);
    uint64_t random = *(const uint64_t *)last;
    if (is_independent) {
        NAME(next_addresses)(input, addresses);
        random = addresses[NAME(place)(at.index)];
    }
    const VECTOR *reference = (const VECTOR *)reference_block(all, at, random);
    while (at.index < all->segment_blocks) {
        // The reference after the last one belongs to no block. It is in the same lanes, and is not read.
        VECTOR x[VECTORS], before[VECTORS];
        for (int i = 0; i < VECTORS; i++) before[i] = x[i] = last[i] ^ reference[i];
        // Section 3.2: all passes but the first combine the new block with the old one.
        if (at.pass > 0) for (int i = 0; i < VECTORS; i++) before[i] ^= to[i];
        at.index++;
        if (is_independent) {
            if (at.index % BLOCK_WORDS == 0) NAME(next_addresses)(input, addresses);
            reference = (const VECTOR *)reference_block(all, at, addresses[NAME(place)(at.index % BLOCK_WORDS)]);
            prefetch_block(reference);
        }
        NAME(permute_rows)(x);
        NAME(permute_columns)(x, 0, 1);
        // The first word is known now, and with it the next reference. The rest takes as long as a read from the cache.
        if (!is_independent) {
            reference = (const VECTOR *)reference_block(all, at, x[0][0] ^ before[0][0]);
            prefetch_block(reference);
        }
        NAME(permute_columns)(x, 1, COLUMN_VECTORS - 1);
        for (int i = 0; i < VECTORS; i++) to[i] = x[i] ^ before[i];
        last = to;
        to += VECTORS;
    }
}

#undef VECTOR
#undef VECTORS
#undef COLUMN_VECTORS
#undef INLINE
#undef UNROLLED
#undef ROTATED
#undef STEP
#undef WORDS
#undef TARGET
#undef NAME
