#include "CQRCode.h"
#include <dlfcn.h>
#include <stddef.h>

// The declarations that are needed. Tests/Interop/test_libraries.py compiles this file with
// libqrencode's own header before it, so that a difference is an error.
#ifndef QRENCODE_H
typedef enum { QR_ECLEVEL_L, QR_ECLEVEL_M, QR_ECLEVEL_Q, QR_ECLEVEL_H } QRecLevel;

typedef struct {
    int version;
    int width;
    unsigned char *data;
} QRcode;
#endif

QRcode *QRcode_encodeData(int size, const unsigned char *data, int version, QRecLevel level);
void QRcode_free(QRcode *qrcode);

static struct {
    __typeof__(QRcode_encodeData) *encode;
    __typeof__(QRcode_free) *free;
} api;

const char *postern_qrcode_load(void) {
    // The name of libqrencode's interface since 2016. Never closed.
    void *library = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    api.encode = (__typeof__(api.encode))dlsym(library, "QRcode_encodeData");
    api.free = (__typeof__(api.free))dlsym(library, "QRcode_free");
    return api.encode && api.free ? NULL : "libqrencode.so.4 has no QRcode_encodeData";
}

static const QRcode *symbol(const postern_qrcode *code) { return (const QRcode *)code; }

postern_qrcode *postern_qrcode_encode(const unsigned char *bytes, int count) {
    return (postern_qrcode *)api.encode(count, bytes, 0, QR_ECLEVEL_M);
}

int postern_qrcode_width(const postern_qrcode *code) { return symbol(code)->width; }

bool postern_qrcode_is_dark(const postern_qrcode *code, int x, int y) {
    // The lowest bit of a module is its colour.
    return symbol(code)->data[y * symbol(code)->width + x] & 1;
}

void postern_qrcode_free(postern_qrcode *code) { api.free((QRcode *)code); }
