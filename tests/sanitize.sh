#!/usr/bin/env bash
# Tests under sanitizers: code that looks at itself while it runs.
#
#   tests/sanitize.sh [short]
#
# In short form each section takes a minute or two.
set -euo pipefail
cd "$(dirname "$0")/.."

short=${1:-}
host=$(rustc -vV | sed -n 's/^host: //p')
runner=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$host")_RUNNER

# Random programs and loops through C with AddressSanitizer and UndefinedBehaviorSanitizer. The memory of their
# arrays is looked after too, since the sanitizer's library, loaded first, is what allocates it.
emitted_c() {
    local library
    library=$(gcc -print-file-name=libasan.so)
    export CC=gcc LIVEFUSION_TEST_SANITIZED=1 LIVEFUSION_CACHE_DIR=off
    export "$runner=env LD_PRELOAD=$library ASAN_OPTIONS=detect_leaks=0:abort_on_error=1"
    if [ -n "$short" ]; then
        export LOOP_PROGRAMS=30
    fi
    cargo test -p livefusion-tests --test c --test loops --test chunked -- --nocapture
}

echo "== C"
(emitted_c)
