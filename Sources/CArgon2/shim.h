// libargon2: Argon2id and Argon2i (RFC 9106).
#pragma once
#include <argon2.h>
