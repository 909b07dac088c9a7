#!/usr/bin/env bash
# Counts instructions of our kernels and of comparable CUB kernels, compiled the same way for
# `sm_90`. It needs no GPU, but `nvcc` and `nvdisasm` in the PATH (from CUDA, or from the PyPI
# packages `nvidia-cuda-nvcc`, `-nvvm`, `-crt`, `-runtime`, `-cccl` and `-nvdisasm`). Prints a line
# for each kernel.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
for tool in nvcc nvdisasm; do
    command -v "$tool" > /dev/null || { echo "SKIPPED: no $tool in the PATH"; exit 0; }
done
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

compile() { # NAME: disassembles a text of the folder after compilation
    nvcc -std=c++17 -arch=sm_90 -O3 --fmad=false -w -cubin -o "$parts/$1.cubin" "$parts/$1.cu"
    nvdisasm -c "$parts/$1.cubin" > "$parts/$1.sass"
}

cargo build --quiet --manifest-path "$root/Cargo.toml" -p livefusion-cuda --example kernel
for loop in "$root"/loop-lang/tests/files/golden/{map_map,dot_product,min_index,mirror_scan,filter_sum,filter_max}.loop; do
    name=$(basename "$loop" .loop)
    "${CARGO_TARGET_DIR:-$root/target}/debug/examples/kernel" --whole "$loop" > "$parts/$name.cu"
    compile "$name"
    elements=$(grep -oE 'ELEMENTS = [0-9]+, PIECE' "$parts/$name.cu" | grep -oE '[0-9]+')
    python3 "$here/sass.py" "$parts/$name.sass" "$elements"
done

# CUB's kernels, with the elements per thread that its tables have for this architecture.
cub() { # NAME ELEMENTS CALL
    cat > "$parts/$1.cu" << TEXT
#include <cub/cub.cuh>
struct Positive {
  template <class T> __device__ bool operator()(T x) const { return x > T(0); }
};
void call($4 *in, $4 *out, unsigned long long *count, void *room, size_t bytes, int n) { cub::$3; }
TEXT
    compile "$1"
    python3 "$here/sass.py" "$parts/$1.sass" "$2" | grep -E "DeviceReduceKernel|DeviceScanKernel|SelectSweep" | sed "s/^[^:]*/CUB, $1/"
}
cub sum_f64 16 "DeviceReduce::Sum(room, bytes, in, out, n)" double
cub scan_f64 12 "DeviceScan::InclusiveSum(room, bytes, in, out, n)" double
cub scan_f32 24 "DeviceScan::InclusiveSum(room, bytes, in, out, n)" float
cub filter_i32 17 "DeviceSelect::If(room, bytes, in, out, count, n, Positive())" int
cub filter_i64 11 "DeviceSelect::If(room, bytes, in, out, count, n, Positive())" "long long"
