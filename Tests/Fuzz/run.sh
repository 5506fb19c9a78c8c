#!/bin/sh
# Fuzzes the request parser with libFuzzer and the address sanitizer.
# usage: Tests/Fuzz/run.sh [SECONDS]   (60 by default; findings are kept in .build/fuzz)
set -eu
seconds="${1:-60}"
root="$(cd "$(dirname "$0")/../.." && pwd)"
work="$root/.build/fuzz"
mkdir -p "$work/corpus"

# The parser and what it is made of: no socket, and of other modules only Networking.
sources="$root/Sources"
flags="-swift-version 6 -O -parse-as-library -sanitize=address
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault"
# shellcheck disable=SC2086
(cd "$work" && swiftc $flags -emit-module -emit-object -wmo -module-name Networking -o Networking.o \
    "$sources"/Networking/*.swift)
# shellcheck disable=SC2086
swiftc $flags -sanitize=fuzzer -I "$work" "$work/Networking.o" \
    "$root/Tests/Fuzz/RequestParserFuzz.swift" \
    "$sources"/HTTPEngine/Grammar/*.swift "$sources"/HTTPEngine/Message/*.swift \
    "$sources"/HTTPEngine/Wire/*.swift "$sources"/HTTPEngine/Proxy/*.swift \
    -o "$work/request-parser"

printf '\001GET /a%%20b?c=d HTTP/1.1\r\nHost: a:80\r\nX: y\r\n\r\n' > "$work/corpus/get"
printf '\003POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello' > "$work/corpus/length"
printf '\007POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: u\r\n\r\n' \
    > "$work/corpus/chunked"
printf '\004PROXY TCP4 192.0.2.1 198.51.100.2 4711 80\r\n' > "$work/corpus/proxy-1"
printf '\004\r\n\r\n\000\r\nQUIT\n\041\021\000\014\300\000\002\001\306\063\144\002\022\147\000\120' \
    > "$work/corpus/proxy-2"
printf '\001for="[2001:db8::1]:80";by=_x, for=192.0.2.1' > "$work/corpus/forwarded"

cd "$work"
# Without the backtracer off, a crash hangs in it instead of being reported.
SWIFT_BACKTRACE=enable=no timeout "$((seconds + 60))" \
    ./request-parser -max_total_time="$seconds" -max_len=2048 -dict="$root/Tests/Fuzz/http.dict" corpus
