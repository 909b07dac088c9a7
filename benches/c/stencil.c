// stencil5: the weighted mean of each element and two on either side; ends are repeated.
#include "common.h"

INLINE double at(const double *x, size_t n, ptrdiff_t i) { return x[i < 0 ? 0 : i >= (ptrdiff_t)n ? (ptrdiff_t)n - 1 : i]; }
INLINE double end(const double *x, size_t n, ptrdiff_t i) {
  return 0.1 * at(x, n, i - 2) + 0.2 * at(x, n, i - 1) + 0.4 * at(x, n, i) + 0.2 * at(x, n, i + 1) + 0.1 * at(x, n, i + 2);
}

INLINE void part(const Job *job, size_t from, size_t to, const int past) {
  const double *x = job->in[0];
  double *out = job->out[0];
  const size_t n = job->n;
  size_t i = from;
  for (; i < to && (i < 2 || i % W); i++) out[i] = end(x, n, i);
  for (; i + W <= to && i + W + 2 <= n; i += W) {
    V v = 0.1 * load(x + i - 2) + 0.2 * load(x + i - 1) + 0.4 * load(x + i) + 0.2 * load(x + i + 1) + 0.1 * load(x + i + 2);
    if (past) stream(out + i, v);
    else store(out + i, v);
  }
  for (; i < to; i++) out[i] = end(x, n, i);
  if (past) fence();
}
INLINE void parts(const Job *job, const int past) {
#pragma omp parallel num_threads(job->threads)
  {
    size_t from, to;
    part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);
    part(job, from, to, past);
  }
  job->len[0] = job->n;
}
static void scalar(const Job *job) {
  const double *x = job->in[0];
  double *out = job->out[0];
  for (size_t i = 0; i < job->n; i++) out[i] = end(x, job->n, i);
  job->len[0] = job->n;
}
static void simd(const Job *job) { part(job, 0, job->n, 0), job->len[0] = job->n; }
static void simd_nt(const Job *job) { part(job, 0, job->n, 1), job->len[0] = job->n; }
static void simd_omp(const Job *job) { parts(job, 0); }
static void simd_omp_nt(const Job *job) { parts(job, 1); }

const Variant stencil5[] = {
  {"scalar", scalar, 0},
  {"SIMD", simd, 0},
  {"SIMD, NT stores", simd_nt, 0},
  {"SIMD, OpenMP", simd_omp, 1},
  {"SIMD, NT stores, OpenMP", simd_omp_nt, 1},
  {0},
};
