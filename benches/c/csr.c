// csrProduct: a sparse matrix in compressed rows (values, columns, row offsets) times a vector.
#include "lanes.h"

INLINE double strict_row(const double *v, const uint32_t *c, size_t n, const double *x) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += v[i] * x[c[i]];
  return s;
}
INLINE double lanes_row(const double *v, const uint32_t *c, size_t n, const double *x) {
  double s[4] = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) s[k] += v[i + k] * x[c[i + k]];
  for (; i < n; i++) s[0] += v[i] * x[c[i]];
  return (s[0] + s[1]) + (s[2] + s[3]);
}
#ifdef __AVX2__
INLINE double gather_row(const double *v, const uint32_t *c, size_t n, const double *x) {
  __m256d s = _mm256_setzero_pd();
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    __m256d at = _mm256_i32gather_pd(x, _mm_loadu_si128((const __m128i *)(c + i)), 8);
    s += _mm256_loadu_pd(v + i) * at;
  }
  double rest = 0;
  for (; i < n; i++) rest += v[i] * x[c[i]];
  return (s[0] + s[1]) + (s[2] + s[3]) + rest;
}
// The last elements are masked.
INLINE V masked_lanes(const double *v, const uint32_t *c, size_t n, const double *x) {
  V s = {0};
  size_t i = 0;
  for (; i + W <= n; i += W) s += load(v + i) * look_up(x, c + i);
  if (i < n) s += load_some(v + i, n - i) * look_up_some(x, c + i, n - i);
  return s;
}
INLINE double masked_row(const double *v, const uint32_t *c, size_t n, const double *x) {
  return sum_of(masked_lanes(v, c, n, x));
}
#endif

typedef double Row(const double *, const uint32_t *, size_t, const double *);
INLINE void rows(const Job *job, Row *row, size_t first, size_t last) {
  const double *values = job->in[0], *x = job->in[3];
  const uint32_t *columns = job->in[1], *offsets = job->in[2];
  double *out = job->out[0];
  for (size_t r = first; r < last; r++)
    out[r] = row(values + offsets[r], columns + offsets[r], offsets[r + 1] - offsets[r], x);
}
#ifdef __AVX2__
// A vector of rows at a time, whose lanes are joined together.
INLINE void joined_rows(const Job *job, size_t first, size_t last) {
  const double *values = job->in[0], *x = job->in[3];
  const uint32_t *columns = job->in[1], *offsets = job->in[2];
  double *out = job->out[0];
  size_t r = first;
  for (; r + W <= last; r += W) {
    V lanes[W];
#pragma GCC unroll 8
    for (int k = 0; k < W; k++) {
      const size_t from = offsets[r + k], to = offsets[r + k + 1];
      lanes[k] = masked_lanes(values + from, columns + from, to - from, x);
    }
    store(out + r, sums_of(lanes));
  }
  rows(job, masked_row, r, last);
}
#endif
INLINE void run(const Job *job, Row *row) {
  job->len[0] = job->in_len[2] - 1;
  rows(job, row, 0, job->len[0]);
}

// The first row that begins at or after an element.
static size_t row_at(const Job *job, size_t element) {
  const uint32_t *offsets = job->in[2];
  size_t low = 0, high = job->in_len[2] - 1;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (offsets[middle] < element) low = middle + 1;
    else high = middle;
  }
  return low;
}
INLINE void run_parallel(const Job *job, Row *row) {
#pragma omp parallel num_threads(job->threads)
  {
    int t = omp_get_thread_num(), threads = omp_get_num_threads();
    size_t last = t + 1 == threads ? job->in_len[2] - 1 : row_at(job, job->n * (t + 1) / threads);
    rows(job, row, t == 0 ? 0 : row_at(job, job->n * t / threads), last);
  }
  job->len[0] = job->in_len[2] - 1;
}

static void strict(const Job *job) { run(job, strict_row); }
static void lanes(const Job *job) { run(job, lanes_row); }
static void lanes_omp(const Job *job) { run_parallel(job, lanes_row); }
#ifdef __AVX2__
static void gather(const Job *job) { run(job, gather_row); }
static void gather_omp(const Job *job) { run_parallel(job, gather_row); }
static void masked(const Job *job) { run(job, masked_row); }
static void masked_omp(const Job *job) { run_parallel(job, masked_row); }
static void joined(const Job *job) {
  job->len[0] = job->in_len[2] - 1;
  joined_rows(job, 0, job->len[0]);
}
#endif

const Variant csrProduct[] = {
  {"strict", strict, 0},
  {"reassociated", lanes, 0},
  {"reassociated, OpenMP", lanes_omp, 1},
#ifdef __AVX2__
  {"reassociated, SIMD gather", gather, 0},
  {"reassociated, SIMD gather, OpenMP", gather_omp, 1},
  {"reassociated, masked gather", masked, 0},
  {"reassociated, masked gather, OpenMP", masked_omp, 1},
  {"reassociated, masked gather, rows joined", joined, 0},
#endif
  {0},
};
