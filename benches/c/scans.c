// Scans of numbers by +: inclusive and exclusive, i64 and f64.
#include "scan.h"

INLINE V load_f(const double *p) { return load(p); }
INLINE void store_f(double *p, V v) { store(p, v); }
INLINE void stream_f(double *p, V v) { stream(p, v); }

#define PARTS 4
#define BLOCK 8192

// EXCLUSIVE is 0 or 1. In vectors, the sums of PARTS vectors are computed first, so that only one
// addition per block depends on the block before.
#define SCAN(name, T, VT, S, EXCLUSIVE, GROUPING)                                            \
  static void name##_strict(const Job *job) {                                                \
    const T *x = job->in[0];                                                                 \
    T *out = job->out[0], s = 0;                                                             \
    for (size_t i = 0; i < job->n; i++) {                                                    \
      T before = s;                                                                          \
      s += x[i];                                                                             \
      out[i] = EXCLUSIVE ? before : s;                                                       \
    }                                                                                        \
    job->len[0] = job->n;                                                                    \
  }                                                                                          \
  INLINE T name##_part(const Job *job, size_t from, size_t to, T start, const int past) {    \
    const T *x = job->in[0];                                                                 \
    T *out = job->out[0];                                                                    \
    VT carry = start - (VT){0};                                                              \
    size_t i = from;                                                                         \
    for (; i + PARTS * W <= to; i += PARTS * W) {                                            \
      VT own[PARTS], before[PARTS], total = {0};                                             \
      _Pragma("GCC unroll 4") for (int k = 0; k < PARTS; k++) {                              \
        own[k] = sums_##S(load_##S(x + i + k * W));                                          \
        before[k] = total;                                                                   \
        total += last_##S(own[k]);                                                           \
      }                                                                                      \
      _Pragma("GCC unroll 4") for (int k = 0; k < PARTS; k++) {                              \
        VT v = (EXCLUSIVE ? up_##S(own[k], 1) : own[k]) + (before[k] + carry);               \
        if (past) stream_##S(out + i + k * W, v);                                            \
        else store_##S(out + i + k * W, v);                                                  \
      }                                                                                      \
      carry += total;                                                                        \
    }                                                                                        \
    T s = carry[0];                                                                          \
    for (; i < to; i++) {                                                                    \
      T here = x[i];                                                                         \
      out[i] = EXCLUSIVE ? s : s + here;                                                     \
      s += here;                                                                             \
    }                                                                                        \
    if (past) fence();                                                                       \
    return s;                                                                                \
  }                                                                                          \
  static void name##_simd(const Job *job) {                                                  \
    name##_part(job, 0, job->n, 0, 0);                                                       \
    job->len[0] = job->n;                                                                    \
  }                                                                                          \
  static void name##_nt(const Job *job) {                                                    \
    name##_part(job, 0, job->n, 0, 1);                                                       \
    job->len[0] = job->n;                                                                    \
  }                                                                                          \
  INLINE T name##_sum(const T *x, size_t from, size_t to) {                                  \
    VT s[4] = {{0}};                                                                         \
    size_t i = from;                                                                         \
    for (; i + 4 * W <= to; i += 4 * W)                                                      \
      _Pragma("GCC unroll 4") for (int k = 0; k < 4; k++) s[k] += load_##S(x + i + k * W);   \
    VT v = (s[0] + s[1]) + (s[2] + s[3]);                                                    \
    T total = 0;                                                                             \
    for (int k = 0; k < W; k++) total += v[k];                                               \
    for (; i < to; i++) total += x[i];                                                       \
    return total;                                                                            \
  }                                                                                          \
  /* Each block is summed into the cache, waits for its start, and is scanned from there. */ \
  INLINE void name##_blocks(const Job *job, const int past) {                                \
    size_t blocks = (job->n + BLOCK - 1) / BLOCK, next = 0, turn = 0;                        \
    T total = 0;                                                                             \
    _Pragma("omp parallel num_threads(job->threads)") for (;;) {                             \
      size_t b = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);                             \
      if (b >= blocks) break;                                                                \
      size_t from = b * BLOCK, to = MIN(from + BLOCK, job->n);                               \
      T own = name##_sum(job->in[0], from, to);                                              \
      wait_for_turn(&turn, b);                \
      T start = total;                                                                       \
      total += own;                                                                          \
      __atomic_store_n(&turn, b + 1, __ATOMIC_RELEASE);                                      \
      name##_part(job, from, to, start, past);                                               \
    }                                                                                        \
    job->len[0] = job->n;                                                                    \
  }                                                                                          \
  static void name##_omp(const Job *job) { name##_blocks(job, 0); }                          \
  static void name##_omp_nt(const Job *job) { name##_blocks(job, 1); }                       \
  const Variant name[] = {                                                                   \
    {"strict", name##_strict, 0},                                                            \
    {GROUPING "SIMD", name##_simd, 0},                                                       \
    {GROUPING "SIMD, NT stores", name##_nt, 0},                                              \
    {GROUPING "SIMD, OpenMP", name##_omp, 1},                                                \
    {GROUPING "SIMD, NT stores, OpenMP", name##_omp_nt, 1},                                  \
    {0},                                                                                     \
  };

SCAN(scanInclusiveI64, int64_t, VI, i, 0, "")
SCAN(scanExclusiveI64, int64_t, VI, i, 1, "")
SCAN(scanInclusiveF64, double, V, f, 0, "reassociated, ")
SCAN(scanExclusiveF64, double, V, f, 1, "reassociated, ")
