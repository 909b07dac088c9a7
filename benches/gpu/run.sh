#!/bin/sh
# Tests and measures the CUDA backend on a machine with a GPU. It needs the driver, NVRTC and the
# programs that `cargo xtask gpu pack FOLDER` builds, but no Rust.
#
#   FOLDER/run.sh [OUT]
#
# Output also goes to files in OUT (the current folder). SIZES, PROGRAMS and CASES select the work:
#   SIZES     numbers of elements of the cases ("65536 1048576 16777216 268435456")
#   CASES     names of cases (all)
#   PROGRAMS  random programs that are compared with the naive evaluator (200)
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-.}
mkdir -p "$out"
export LIVEFUSION_CUDA=1
failed=0

step() {
  name=$1
  shift
  echo "== $name"
  "$@" > "$out/$name.txt" 2>&1
  code=$?
  tail -n "${LINES_SHOWN:-12}" "$out/$name.txt"
  if [ $code -ne 0 ]; then
    echo "FAILED ($code): $name"
    failed=1
  fi
}

nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.memory --format=csv,noheader || exit 1

step device "$here/device"
step programs "$here/hunt" --backend cuda --programs "${PROGRAMS:-200}"
if command -v compute-sanitizer > /dev/null; then
  step memory compute-sanitizer --tool memcheck --error-exitcode 9 "$here/hunt" --backend cuda --programs 20
  step races compute-sanitizer --tool racecheck --error-exitcode 9 "$here/hunt" --backend cuda --programs 10
else
  echo "SKIPPED: there is no compute-sanitizer"
fi

bench() {
  for n in ${SIZES:-65536 1048576 16777216 268435456}; do
    for case in ${CASES:-all}; do
      case $case in
        all) "$here/livefusion-bench" compare --backend cuda --n "$n" ;;
        *) "$here/livefusion-bench" compare --backend cuda --n "$n" --case "$case" ;;
      esac || return
    done
  done
}
LINES_SHOWN=200
step cases bench
if command -v python3 > /dev/null; then
  step others python3 "$here/others.py"
else
  echo "SKIPPED: there is no Python for PyTorch, CuPy and JAX"
fi
exit $failed
