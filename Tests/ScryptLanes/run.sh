#!/usr/bin/env bash
# Checks the scrypt kernels against libscrypt under the address sanitizer and that of undefined behaviour. For `make asan`.
set -euo pipefail

cd "$(dirname "$0")/../.."
program=$(mktemp)
trap 'rm -f "$program"' EXIT
clang -std=gnu11 -Wall -Wextra -Werror -O2 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
    -I Sources/CScryptLanes/include Sources/CScryptLanes/lanes.c Tests/ScryptLanes/check.c \
    -fuse-ld=lld -lscrypt -lcrypto -o "$program"
"$program"
