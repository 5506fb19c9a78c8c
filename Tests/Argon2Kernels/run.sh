#!/usr/bin/env bash
# Checks the Argon2 kernels against libargon2 under the sanitizers of addresses and of undefined behaviour. For
# `make asan`.
set -euo pipefail

cd "$(dirname "$0")/../.."
program=$(mktemp)
trap 'rm -f "$program"' EXIT
clang -std=gnu11 -Wall -Wextra -Werror -O2 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
    -I Sources/CArgon2Kernels/include Sources/CArgon2Kernels/*.c Tests/Argon2Kernels/check.c \
    -fuse-ld=lld -largon2 -o "$program"
"$program"
