#!/usr/bin/env bash
# Tests under sanitizers and fuzzers: code that looks at itself while it runs.
#
#   tests/sanitize.sh [short] [SECTION...]
#
# Sections: c, rust, threads, fuzz; all of them if none is named. In short form each takes a few minutes at most.
# The last three need what only unstable compilers offer, which this compiler gives on request; `fuzz` needs
# cargo-fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."

short=
if [ "${1:-}" = short ]; then
    short=1
    shift
fi
host=$(rustc -vV | sed -n 's/^host: //p')
runner=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$host")_RUNNER

# Random programs and loops through C with AddressSanitizer and UndefinedBehaviorSanitizer. The memory of their
# arrays is looked after too, since the sanitizer's library, loaded first, is what allocates it.
c() {
    local library
    library=$(gcc -print-file-name=libasan.so)
    export CC=gcc LIVEFUSION_TEST_SANITIZED=1 LIVEFUSION_CACHE_DIR=off
    export "$runner=env LD_PRELOAD=$library ASAN_OPTIONS=detect_leaks=0:abort_on_error=1"
    if [ -n "$short" ]; then
        export LOOP_PROGRAMS=12
        cargo test -p livefusion-tests --test c -- --nocapture
    else
        cargo test -p livefusion-tests --test c --test loops --test chunked -- --nocapture
    fi
}

# The library's own tests with AddressSanitizer: buffers, frames, loaded code.
rust() {
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" ASAN_OPTIONS=detect_leaks=0
    local tests=(--test force --test memory --test kernels --test in_place)
    if [ -z "$short" ]; then
        tests+=(--test parallel --test segments --test streams --test held --test tiers)
    fi
    cargo test --target "$host" --target-dir target/sanitize -p livefusion-backend --lib
    cargo test --target "$host" --target-dir target/sanitize -p livefusion "${tests[@]}"
}

# The parallel runtime with ThreadSanitizer. The standard library is not instrumented, so what it synchronises by
# means of its own is taken on trust.
threads() {
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
    export LOOP_PROGRAMS=${short:+20}
    [ -n "$LOOP_PROGRAMS" ] || unset LOOP_PROGRAMS
    cargo test --target "$host" --target-dir target/sanitize-threads -p livefusion --test parallel
}

# Coverage-guided fuzzing of what is fed with bytes.
fuzz() {
    export RUSTC_BOOTSTRAP=1
    local seconds=600
    [ -z "$short" ] || seconds=30
    for target in parser program entry csv; do
        cargo fuzz run --fuzz-dir tests/fuzz -s none "$target" -- -max_total_time="$seconds" -rss_limit_mb=4096
    done
}

for section in "${@:-c rust threads fuzz}"; do
    for name in $section; do
        echo "== $name"
        ("$name")
    done
done
