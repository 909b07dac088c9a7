#!/usr/bin/env bash
# Tests under sanitizers and fuzzers.
#
#   tests/sanitize.sh [short] [SECTION...]
#
# Sections: c, models, rust, threads, fuzz; by default all. In short form each section runs for a few minutes at most,
# after its build. `.ci/run` runs the short form of the first two. The last three need unstable compiler features, which
# RUSTC_BOOTSTRAP enables. `threads` also needs the standard library's source (`rustup component add rust-src`), and
# `fuzz` needs a C++ compiler.
set -euo pipefail
cd "$(dirname "$0")/.."

short=
if [ "${1:-}" = short ]; then
    short=1
    shift
fi
host=$(rustc -vV | sed -n 's/^host: //p')
runner=CARGO_TARGET_$(tr a-z- A-Z_ <<<"$host")_RUNNER

# Random programs and loops through C with AddressSanitizer and UndefinedBehaviorSanitizer. The sanitizer's library is
# loaded first and allocates all memory, so accesses to arrays are checked too.
c() {
    local library
    library=$(gcc -print-file-name=libasan.so)
    export CC=gcc LIVEFUSION_TEST_SANITIZED=1 LIVEFUSION_CACHE_DIR=off
    export "$runner=env LD_PRELOAD=$library ASAN_OPTIONS=detect_leaks=0:abort_on_error=1"
    if [ -n "$short" ]; then
        export LOOP_PROGRAMS=12
        # Uses the features of the workspace tests, so that nothing is built again.
        cargo test --workspace --test all -- --nocapture c_is_the_interpreter
    else
        cargo test -p livefusion-tests --test all -- --nocapture c_is_the_interpreter loops:: chunked::
    fi
}

# The shared state of threads, in many interleavings: the board, the team, the cache. None of it needs Cranelift.
models() {
    local plain=()
    if [ -n "$short" ]; then
        # An optimised build would take longer than it saves.
        for package in '"*"' loop-lang livefusion-{backend,interp,tile}; do
            plain+=(--config "profile.dev.package.$package.opt-level=0")
        done
    else
        export MODEL_ORDERS=10000
    fi
    RUSTFLAGS="--cfg shuttle" cargo "${plain[@]}" test -p livefusion --lib --no-default-features \
        --target-dir target/shuttle models
}

# The library's own tests with AddressSanitizer: buffers, frames, loaded code. Tests that limit the address space
# (`memory`) are excluded, because the sanitizer maps terabytes of it.
rust() {
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
    local tests=(force:: kernels:: in_place::)
    if [ -z "$short" ]; then
        tests+=(parallel:: segments:: streams:: held:: tiers::)
    fi
    # Allocates through the C library, which the sanitizer intercepts.
    cargo test --target "$host" --target-dir target/sanitize -p livefusion-backend --features libc --lib
    cargo test --target "$host" --target-dir target/sanitize -p livefusion --features livefusion-backend/libc \
        --test all -- "${tests[@]}"
}

# The parallel runtime and the standard library with ThreadSanitizer. An uninstrumented standard library would report
# races between a lock's waiter and its holder. The short form excludes Cranelift, which takes longest to build.
threads() {
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread"
    local what=(--features livefusion-backend/libc --test all -- parallel:: held:: tiers::)
    [ -z "$short" ] || what=(--no-default-features --features c,derive,livefusion-backend/libc --test all -- parallel::)
    cargo test -Zbuild-std --target "$host" --target-dir target/sanitize-threads -p livefusion "${what[@]}"
}

# Coverage-guided fuzzing. Inputs that reach new code are kept in `target/fuzz/corpus`, failing ones in
# `target/fuzz/finds`.
fuzz() {
    local seconds=300 count=(-Cpasses=sancov-module)
    [ -z "$short" ] || seconds=30
    for what in level=4 inline-8bit-counters pc-table trace-compares; do
        count+=("-Cllvm-args=-sanitizer-coverage-$what")
    done
    # Uses the workspace's versions of dependencies.
    cp Cargo.lock tests/fuzz/Cargo.lock
    RUSTFLAGS="${count[*]}" cargo build --release --manifest-path tests/fuzz/Cargo.toml \
        --target "$host" --target-dir target/fuzz
    mkdir -p target/fuzz/{finds,corpus/{parser,program,entry,csv,columns,shell,files}}
    head -20 examples/data/airports.csv >target/fuzz/corpus/csv/airports
    cp loop-lang/tests/files/golden/*.loop target/fuzz/corpus/parser
    # Each example of the shell's help, without its result.
    awk -v RS= '{ sub(/\n.*/, ""); printf "%s", $0 > "target/fuzz/corpus/shell/" NR }' repl/tests/golden/help.txt
    head -20 examples/data/airports.csv >target/fuzz/corpus/files/airports
    # The limits on input bytes. A target with one byte per decision needs few.
    for target in parser:4096 program:200 entry:200 csv:4096 columns:61 shell:400 files:4096; do
        local most=${target#*:} target=${target%:*}
        echo "-- $target"
        "target/fuzz/$host/release/$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 \
            -max_len="$most" -len_control=0 -print_final_stats=1 -artifact_prefix="target/fuzz/finds/$target-" \
            "target/fuzz/corpus/$target" >"target/fuzz/$target.log" 2>&1 || {
            tail -200 "target/fuzz/$target.log"
            return 1
        }
        grep -E "DONE|^stat" "target/fuzz/$target.log"
    done
}

for section in "${@:-c models rust threads fuzz}"; do
    for name in $section; do
        echo "== $name"
        ("$name")
    done
done
