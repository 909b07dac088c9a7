#!/usr/bin/env bash
# Fetches NVRTC, NVIDIA's compiler for CUDA, from PyPI into a folder of the user's cache, and prints that folder. It needs no
# GPU and no CUDA installation. `cargo test -p livefusion-cuda` compiles its kernels with what it finds there.
set -euo pipefail

version=13.0.88
folder=${LIVEFUSION_NVRTC:-${XDG_CACHE_HOME:-$HOME/.cache}/livefusion/nvrtc-$version}
if [ ! -e "$folder/libnvrtc.so.13" ]; then
    parts=$(mktemp -d)
    trap 'rm -rf "$parts"' EXIT
    python3 -m pip download --quiet --no-deps --dest "$parts" "nvidia-cuda-nvrtc==$version" >&2
    python3 -m zipfile -e "$parts"/*.whl "$parts/wheel"
    mkdir -p "$folder"
    cp "$parts"/wheel/nvidia/cu13/lib/libnvrtc{,-builtins}.so.13* "$folder"
fi
echo "$folder"
