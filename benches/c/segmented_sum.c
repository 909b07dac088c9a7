// segmentedSumShort, -Long and -Uneven: each segment's sum. The second input is the lengths.
#include "lanes.h"

INLINE double strict_sum(const double *x, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  return s;
}
// For segments of a few elements: no vector setup.
INLINE double pairs_sum(const double *x, size_t n) {
  double a = 0, b = 0;
  size_t i = 0;
  for (; i + 2 <= n; i += 2) a += x[i], b += x[i + 1];
  return a + b + (i < n ? x[i] : 0);
}
INLINE double simd_sum(const double *x, size_t n) {
  V s[4] = {0};
  size_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) s[k] += load(x + i + k * W);
  V v = (s[0] + s[1]) + (s[2] + s[3]);
  for (; i + W <= n; i += W) v += load(x + i);
  double rest = 0;
  for (; i < n; i++) rest += x[i];
  return sum_of(v) + rest;
}
#ifdef __AVX2__
// Up to 16 elements without a branch on their number. All lanes belong to one sum.
#define FEW 16
INLINE V masked_lanes(const double *x, size_t n) {
  V v = load_some(x, n);
  const size_t few = MIN(n, FEW);
#pragma GCC unroll 4
  for (size_t k = W; k < FEW; k += W) v += load_some(x + k, (int64_t)few - (int64_t)k);
  size_t i = FEW;
  if (n > FEW) {
    V s[3] = {0};
    for (; i + 4 * W <= n; i += 4 * W) {
      v += load(x + i);
#pragma GCC unroll 3
      for (int k = 0; k < 3; k++) s[k] += load(x + i + (k + 1) * W);
    }
    v = (v + s[0]) + (s[1] + s[2]);
    for (; i < n; i += W) v += load_some(x + i, n - i);
  }
  return v;
}
INLINE double masked_sum(const double *x, size_t n) { return sum_of(masked_lanes(x, n)); }
#endif

typedef double Sum(const double *, size_t);

INLINE void run(const Job *job, Sum *sum) {
  const double *x = job->in[0];
  const uint64_t *lens = job->in[1];
  double *out = job->out[0];
  for (size_t s = 0; s < job->in_len[1]; s++) out[s] = sum(x, lens[s]), x += lens[s];
  job->len[0] = job->in_len[1];
}
static void strict(const Job *job) { run(job, strict_sum); }
static void pairs(const Job *job) { run(job, pairs_sum); }
static void simd(const Job *job) { run(job, simd_sum); }
#ifdef __AVX2__
// A vector of segments at a time, whose lanes are joined together.
static void masked(const Job *job) {
  const double *x = job->in[0];
  const uint64_t *lens = job->in[1];
  double *out = job->out[0];
  const size_t m = job->in_len[1];
  size_t s = 0;
  for (; s + W <= m; s += W) {
    V v[W];
#pragma GCC unroll 8
    for (int k = 0; k < W; k++) v[k] = masked_lanes(x, lens[s + k]), x += lens[s + k];
    store(out + s, sums_of(v));
  }
  for (; s < m; s++) out[s] = masked_sum(x, lens[s]), x += lens[s];
  job->len[0] = m;
}
#endif

// Threads get equally many elements, across segment borders. A partial segment at a thread's start
// is added at the end.
typedef struct {
  size_t segment;
  double sum;
} Part;
INLINE void run_parallel(const Job *job, Sum *sum) {
  const double *x = job->in[0];
  const uint64_t *lens = job->in[1];
  double *out = job->out[0];
  const size_t m = job->in_len[1];
  size_t sizes[job->threads];
  Part parts[job->threads];
  for (int t = 0; t < job->threads; t++) parts[t].segment = m;
#pragma omp parallel num_threads(job->threads)
  {
    const int t = omp_get_thread_num(), threads = omp_get_num_threads();
    const size_t from = job->n * t / threads, to = job->n * (t + 1) / threads;
    size_t size = 0;
    for (size_t s = m * t / threads; s < m * (t + 1) / threads; s++) size += lens[s];
    sizes[t] = size;
#pragma omp barrier
    int c = 0;
    size_t at = 0;
    while (c + 1 < threads && at + sizes[c] < from) at += sizes[c++];
    size_t s = m * c / threads;
    while (s < m && at < from && at + lens[s] <= from) at += lens[s++];
    if (s < m && at < from) {
      size_t end = MIN(at + lens[s], to);
      parts[t] = (Part){s, sum(x + from, end - from)};
      at += lens[s++];
    }
    for (; s < m && (at < to || t + 1 == threads); at += lens[s++])
      out[s] = sum(x + at, MIN(at + lens[s], to) - at);
  }
  for (int t = 0; t < job->threads; t++)
    if (parts[t].segment < m) out[parts[t].segment] += parts[t].sum;
  job->len[0] = m;
}
static void pairs_omp(const Job *job) { run_parallel(job, pairs_sum); }
static void simd_omp(const Job *job) { run_parallel(job, simd_sum); }
#ifdef __AVX2__
static void masked_omp(const Job *job) { run_parallel(job, masked_sum); }
#define MASKED                                         \
    {"reassociated, masks", masked, 0},                \
    {"reassociated, masks, OpenMP", masked_omp, 1},
#else
#define MASKED
#endif

#define TABLE                                          \
  {                                                    \
    {"strict", strict, 0},                             \
    {"reassociated, pairs", pairs, 0},                 \
    {"reassociated, SIMD", simd, 0},                   \
    {"reassociated, pairs, OpenMP", pairs_omp, 1},     \
    {"reassociated, SIMD, OpenMP", simd_omp, 1},       \
    MASKED                                             \
    {0},                                               \
  }
const Variant segmentedSumShort[] = TABLE;
const Variant segmentedSumLong[] = TABLE;
const Variant segmentedSumUneven[] = TABLE;
