#include "CEmbeddedFiles.h"

// Puts each file of the list between two labels. The assembler does it, because #embed is a
// directive, and no macro can expand to one.
#define FILE(name, path)                                              \
    __asm__(".pushsection .rodata\n"                                  \
            "start_of_" #name ": .incbin \"" path "\"\n"              \
            "end_of_" #name ":\n"                                     \
            ".popsection");                                           \
    extern const unsigned char start_of_##name[], end_of_##name[];    \
    const struct embedded_file embedded_##name = {start_of_##name, end_of_##name};
EMBEDDED_FILES(FILE)

// The compiler notes the files that this line asks for, but not those of .incbin: without it, a
// changed file would not be built again.
#define IS_MISSING(name, path) || !__has_embed(path)
#if 0 EMBEDDED_FILES(IS_MISSING)
#error "a file of the list is missing"
#endif
