"""The same jobs by PyTorch, CuPy and JAX, as far as they are installed: milliseconds (median of 20, timed with events or after
a wait), bytes per second as the comparison counts them (inputs and results), and the ratio to a copy within the device.

    python3 others.py [ELEMENTS]
"""

import statistics
import sys
import time

ROUNDS = 20


def report(name, n, seconds, size, copy):
    print(f"{name:32} {n:>10} {seconds * 1e3:9.4f} ms {size / seconds / 1e9:8.1f} GB/s {copy * size / seconds:6.2f} of a copy")


def medians(jobs, timed):
    for name, size, job in jobs:
        for _ in range(3):
            job()
        yield name, size, statistics.median(timed(job) for _ in range(ROUNDS))


def table(library, n, jobs, timed):
    # The copy comes first: the others are measured against it.
    copy = None
    for name, size, seconds in medians(jobs, timed):
        if copy is None:
            copy = seconds / size
        report(f"{library}: {name}", n, seconds, size, copy)


def with_torch(n):
    import torch

    def timed(job):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        job()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e-3

    x = torch.rand(n, device="cuda", dtype=torch.float64)
    y = torch.rand(n, device="cuda", dtype=torch.float64)
    f = torch.rand(n, device="cuda", dtype=torch.float32)
    i = torch.randint(-1000, 1000, (n,), device="cuda")
    to = torch.empty_like(x)
    chain = torch.compile(lambda v: (v * 2.0 + 1.0) * v)
    table("PyTorch", n, [
        ("copy f64", 16 * n, lambda: to.copy_(x)),
        ("x * 2 + 1, times x, f64", 16 * n, lambda: (x * 2.0 + 1.0) * x),
        ("the same, compiled", 16 * n, lambda: chain(x)),
        ("sum f64", 8 * n, lambda: x.sum()),
        ("sum f32", 4 * n, lambda: f.sum()),
        ("dot f64", 16 * n, lambda: torch.dot(x, y)),
        ("filter f64, half", 12 * n, lambda: x[x > 0.5]),
        ("scan f64", 16 * n, lambda: torch.cumsum(x, 0)),
        ("scan i64", 16 * n, lambda: torch.cumsum(i, 0)),
        ("filter and max i64", 12 * n, lambda: ((k := (i + 1)[i + 1 > 0]), k.max())),
    ], timed)


def with_cupy(n):
    import cupy

    def timed(job):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        job()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(begin, end) * 1e-3

    x = cupy.random.rand(n, dtype=cupy.float64)
    to = cupy.empty_like(x)
    chain = cupy.fuse(lambda v: (v * 2.0 + 1.0) * v)
    table("CuPy", n, [
        ("copy f64", 16 * n, lambda: cupy.copyto(to, x)),
        ("x * 2 + 1, times x, f64, fused", 16 * n, lambda: chain(x)),
        ("sum f64", 8 * n, lambda: x.sum()),
        ("filter f64, half", 12 * n, lambda: x[x > 0.5]),
        ("scan f64", 16 * n, lambda: cupy.cumsum(x)),
    ], timed)


def with_jax(n):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def timed(job):
        begin = time.perf_counter()
        jax.block_until_ready(job())
        return time.perf_counter() - begin

    x = jax.random.uniform(jax.random.key(0), (n,), dtype=jnp.float64)
    copy = jax.jit(lambda v: v + 0.0)
    chain = jax.jit(lambda v: (v * 2.0 + 1.0) * v)
    total = jax.jit(jnp.sum)
    scan = jax.jit(jnp.cumsum)
    table("JAX", n, [
        ("copy f64", 16 * n, lambda: copy(x)),
        ("x * 2 + 1, times x, f64, jit", 16 * n, lambda: chain(x)),
        ("sum f64", 8 * n, lambda: total(x)),
        ("scan f64", 16 * n, lambda: scan(x)),
    ], timed)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 28
    for library, run in [("PyTorch", with_torch), ("CuPy", with_cupy), ("JAX", with_jax)]:
        try:
            run(n)
        except ImportError:
            print(f"SKIPPED: {library} is not installed")
        except Exception as why:  # Memory may be short, or a library too old. The others still run.
            print(f"{library}: {why}")


main()
