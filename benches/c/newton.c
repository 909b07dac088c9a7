// newton: square roots by Newton steps from the number itself until convergence, at most 32.
#include "common.h"

#define LIMIT 32
#define NEAR 1e-9

INLINE double root(double x) {
  double y = x;
  for (int n = 0; n < LIMIT && y * y - x > NEAR * x; n++) y = 0.5 * (y + x / y);
  return y;
}
static void scalar(const Job *job) {
  const double *x = job->in[0];
  double *out = job->out[0];
  for (size_t i = 0; i < job->n; i++) out[i] = root(x[i]);
  job->len[0] = job->n;
}

#ifdef __AVX2__
#ifdef __AVX512F__
typedef __mmask8 In;
INLINE In far(V y, V x) { return _mm512_cmp_pd_mask((__m512d)(y * y - x), (__m512d)(NEAR * x), _CMP_GT_OQ); }
INLINE int any(In m) { return m != 0; }
INLINE V where(In m, V a, V b) { return (V)_mm512_mask_blend_pd(m, (__m512d)b, (__m512d)a); }
#else
typedef VI In;
INLINE In far(V y, V x) { return y * y - x > NEAR * x; }
INLINE int any(In m) { return !_mm256_testz_si256((__m256i)m, (__m256i)m); }
INLINE V where(In m, V a, V b) { return (V)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m); }
#endif
// Several vectors at a time, until all numbers have converged.
#define MOST 4
INLINE void vectors(const Job *job, const int sets) {
  const double *px = job->in[0];
  double *out = job->out[0];
  size_t i = 0;
  for (; i + sets * W <= job->n; i += sets * W) {
    V x[MOST], y[MOST];
#pragma GCC unroll 4
    for (int s = 0; s < sets; s++) y[s] = x[s] = load(px + i + s * W);
    for (int n = 0; n < LIMIT; n++) {
      In left = far(y[0], x[0]) | (sets > 1 ? far(y[1], x[1]) : (In){0}) |
                (sets > 2 ? far(y[2], x[2]) | far(y[3], x[3]) : (In){0});
      if (!any(left)) break;
#pragma GCC unroll 4
      for (int s = 0; s < sets; s++) y[s] = where(far(y[s], x[s]), 0.5 * (y[s] + x[s] / y[s]), y[s]);
    }
#pragma GCC unroll 4
    for (int s = 0; s < sets; s++) store(out + i + s * W, y[s]);
  }
  for (; i < job->n; i++) out[i] = root(px[i]);
  job->len[0] = job->n;
}
static void simd1(const Job *job) { vectors(job, 1); }
static void simd2(const Job *job) { vectors(job, 2); }
static void simd4(const Job *job) { vectors(job, 4); }
#endif

const Variant newton[] = {
  {"scalar", scalar, 0},
#ifdef __AVX2__
  {"SIMD, 1 vector", simd1, 0},
  {"SIMD, 2 vectors", simd2, 0},
  {"SIMD, 4 vectors", simd4, 0},
#endif
  {0},
};
