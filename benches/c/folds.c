// dotProduct, saxpySqrtSum, meanVariance: folds of inputs. Strict ones add from left to right.
#include "common.h"

// The sum of `TERM(i)` (VTERM for vectors), with UNROLL vector accumulators.
#define UNROLL 8
#define FOLD(name, SETUP, TERM, VTERM)                                                    \
  static double name##_strict_part(const Job *job, size_t from, size_t to) {              \
    SETUP;                                                                                \
    double s = 0;                                                                         \
    for (size_t i = from; i < to; i++) s += TERM;                                         \
    return s;                                                                             \
  }                                                                                       \
  INLINE double name##_lanes(const Job *job, size_t from, size_t to, const int unroll) {  \
    SETUP;                                                                                \
    V s[UNROLL] = {0};                                                                    \
    size_t at = from;                                                                     \
    for (; at + unroll * W <= to; at += unroll * W)                                       \
      _Pragma("GCC unroll 8") for (int k = 0; k < unroll; k++) {                          \
        size_t i = at + k * W;                                                            \
        s[k] += VTERM;                                                                    \
      }                                                                                   \
    for (int k = 1; k < unroll; k++) s[0] += s[k];                                        \
    double rest = 0;                                                                      \
    for (size_t i = at; i < to; i++) rest += TERM;                                        \
    return sum_of(s[0]) + rest;                                                           \
  }                                                                                       \
  static void name##_strict(const Job *job) { put(job, name##_strict_part(job, 0, job->n)); } \
  static void name##_simd4(const Job *job) { put(job, name##_lanes(job, 0, job->n, 4)); } \
  static void name##_simd8(const Job *job) { put(job, name##_lanes(job, 0, job->n, 8)); } \
  static void name##_omp(const Job *job) {                                                \
    double s = 0;                                                                         \
    _Pragma("omp parallel num_threads(job->threads) reduction(+ : s)") {                  \
      size_t from, to;                                                                    \
      part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);           \
      s += name##_lanes(job, from, to, 4);                                                \
    }                                                                                     \
    put(job, s);                                                                          \
  }                                                                                       \
  const Variant name[] = {                                                                \
    {"strict", name##_strict, 0},                                                         \
    {"reassociated, SIMD, 4 sums", name##_simd4, 0},                                      \
    {"reassociated, SIMD, 8 sums", name##_simd8, 0},                                      \
    {"reassociated, SIMD, OpenMP", name##_omp, 1},                                        \
    {0},                                                                                  \
  };

INLINE void put(const Job *job, double s) {
  *(double *)job->out[0] = s;
  job->len[0] = 1;
}

INLINE V sqrt_v(V v) {
  V r;
  for (int k = 0; k < W; k++) r[k] = sqrt(v[k]);
  return r;
}

FOLD(dotProduct,
     const double *a = job->in[0]; const double *b = job->in[1];
     const double *c = job->in[2]; const double *d = job->in[3],
     a[i] * c[i] + b[i] * d[i],
     load(a + i) * load(c + i) + load(b + i) * load(d + i))

FOLD(saxpySqrtSum,
     const double *x = job->in[0]; const double *y = job->in[1],
     sqrt(2.5 * x[i] + y[i]),
     sqrt_v(2.5 * load(x + i) + load(y + i)))

// The mean, and the variance as the mean of squares minus the squared mean, in one pass.
INLINE void moments(const Job *job, double s, double q) {
  double n = (double)job->n, mean = s / n;
  *(double *)job->out[0] = mean;
  *(double *)job->out[1] = q / n - mean * mean;
  job->len[0] = job->len[1] = 1;
}

static void strict(const Job *job) {
  const double *x = job->in[0];
  double s = 0, q = 0;
  for (size_t i = 0; i < job->n; i++) s += x[i], q += x[i] * x[i];
  moments(job, s, q);
}

INLINE void lanes(const double *x, size_t from, size_t to, double *sum, double *squares) {
  V s[4] = {0}, q[4] = {0};
  size_t i = from;
  for (; i + 4 * W <= to; i += 4 * W)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      V v = load(x + i + k * W);
      s[k] += v, q[k] += v * v;
    }
  *sum = sum_of((s[0] + s[1]) + (s[2] + s[3])), *squares = sum_of((q[0] + q[1]) + (q[2] + q[3]));
  for (; i < to; i++) *sum += x[i], *squares += x[i] * x[i];
}
static void simd(const Job *job) {
  double s, q;
  lanes(job->in[0], 0, job->n, &s, &q);
  moments(job, s, q);
}
static void simd_omp(const Job *job) {
  double s = 0, q = 0;
#pragma omp parallel num_threads(job->threads) reduction(+ : s, q)
  {
    size_t from, to;
    double ps, pq;
    part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);
    lanes(job->in[0], from, to, &ps, &pq);
    s += ps, q += pq;
  }
  moments(job, s, q);
}

const Variant meanVariance[] = {
  {"strict", strict, 0},
  {"reassociated, SIMD", simd, 0},
  {"reassociated, SIMD, OpenMP", simd_omp, 1},
  {0},
};
