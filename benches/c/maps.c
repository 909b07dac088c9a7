// mapMap and append: pure reads and writes.
#include "common.h"

INLINE void map_map_part(const Job *job, size_t from, size_t to, const int past) {
  const double *x = job->in[0];
  double *up = job->out[0], *down = job->out[1];
  size_t i = from;
  for (; i + W <= to; i += W) {
    V twice = 2.0 * load(x + i);
    if (past) stream(up + i, twice + 50.0), stream(down + i, twice - 50.0);
    else store(up + i, twice + 50.0), store(down + i, twice - 50.0);
  }
  for (; i < to; i++) up[i] = 2.0 * x[i] + 50.0, down[i] = 2.0 * x[i] - 50.0;
  if (past) fence();
}

// The second half after the first: `2 x` of one array, `y + 1` of the other.
INLINE void copy_part(const Job *job, size_t from, size_t to, const int past) {
  const size_t k = job->in_len[0];
  const double *x = job->in[0], *y = job->in[1];
  double *out = job->out[0];
  size_t i = from;
  for (; i < MIN(to, k / W * W); i += W) {
    V v = 2.0 * load(x + i);
    if (past) stream(out + i, v);
    else store(out + i, v);
  }
  for (; i < to && (i < k || i % W); i++) out[i] = i < k ? 2.0 * x[i] : y[i - k] + 1.0;
  for (; i + W <= to; i += W) {
    V v = load(y + (i - k)) + 1.0;
    if (past) stream(out + i, v);
    else store(out + i, v);
  }
  for (; i < to; i++) out[i] = y[i - k] + 1.0;
  if (past) fence();
}

#define MAPS(name, part, OUTPUTS)                                                    \
  static void name##_done(const Job *job) {                                          \
    for (int k = 0; k < OUTPUTS; k++) job->len[k] = job->n;                          \
  }                                                                                  \
  static void name##_plain(const Job *job) { part(job, 0, job->n, 0), name##_done(job); } \
  static void name##_nt(const Job *job) { part(job, 0, job->n, 1), name##_done(job); }    \
  INLINE void name##_parts(const Job *job, const int past) {                         \
    _Pragma("omp parallel num_threads(job->threads)") {                              \
      size_t from, to;                                                               \
      part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);      \
      part(job, from, to, past);                                                     \
    }                                                                                \
    name##_done(job);                                                                \
  }                                                                                  \
  static void name##_omp(const Job *job) { name##_parts(job, 0); }                   \
  static void name##_omp_nt(const Job *job) { name##_parts(job, 1); }                \
  const Variant name[] = {                                                           \
    {"SIMD", name##_plain, 0},                                                       \
    {"SIMD, NT stores", name##_nt, 0},                                               \
    {"SIMD, OpenMP", name##_omp, 1},                                                 \
    {"SIMD, NT stores, OpenMP", name##_omp_nt, 1},                                   \
    {0},                                                                             \
  };

MAPS(mapMap, map_map_part, 2)
MAPS(append, copy_part, 1)
