// Exits: see benches/src/cases/exits.rs.
#include "common.h"

#define LIMIT 0.99
#define PARTS 4

INLINE int any_above(V v, double limit) {
#ifdef __AVX512F__
  return _mm512_cmp_pd_mask((__m512d)v, (__m512d)all(limit), _CMP_GT_OQ) != 0;
#elif defined(__AVX__)
  return _mm256_movemask_pd((__m256d)(v > all(limit))) != 0;
#else
  return max_of(v) > limit;
#endif
}
// The first vector of some with an element above the limit, or the first element behind all vectors.
INLINE size_t block_of(const double *x, size_t n, V *sum) {
  size_t i = 0;
  for (; i + PARTS * W <= n; i += PARTS * W) {
    V most = load(x + i);
#pragma GCC unroll 4
    for (int k = 1; k < PARTS; k++) most = max_v(most, load(x + i + k * W));
    if (any_above(most, LIMIT)) break;
    if (sum)
#pragma GCC unroll 4
      for (int k = 0; k < PARTS; k++) sum[k] += load(x + i + k * W);
  }
  return i;
}

// position: where the first element above 0.99 is.
static void position_from(const Job *job, size_t i) {
  const double *x = job->in[0];
  while (i < job->n && !(x[i] > LIMIT)) i++;
  *(uint64_t *)job->out[0] = i;
  job->len[0] = 1;
}
static void position_plain(const Job *job) { position_from(job, 0); }
static void position_simd(const Job *job) { position_from(job, block_of(job->in[0], job->n, 0)); }
const Variant position[] = {
  {"plain", position_plain, 0},
  {"SIMD", position_simd, 0},
  {0},
};

// takeWhileSum: the sum of the elements before it.
static void sum_from(const Job *job, size_t i, double sum) {
  const double *x = job->in[0];
  for (; i < job->n && x[i] <= LIMIT; i++) sum += x[i];
  *(double *)job->out[0] = sum;
  job->len[0] = 1;
}
static void sum_plain(const Job *job) { sum_from(job, 0, 0); }
static void sum_simd(const Job *job) {
  V sum[PARTS] = {0};
  size_t i = block_of(job->in[0], job->n, sum);
  sum_from(job, i, sum_of((sum[0] + sum[1]) + (sum[2] + sum[3])));
}
const Variant takeWhileSum[] = {
  {"strict", sum_plain, 0},
  {"reassociated, SIMD", sum_simd, 0},
  {0},
};
