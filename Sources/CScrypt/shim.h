// libscrypt: scrypt (RFC 7914).
#pragma once
#include <libscrypt.h>
#include <stddef.h>
#include <stdint.h>
