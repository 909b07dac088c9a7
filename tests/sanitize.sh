#!/usr/bin/env bash
# Tests under sanitizers and fuzzers: code that looks at itself while it runs.
#
#   tests/sanitize.sh [short] [SECTION...]
#
# Sections: c, models, rust, threads, fuzz; all of them if none is named. In short form each runs for a few minutes at
# most, once it is built. `.ci/run` runs the first two so. The last three need what only unstable compilers offer,
# which this compiler gives on request; `threads` the standard library's source too (`rustup component add rust-src`),
# `fuzz` a C++ compiler.
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
        # With the features that the whole workspace is tested with: nothing is built anew behind that.
        cargo test --workspace --test all -- --nocapture c_is_the_interpreter
    else
        cargo test -p livefusion-tests --test all -- --nocapture c_is_the_interpreter loops:: chunked::
    fi
}

# What threads share, in many orders of their steps: the board, the team, the cache. Nothing of that needs Cranelift.
models() {
    local plain=()
    if [ -n "$short" ]; then
        # To build what is fast would take longer than to run what is not.
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
# (`memory`) are left out: the sanitizer maps terabytes of it.
rust() {
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
    local tests=(force:: kernels:: in_place::)
    if [ -z "$short" ]; then
        tests+=(parallel:: segments:: streams:: held:: tiers::)
    fi
    # By way of the C library, which the sanitizer watches.
    cargo test --target "$host" --target-dir target/sanitize -p livefusion-backend --features libc --lib
    cargo test --target "$host" --target-dir target/sanitize -p livefusion --features livefusion-backend/libc \
        --test all -- "${tests[@]}"
}

# The parallel runtime with ThreadSanitizer, and the standard library too: what waits in there for a lock would
# otherwise race with who held it. Without Cranelift in short form, which takes longest to build.
threads() {
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread"
    local what=(--features livefusion-backend/libc --test all -- parallel:: held:: tiers::)
    [ -z "$short" ] || what=(--no-default-features --features c,derive,livefusion-backend/libc --test all -- parallel::)
    cargo test -Zbuild-std --target "$host" --target-dir target/sanitize-threads -p livefusion "${what[@]}"
}

# Coverage-guided fuzzing of what is fed with bytes. Those that reached something new are kept in `target/fuzz/corpus`,
# those that failed in `target/fuzz/finds`.
fuzz() {
    local seconds=300 count=(-Cpasses=sancov-module)
    [ -z "$short" ] || seconds=30
    for what in level=4 inline-8bit-counters pc-table trace-compares; do
        count+=("-Cllvm-args=-sanitizer-coverage-$what")
    done
    # The versions that everything else is built with.
    cp Cargo.lock tests/fuzz/Cargo.lock
    RUSTFLAGS="${count[*]}" cargo build --release --manifest-path tests/fuzz/Cargo.toml \
        --target "$host" --target-dir target/fuzz
    mkdir -p target/fuzz/{finds,corpus/{parser,program,entry,csv,columns,shell,files}}
    head -20 examples/data/airports.csv >target/fuzz/corpus/csv/airports
    cp loop-lang/tests/files/golden/*.loop target/fuzz/corpus/parser
    # Each text of the shell's help, which stands before what it gives.
    awk -v RS= '{ sub(/\n.*/, ""); printf "%s", $0 > "target/fuzz/corpus/shell/" NR }' repl/tests/golden/help.txt
    head -20 examples/data/airports.csv >target/fuzz/corpus/files/airports
    # How many bytes there are at most: what takes one for each decision is filled by few.
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
