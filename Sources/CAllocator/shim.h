// The C library's allocator, which Glibc's module does not show.
#pragma once
#include <malloc.h>
