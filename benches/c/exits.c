// Exits: see benches/src/cases/exits.rs.
#include "filter.h"
#include "lanes.h"

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
// The first block of vectors with an element above the limit, or the first element after all
// blocks.
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

// position: the index of the first element above 0.99.
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

// filterTakeWhile: those elements above 0.5, and their sum.
static void kept_from(const Job *job, size_t i, size_t k, double sum) {
  const double *x = job->in[0];
  double *out = job->out[0];
  for (; i < job->n && x[i] <= LIMIT; i++) {
    out[k] = x[i];
    sum += x[i] > 0.5 ? x[i] : 0;
    k += x[i] > 0.5;
  }
  *(double *)job->out[1] = sum;
  job->len[0] = k, job->len[1] = 1;
}
static void kept_plain(const Job *job) { kept_from(job, 0, 0, 0); }
#ifdef COMPACTS
static void kept_simd(const Job *job) {
  const double *x = job->in[0];
  double *out = job->out[0];
  const V half = all(0.5);
  V sum[PARTS] = {0};
  size_t i = 0, k = 0;
  for (; i + PARTS * W <= job->n; i += PARTS * W) {
    V most = load(x + i);
#pragma GCC unroll 4
    for (int p = 1; p < PARTS; p++) most = max_v(most, load(x + i + p * W));
    if (any_above(most, LIMIT)) break;
#pragma GCC unroll 4
    for (int p = 0; p < PARTS; p++) {
      V v = load(x + i + p * W);
      M m = gt(v, half);
      sum[p] += only(m, v);
      pack(out + k, v, bits(m));
      k += count(bits(m));
    }
  }
  kept_from(job, i, k, sum_of((sum[0] + sum[1]) + (sum[2] + sum[3])));
}
#endif
const Variant filterTakeWhile[] = {
  {"branch-free", kept_plain, 0},
#ifdef COMPACTS
  {"reassociated, SIMD", kept_simd, 0},
#endif
  {0},
};

// segmentTakeWhile: sums of segments before the first above a limit. The second input is the
// lengths.
#define MOST 100
INLINE void sums_until(const Job *job, double sum(const double *, size_t)) {
  const double *x = job->in[0];
  const uint64_t *lens = job->in[1];
  double *out = job->out[0];
  size_t s = 0;
  for (; s < job->in_len[1]; x += lens[s++]) {
    double total = sum(x, lens[s]);
    if (total > MOST) break;
    out[s] = total;
  }
  job->len[0] = s;
}
INLINE double plain_sum(const double *x, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  return s;
}
static void sums_plain(const Job *job) { sums_until(job, plain_sum); }
#ifdef __AVX2__
INLINE double masked_sum(const double *x, size_t n) {
  V v = load_some(x, n);
  for (size_t i = W; i < n; i += W) v += load_some(x + i, n - i);
  return sum_of(v);
}
static void sums_masked(const Job *job) { sums_until(job, masked_sum); }
#endif
const Variant segmentTakeWhile[] = {
  {"strict", sums_plain, 0},
#ifdef __AVX2__
  {"reassociated, masks", sums_masked, 0},
#endif
  {0},
};

// nestedTakeWhile: the sum of products with 1 + a factor per segment, before the first above the
// limit.
static void products_from(const Job *job, const double *x, size_t s, double sum) {
  const uint64_t *lens = job->in[1];
  const double *factors = job->in[2];
  for (; s < job->in_len[1]; x += lens[s++])
    for (size_t i = 0; i < lens[s]; i++) {
      double product = x[i] * (factors[s] + 1);
      if (product > MOST) goto done;
      sum += product;
    }
done:
  *(double *)job->out[0] = sum;
  job->len[0] = 1;
}
static void products_plain(const Job *job) { products_from(job, job->in[0], 0, 0); }
#ifdef __AVX2__
// The first segment with a product above the limit is processed element by element.
static void products_simd(const Job *job) {
  const double *x = job->in[0], *factors = job->in[2];
  const uint64_t *lens = job->in[1];
  V sum = {0};
  size_t s = 0;
  for (; s < job->in_len[1]; x += lens[s++]) {
    V here = {0}, most = {0}, factor = all(factors[s] + 1);
    size_t i = 0;
    for (; i + W <= lens[s]; i += W) {
      V v = load(x + i) * factor;
      here += v, most = max_v(most, v);
    }
    V v = load_some(x + i, lens[s] - i) * factor;
    here += v, most = max_v(most, v);
    if (any_above(most, MOST)) break;
    sum += here;
  }
  products_from(job, x, s, sum_of(sum));
}
#endif
const Variant nestedTakeWhile[] = {
  {"strict", products_plain, 0},
#ifdef __AVX2__
  {"reassociated, SIMD", products_simd, 0},
#endif
  {0},
};
