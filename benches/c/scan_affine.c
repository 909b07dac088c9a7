// scanAffine: prefix compositions of affine maps `a x + b`, by a non-commutative operator.
#include "common.h"

// The composition: first p, then q.
#define THEN(pa, pb, qa, qb, ra, rb) \
  ra = (pa) * (qa);                  \
  rb = (pb) * (qa) + (qb)

static void strict(const Job *job) {
  const double *a = job->in[0], *b = job->in[1];
  double *oa = job->out[0], *ob = job->out[1], sa = 1, sb = 0;
  for (size_t i = 0; i < job->n; i++) {
    double ta, tb;
    THEN(sa, sb, a[i], b[i], ta, tb);
    oa[i] = sa = ta, ob[i] = sb = tb;
  }
  job->len[0] = job->len[1] = job->n;
}

// Shifts lanes up and fills from below with `fill`.
INLINE V up(V v, const int by, V fill) {
#ifdef __AVX512F__
  __m512i x = (__m512i)v, f = (__m512i)fill;
  return (V)(by == 1 ? _mm512_alignr_epi64(x, f, 7) : by == 2 ? _mm512_alignr_epi64(x, f, 6) : _mm512_alignr_epi64(x, f, 4));
#elif defined(__AVX2__)
  __m256i low = _mm256_permute2x128_si256((__m256i)fill, (__m256i)v, 0x21);
  return by == 1 ? (V)_mm256_alignr_epi8((__m256i)v, low, 8) : (V)low;
#else
  return (V){fill[1], v[0]};
#endif
}
INLINE V last(V v) {
#ifdef __AVX512F__
  return (V)_mm512_permutexvar_pd(_mm512_set1_epi64(7), (__m512d)v);
#elif defined(__AVX2__)
  return (V)_mm256_permute4x64_pd((__m256d)v, 0xff);
#else
  return (V){v[1], v[1]};
#endif
}

// Each vector is scanned separately; one step per vector depends on the vectors before it.
INLINE void part(const Job *job, size_t from, size_t to, double *start, const int past) {
  const double *a = job->in[0], *b = job->in[1];
  double *oa = job->out[0], *ob = job->out[1];
  const V one = all(1), zero = all(0);
  V ca = all(start[0]), cb = all(start[1]);
  size_t i = from;
  for (; i + W <= to; i += W) {
    V sa = load(a + i), sb = load(b + i);
    for (int by = 1; by < W; by *= 2) {
      V pa = up(sa, by, one), pb = up(sb, by, zero), ta, tb;
      THEN(pa, pb, sa, sb, ta, tb);
      sa = ta, sb = tb;
    }
    V ra, rb, na, nb;
    THEN(ca, cb, sa, sb, ra, rb);
    if (past) stream(oa + i, ra), stream(ob + i, rb);
    else store(oa + i, ra), store(ob + i, rb);
    THEN(ca, cb, last(sa), last(sb), na, nb);
    ca = na, cb = nb;
  }
  double la = ca[0], lb = cb[0];
  for (; i < to; i++) {
    double ta, tb;
    THEN(la, lb, a[i], b[i], ta, tb);
    oa[i] = la = ta, ob[i] = lb = tb;
  }
  if (past) fence();
  start[0] = la, start[1] = lb;
}
INLINE void run(const Job *job, const int past) {
  double start[2] = {1, 0};
  part(job, 0, job->n, start, past);
  job->len[0] = job->len[1] = job->n;
}
static void simd(const Job *job) { run(job, 0); }
static void simd_nt(const Job *job) { run(job, 1); }

// The composition of a block. Each lane has a contiguous range.
static void total(const double *a, const double *b, size_t n, double *sa, double *sb) {
  const size_t row = n / 8;
  double ra[8], rb[8];
  for (int k = 0; k < 8; k++) ra[k] = 1, rb[k] = 0;
  for (size_t i = 0; i < row; i++)
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) {
      double x = a[k * row + i], y = b[k * row + i];
      ra[k] *= x, rb[k] = rb[k] * x + y;
    }
  *sa = 1, *sb = 0;
  for (int k = 0; k < 8; k++) {
    double ta, tb;
    THEN(*sa, *sb, ra[k], rb[k], ta, tb);
    *sa = ta, *sb = tb;
  }
  for (size_t i = row * 8; i < n; i++) {
    double ta, tb;
    THEN(*sa, *sb, a[i], b[i], ta, tb);
    *sa = ta, *sb = tb;
  }
}

#define BLOCK 8192
INLINE void blocks(const Job *job, const int past) {
  const size_t count = (job->n + BLOCK - 1) / BLOCK;
  size_t next = 0, turn = 0;
  double sum[2] = {1, 0};
#pragma omp parallel num_threads(job->threads)
  for (;;) {
    size_t k = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
    if (k >= count) break;
    size_t from = k * BLOCK, to = MIN(from + BLOCK, job->n);
    double sa, sb, ta, tb;
    total((const double *)job->in[0] + from, (const double *)job->in[1] + from, to - from, &sa, &sb);
    wait_for_turn(&turn, k);
    double start[2] = {sum[0], sum[1]};
    THEN(sum[0], sum[1], sa, sb, ta, tb);
    sum[0] = ta, sum[1] = tb;
    __atomic_store_n(&turn, k + 1, __ATOMIC_RELEASE);
    part(job, from, to, start, past);
  }
  job->len[0] = job->len[1] = job->n;
}
static void simd_omp(const Job *job) { blocks(job, 0); }
static void simd_omp_nt(const Job *job) { blocks(job, 1); }

const Variant scanAffine[] = {
  {"strict", strict, 0},
  {"reassociated, SIMD", simd, 0},
  {"reassociated, SIMD, NT stores", simd_nt, 0},
  {"reassociated, SIMD, OpenMP", simd_omp, 1},
  {"reassociated, SIMD, NT stores, OpenMP", simd_omp_nt, 1},
  {0},
};
