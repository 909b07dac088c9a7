// maxSegmentSum: the largest sum of neighbouring integers (0 if there are none).
#include "common.h"

// The largest sum, the largest prefix sum, the largest suffix sum, and the sum of all.
typedef struct {
  int64_t most, first, last, all;
} Sums;
INLINE Sums join(Sums a, Sums b) {
  return (Sums){
    MAX(MAX(a.most, b.most), a.last + b.first),
    MAX(a.first, a.all + b.first),
    MAX(b.last, a.last + b.all),
    a.all + b.all,
  };
}
static void put(const Job *job, Sums s) {
  *(int64_t *)job->out[0] = s.most;
  job->len[0] = 1;
}

static void strict(const Job *job) {
  const int64_t *x = job->in[0];
  int64_t most = 0, last = 0;
  for (size_t i = 0; i < job->n; i++) {
    last = MAX(last + x[i], 0);
    most = MAX(most, last);
  }
  put(job, (Sums){.most = most});
}
static Sums scalar_part(const int64_t *x, size_t n) {
  Sums s = {0};
  for (size_t i = 0; i < n; i++) {
    s.all += x[i];
    s.first = MAX(s.first, s.all);
    s.last = MAX(s.last + x[i], 0);
    s.most = MAX(s.most, s.last);
  }
  return s;
}

INLINE VI max_i(VI a, VI b) {
#ifdef __AVX512F__
  return (VI)_mm512_max_epi64((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (VI)_mm256_blendv_epi8((__m256i)b, (__m256i)a, (__m256i)(a > b));
#else
  return (a & (a > b)) | (b & ~(a > b));
#endif
}
// W elements of each of W rows, as vectors across the rows.
INLINE void across(VI *to, const int64_t *p, size_t row) {
#if W == 4
  __m256i r[4], t[4];
  for (int k = 0; k < 4; k++) r[k] = (__m256i)load_i(p + k * row);
  for (int k = 0; k < 4; k += 2) {
    t[k] = _mm256_unpacklo_epi64(r[k], r[k + 1]);
    t[k + 1] = _mm256_unpackhi_epi64(r[k], r[k + 1]);
  }
  to[0] = (VI)_mm256_permute2x128_si256(t[0], t[2], 0x20);
  to[1] = (VI)_mm256_permute2x128_si256(t[1], t[3], 0x20);
  to[2] = (VI)_mm256_permute2x128_si256(t[0], t[2], 0x31);
  to[3] = (VI)_mm256_permute2x128_si256(t[1], t[3], 0x31);
#elif W == 8
  VI r[8], t[8], f[8];
  for (int k = 0; k < 8; k++) r[k] = load_i(p + k * row);
  // Pairs of rows, then fours, then all: the moved blocks double in size.
  for (int k = 0; k < 8; k += 2) {
    t[k] = __builtin_shuffle(r[k], r[k + 1], (VI){0, 8, 2, 10, 4, 12, 6, 14});
    t[k + 1] = __builtin_shuffle(r[k], r[k + 1], (VI){1, 9, 3, 11, 5, 13, 7, 15});
  }
  for (int k = 0; k < 8; k++) {
    const int a = k & 4, b = k & 1;
    f[k] = k & 2 ? __builtin_shuffle(t[a + b], t[a + b + 2], (VI){2, 3, 10, 11, 6, 7, 14, 15})
                 : __builtin_shuffle(t[a + b], t[a + b + 2], (VI){0, 1, 8, 9, 4, 5, 12, 13});
  }
  for (int k = 0; k < 4; k++) {
    to[k] = __builtin_shuffle(f[k], f[k + 4], (VI){0, 1, 2, 3, 8, 9, 10, 11});
    to[k + 4] = __builtin_shuffle(f[k], f[k + 4], (VI){4, 5, 6, 7, 12, 13, 14, 15});
  }
#else
  for (int j = 0; j < W; j++)
    for (int k = 0; k < W; k++) to[j][k] = p[k * row + j];
#endif
}

INLINE VI min_i(VI a, VI b) {
#ifdef __AVX512F__
  return (VI)_mm512_min_epi64((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (VI)_mm256_blendv_epi8((__m256i)a, (__m256i)b, (__m256i)(a > b));
#else
  return (b & (a > b)) | (a & ~(a > b));
#endif
}

// Each lane has its own range, with SETS vectors of lanes at a time. The largest sum up to an
// element is the prefix sum minus the least earlier one, so no addition waits for a maximum.
#define SETS 2
static Sums lanes_part(const int64_t *x, size_t n) {
  const size_t row = n / (SETS * W) / W * W;
  VI most[SETS] = {0}, first[SETS] = {0}, least[SETS] = {0}, total[SETS] = {0}, v[SETS][W];
  for (size_t i = 0; i < row; i += W) {
#pragma GCC unroll 2
    for (int s = 0; s < SETS; s++) across(v[s], x + s * W * row + i, row);
#pragma GCC unroll 8
    for (int j = 0; j < W; j++)
#pragma GCC unroll 2
      for (int s = 0; s < SETS; s++) {
        total[s] += v[s][j];
        first[s] = max_i(first[s], total[s]);
        least[s] = min_i(least[s], total[s]);
        most[s] = max_i(most[s], total[s] - least[s]);
      }
  }
  Sums all = {0};
  for (int s = 0; s < SETS; s++)
    for (int k = 0; k < W; k++) all = join(all, (Sums){most[s][k], first[s][k], total[s][k] - least[s][k], total[s][k]});
  size_t done = row * SETS * W;
  return join(all, scalar_part(x + done, n - done));
}
static void simd(const Job *job) { put(job, lanes_part(job->in[0], job->n)); }
static void simd_omp(const Job *job) {
  Sums parts[job->threads];
  for (int t = 0; t < job->threads; t++) parts[t] = (Sums){0};
#pragma omp parallel num_threads(job->threads)
  {
    size_t from, to;
    part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);
    parts[omp_get_thread_num()] = lanes_part((const int64_t *)job->in[0] + from, to - from);
  }
  Sums all = {0};
  for (int t = 0; t < job->threads; t++) all = join(all, parts[t]);
  put(job, all);
}

const Variant maxSegmentSum[] = {
  {"strict", strict, 0},
  {"SIMD, a stretch per lane", simd, 0},
  {"SIMD, a stretch per lane, OpenMP", simd_omp, 1},
  {0},
};
