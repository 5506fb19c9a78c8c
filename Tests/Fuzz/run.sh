#!/usr/bin/env bash
# Fuzzes every parser of what clients, proxies and other servers send, with libFuzzer and the address sanitizer.
# usage: Tests/Fuzz/run.sh [SECONDS [TARGET…]]
#
# SECONDS (60 by default) is the time for each target. What libFuzzer finds is kept in .build-fuzz/corpus, a crash in
# .build-fuzz/TARGET-crash-…; the last lines name the executions and the covered edges of each target.
set -euo pipefail

cd "$(dirname "$0")/../.."
seconds=${1:-60}
shift $(($# > 0))
if (($# > 0)); then targets=("$@"); else
    mapfile -t targets < <(sed -n 's/^    ("\([a-z0-9-]*\)", check.*/\1/p' Tests/Fuzz/Fuzz.swift)
fi

scratch=.build-fuzz
# Optimized, because a debug build runs a tenth of the inputs. POSTERN_FUZZ adds the target to the package. The compiler
# takes the last -sanitize alone, so both are in one: without `fuzzer` libFuzzer sees no coverage and guesses blindly.
POSTERN_FUZZ=1 swift build --configuration release --scratch-path "$scratch" --product Fuzz \
    --sanitize fuzzer --sanitize address -Xswiftc -sanitize=fuzzer,address \
    -Xswiftc -enable-testing -Xswiftc -use-ld=lld </dev/null
program=$scratch/release/Fuzz

failed=0
for target in "${targets[@]}"; do
    corpus=$scratch/corpus/$target
    mkdir -p "$corpus"
    # TOMLKit leaks a few bytes for each file, which a program that reads one does not mind.
    leaks=1
    if [[ $target == configuration ]]; then leaks=0; fi
    # Without the backtracer off, a crash hangs in it instead of being reported.
    ASAN_OPTIONS=detect_leaks=$leaks SWIFT_BACKTRACE=enable=no FUZZ_TARGET=$target timeout "$((seconds + 60))" "$program" \
        -max_total_time="$seconds" -max_len=2048 -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$scratch/$target-" -dict=Tests/Fuzz/http.dict \
        "$corpus" "Tests/Fuzz/seeds/$target" 2>"$scratch/$target.log" || failed=1
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/$target.log")
    edges=$(sed -n 's/.* \(cov: [0-9]*\) .*/\1/p' "$scratch/$target.log" | tail -1)
    echo "$target: ${runs:-no} inputs, ${edges:-no coverage}"
    if grep -q '^SUMMARY' "$scratch/$target.log"; then tail -40 "$scratch/$target.log"; fi
done
exit "$failed"
