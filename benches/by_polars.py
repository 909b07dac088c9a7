"""Cases of `compare` by polars (`pip install polars numpy`), on one thread: ns per element, medians of 9.

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


def columns(n):
    """Four columns of numbers between 0 and 1."""
    random = np.random.default_rng(1)
    return pl.DataFrame({name: random.random(n) for name in "abcd"})


def groups(n, count):
    """Keys that are no small numbers, and values."""
    random = np.random.default_rng(1)
    keys = random.integers(0, count, n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return pl.DataFrame({"key": keys, "x": random.integers(0, 1 << 20, n, dtype=np.uint64)})


def dot_product(frame):
    a, b, c, d = (pl.col(name) for name in "abcd")
    return frame.lazy().select((a * c + b * d).sum()).collect()


def map_map(frame):
    twice = 2.0 * pl.col("a")
    return frame.lazy().select(up=twice + 50.0, down=twice - 50.0).collect()


def filter_sum(frame):
    kept = frame["a"].filter(frame["a"] > 0.5)
    return kept, frame["a"].sum(), kept.sum()


def zip_filters(frame):
    a, b = (frame[name].filter(frame[name] > 0.5) for name in "ab")
    n = min(len(a), len(b))
    return a.head(n) * b.head(n)


def scan(frame):
    return frame["a"].cum_sum()


def stencil(frame):
    a = pl.col("a")
    near = [a.shift(k, fill_value=a.first() if k > 0 else a.last()) for k in (2, 1, 0, -1, -2)]
    sum_of = sum(weight * x for weight, x in zip((0.1, 0.2, 0.4, 0.2, 0.1), near))
    return frame.lazy().select(sum_of).collect()


def sums(frame):
    """Three sums for each key, in the order of keys."""
    x = pl.col("x")
    three = x.sum().alias("a"), (x & 255).sum().alias("b"), (x // 256).sum().alias("c")
    return frame.lazy().group_by("key").agg(*three).sort("key").collect()


CASES = {
    "dotProduct": (columns, dot_product),
    "mapMap": (columns, map_map),
    "filterSum": (columns, filter_sum),
    "zipFilters": (columns, zip_filters),
    "scanInclusiveF64": (columns, scan),
    "stencil5": (columns, stencil),
    "groupBy1k": (lambda n: groups(n, 1000), sums),
    "groupBy1M": (lambda n: groups(n, 1_000_000), sums),
}


def main():
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    print(f"polars {pl.__version__}, {pl.thread_pool_size()} threads, {n} rows")
    for name, (make, run) in CASES.items():
        frame = make(n)
        run(frame)
        seconds = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            run(frame)
            seconds.append(time.perf_counter() - start)
        print(f"{name:18} {statistics.median(seconds) / n * 1e9:8.2f}")


main()
