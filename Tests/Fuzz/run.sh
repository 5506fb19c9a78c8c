#!/bin/sh
# Fuzzes the request parser with libFuzzer and the address sanitizer.
# usage: Tests/Fuzz/run.sh [SECONDS]   (60 by default; findings are kept in .build/fuzz)
set -eu
seconds="${1:-60}"
root="$(cd "$(dirname "$0")/../.." && pwd)"
work="$root/.build/fuzz"
mkdir -p "$work/corpus"

# The parser and what it is made of; nothing of it needs a socket or another module.
sources="$root/Sources/HTTPEngine"
swiftc -swift-version 6 -O -parse-as-library -sanitize=fuzzer,address \
    -enable-upcoming-feature ExistentialAny \
    "$root/Tests/Fuzz/RequestParserFuzz.swift" \
    "$sources"/Message/*.swift "$sources"/Wire/*.swift \
    -o "$work/request-parser"

printf '\001GET /a%%20b?c=d HTTP/1.1\r\nHost: a:80\r\nX: y\r\n\r\n' > "$work/corpus/get"
printf '\003POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello' > "$work/corpus/length"
printf '\007POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: u\r\n\r\n' \
    > "$work/corpus/chunked"

cd "$work"
# Without the backtracer off, a crash hangs in it instead of being reported.
SWIFT_BACKTRACE=enable=no timeout "$((seconds + 60))" \
    ./request-parser -max_total_time="$seconds" -max_len=2048 -dict="$root/Tests/Fuzz/http.dict" corpus
