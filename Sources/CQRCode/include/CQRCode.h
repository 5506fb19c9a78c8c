// libqrencode, loaded when it is first used, so that a server whose users need no QR codes has it
// neither installed nor in its memory.
//
// Call postern_qrcode_load before anything else, from one thread. After that every function may be
// called from any thread.
#pragma once
#include <stdbool.h>

// Loads libqrencode. Returns NULL, or why that failed.
const char *postern_qrcode_load(void);

typedef struct _postern_qrcode postern_qrcode;

// Encodes bytes in the smallest symbol with error correction of level M. NULL when they do not fit
// into any, or without memory.
postern_qrcode *postern_qrcode_encode(const unsigned char *bytes, int count);

// The modules in one line of the square symbol.
int postern_qrcode_width(const postern_qrcode *code);

bool postern_qrcode_is_dark(const postern_qrcode *code, int x, int y);

void postern_qrcode_free(postern_qrcode *code);
