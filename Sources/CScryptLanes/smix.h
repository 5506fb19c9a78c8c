// scryptROMix (RFC 7914 section 5) of LANES x STREAMS blocks at once, for one instruction set.
//
// lanes.c includes this file once for each kernel, and defines before it
//   LANES     blocks in one vector: 1 or 2
//   STREAMS   vectors that are computed in turns: while one waits for a result, the processor works on the next
//   TARGET    the attribute that names the instruction set
//   NAME(x)   a name of its own for each kernel
//
// A block is 2 r pieces of 64 bytes. A piece is 16 words, the 4 x 4 matrix of Salsa20. Here it is kept as four rows of
// four words each, which are the diagonals of the matrix. Salsa20 then does the same with all words of a row. A row of
// LANES blocks is one vector, so 4 x LANES words.
//
// Each block has a table of its own (V in the RFC), because each reads its table in an order of its own.

typedef uint32_t NAME(row) __attribute__((vector_size(16 * LANES), may_alias));

#if LANES == 1
#define SHUFFLED(x, a, b, c, d) __builtin_shufflevector(x, x, a, b, c, d)
#else
#define SHUFFLED(x, a, b, c, d) __builtin_shufflevector(x, x, a, b, c, d, a + 4, b + 4, c + 4, d + 4)
#endif
#define ROTATED(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define FOR_EACH_STREAM _Pragma("clang loop unroll(full)") for (int s = 0; s < STREAMS; s++)
#define INLINE static inline __attribute__((always_inline)) TARGET

// One row of an entry of each lane's table.
INLINE NAME(row) NAME(load_row)(uint8_t *const tables[LANES], const size_t offsets[LANES], size_t at)
{
    quad first = *(const quad *)(tables[0] + offsets[0] + at);
#if LANES == 1
    return first;
#else
    quad second = *(const quad *)(tables[1] + offsets[1] + at);
    return __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

INLINE void NAME(store_row)(uint8_t *const tables[LANES], size_t at, NAME(row) x)
{
#if LANES == 1
    *(quad *)(tables[0] + at) = x;
#else
    *(quad *)(tables[0] + at) = __builtin_shufflevector(x, x, 0, 1, 2, 3);
    *(quad *)(tables[1] + at) = __builtin_shufflevector(x, x, 4, 5, 6, 7);
#endif
}

// The step of a Salsa20 quarter round (section 3), for whole rows of all streams.
#define STEP(to, from1, from2, n) \
    FOR_EACH_STREAM \
    { \
        NAME(row) sum = x[s][from1] + x[s][from2]; \
        x[s][to] ^= ROTATED(sum, n); \
    }

// Salsa20/8 without its last addition. After a round over the columns, rows 1 to 3 are turned so that the same steps
// work on the matrix's rows; then they are turned back.
INLINE void NAME(salsa)(NAME(row) x[STREAMS][4])
{
    for (int round = 0; round < 8; round += 2) {
        STEP(1, 0, 3, 7) STEP(2, 1, 0, 9) STEP(3, 2, 1, 13) STEP(0, 3, 2, 18)
        FOR_EACH_STREAM
        {
            x[s][1] = SHUFFLED(x[s][1], 3, 0, 1, 2);
            x[s][2] = SHUFFLED(x[s][2], 2, 3, 0, 1);
            x[s][3] = SHUFFLED(x[s][3], 1, 2, 3, 0);
        }
        STEP(3, 0, 1, 7) STEP(2, 3, 0, 9) STEP(1, 2, 3, 13) STEP(0, 1, 2, 18)
        FOR_EACH_STREAM
        {
            x[s][1] = SHUFFLED(x[s][1], 1, 2, 3, 0);
            x[s][2] = SHUFFLED(x[s][2], 2, 3, 0, 1);
            x[s][3] = SHUFFLED(x[s][3], 3, 0, 1, 2);
        }
    }
}

// scryptBlockMix (section 4) from `in` to `out`, in one pass with what ROMix does to the input before:
// with `fill`, it is stored as the entry at `offsets`; without, it is combined with that entry by XOR.
INLINE void NAME(mix)(
    const NAME(row) *in, NAME(row) *out, size_t r, uint8_t *const tables[STREAMS][LANES],
    size_t offsets[STREAMS][LANES], bool fill)
{
    const size_t rows = 8 * r; // of one stream
    NAME(row) x[STREAMS][4];
    FOR_EACH_STREAM for (size_t row = 0; row < 4; row++)
    {
        size_t at = rows - 4 + row;
        x[s][row] = in[s * rows + at];
        if (!fill) x[s][row] ^= NAME(load_row)(tables[s], offsets[s], 16 * at);
    }
    for (size_t piece = 0; piece < 2 * r; piece++) {
        NAME(row) before[STREAMS][4];
        FOR_EACH_STREAM for (size_t row = 0; row < 4; row++)
        {
            size_t at = 4 * piece + row;
            NAME(row) input = in[s * rows + at];
            // All lanes fill the same entry.
            if (fill) NAME(store_row)(tables[s], offsets[s][0] + 16 * at, input);
            else input ^= NAME(load_row)(tables[s], offsets[s], 16 * at);
            x[s][row] ^= input;
            before[s][row] = x[s][row];
        }
        NAME(salsa)(x);
        // Pieces with even numbers go to the first half of the output, the others to the second.
        size_t to = 4 * (piece % 2 * r + piece / 2);
        FOR_EACH_STREAM for (size_t row = 0; row < 4; row++)
        {
            x[s][row] += before[s][row];
            out[s * rows + to + row] = x[s][row];
        }
    }
}

// `tables` are of 128 r n bytes each, `work` is of 2 x 128 r bytes for each block. Two blocks that are equal may share
// a block and a table.
TARGET static void NAME(smix)(
    uint8_t *const blocks[LANES * STREAMS], uint8_t *const all_tables[LANES * STREAMS], size_t n, size_t r,
    uint8_t *work)
{
    const size_t entry = 128 * r, rows = 8 * r;
    NAME(row) *x = (NAME(row) *)work, *y = x + STREAMS * rows;
    uint8_t *tables[STREAMS][LANES];
    size_t offsets[STREAMS][LANES];
    for (size_t i = 0; i < LANES * STREAMS; i++) {
        tables[i / LANES][i % LANES] = all_tables[i];
        for (size_t word = 0; word < 32 * r; word++)
            x[i / LANES * rows + word / 4][i % LANES * 4 + word % 4] = load_word(blocks[i] + place(word));
    }

    for (size_t i = 0; i < n; i++) {
        FOR_EACH_STREAM offsets[s][0] = i * entry;
        NAME(mix)(x, y, r, tables, offsets, true);
        NAME(row) *swap = x;
        x = y;
        y = swap;
    }
    for (size_t i = 0; i < n; i++) {
        FOR_EACH_STREAM for (size_t lane = 0; lane < LANES; lane++)
        {
            // Integerify: the first word of the last piece.
            uint32_t number = x[s * rows + rows - 4][4 * lane];
            offsets[s][lane] = (number & (n - 1)) * entry;
            for (size_t at = 0; at < entry; at += 64) __builtin_prefetch(tables[s][lane] + offsets[s][lane] + at);
        }
        NAME(mix)(x, y, r, tables, offsets, false);
        NAME(row) *swap = x;
        x = y;
        y = swap;
    }

    for (size_t i = 0; i < LANES * STREAMS; i++) {
        for (size_t word = 0; word < 32 * r; word++)
            store_word(blocks[i] + place(word), x[i / LANES * rows + word / 4][i % LANES * 4 + word % 4]);
    }
}

#undef SHUFFLED
#undef ROTATED
#undef FOR_EACH_STREAM
#undef INLINE
#undef STEP
#undef LANES
#undef STREAMS
#undef NAME
