"""The sums by groups of `compare --case groupBy1k` and `groupBy1M` by polars (`pip install polars numpy`), on one thread: ns a row, medians of 9.

    python3 benches/by_polars.py [ROWS]
"""

import os
import statistics
import sys
import time

os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np
import polars as pl

ROUNDS = 9


def rows(n, groups):
    """Keys that are no small numbers, and values."""
    random = np.random.default_rng(1)
    keys = random.integers(0, groups, n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return pl.DataFrame({"key": keys, "x": random.integers(0, 1 << 20, n, dtype=np.uint64)})


def sums(frame):
    """Three sums for each key, in the order of keys."""
    x = pl.col("x")
    three = x.sum().alias("a"), (x & 255).sum().alias("b"), (x // 256).sum().alias("c")
    return frame.lazy().group_by("key").agg(*three).sort("key").collect()


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    print(f"polars {pl.__version__}, {pl.thread_pool_size()} threads, {n} rows")
    for name, groups in [("groupBy1k", 1000), ("groupBy1M", 1_000_000)]:
        frame = rows(n, groups)
        sums(frame)
        seconds = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            result = sums(frame)
            seconds.append(time.perf_counter() - start)
        print(f"{name:12} {statistics.median(seconds) / n * 1e9:8.2f} ns a row, {result.height} groups")


main()
