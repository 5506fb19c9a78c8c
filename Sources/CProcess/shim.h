// prctl(2), which Swift cannot import: it takes a variable number of arguments.
#pragma once
#include <sys/prctl.h>

// Returns 0, or -1 and errno.
static inline int cprocess_forbid_dumps(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
