#!/bin/sh
# Builds the files that run.sh needs on a machine without Rust, and copies them into a folder.
#
#   benches/gpu/pack.sh FOLDER
set -eu
folder=${1:?usage: benches/gpu/pack.sh FOLDER}
cd "$(dirname "$0")/../.."
mkdir -p "$folder"
cargo build --release -p livefusion-bench --features cuda
cargo build --release -p livefusion-tests --features cuda --bin hunt
cp target/release/livefusion-bench target/release/hunt "$folder"
# The tests of the driver and of kernels: the newest file of each name.
cargo test --release -p livefusion-cuda --no-run --test device --message-format short 2>&1 |
  sed -n 's/.*Executable.*(\(.*\))$/\1/p' | while read -r test; do
    cp "$test" "$folder/$(basename "$test" | sed 's/-[0-9a-f]*$//')"
  done
cp benches/gpu/run.sh benches/gpu/others.py "$folder"
strip "$folder/livefusion-bench" "$folder/hunt" "$folder/device"
