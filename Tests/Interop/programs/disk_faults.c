// Lets a disk fail under a program that has it in LD_PRELOAD.
//
// The file that the variable DISK_FAULT names says how: `sync` fails fsync(2) and fdatasync(2) with EIO, as a disk
// that has lost writes; `write` fails writes at an offset and changes of the size with EROFS, as a file system that the
// kernel has made read-only after an error. SQLite writes its files so, and the program nothing else. With any other
// content, or without the file, all calls are those of the C library.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_set(const char *kind) {
    const char *path = getenv("DISK_FAULT");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    char content[16] = "";
    ssize_t count = read(file, content, sizeof content - 1);
    close(file);
    return count > 0 && strcmp(content, kind) == 0;
}

#define FAIL(kind, code) \
    if (is_set(kind)) { \
        errno = code; \
        return -1; \
    }

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int file) {
    FAIL("sync", EIO)
    return NEXT(fsync)(file);
}

int fdatasync(int file) {
    FAIL("sync", EIO)
    return NEXT(fdatasync)(file);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    FAIL("write", EROFS)
    return NEXT(pwrite64)(file, bytes, count, offset);
}

int ftruncate64(int file, off64_t length) {
    FAIL("write", EROFS)
    return NEXT(ftruncate64)(file, length);
}
