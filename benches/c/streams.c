// Streams: see benches/src/cases/streams.rs.
#include "filter.h"
#include "scan.h"

// mergeSum: merges two sorted columns and sums the last bytes of all elements.
static void merged(const Job *job, size_t i, size_t j, size_t k, uint64_t sum) {
  const uint64_t *x = job->in[0], *y = job->in[1];
  uint64_t *out = job->out[0];
  for (; i < job->in_len[0] && j < job->in_len[1]; k++) {
    uint64_t a = x[i], b = y[j];
    out[k] = a <= b ? a : b;
    i += a <= b, j += !(a <= b);
    sum += out[k] & 0xff;
  }
  for (; i < job->in_len[0]; i++) sum += (out[k++] = x[i]) & 0xff;
  for (; j < job->in_len[1]; j++) sum += (out[k++] = y[j]) & 0xff;
  *(uint64_t *)job->out[1] = sum;
  job->len[0] = k, job->len[1] = 1;
}
static void merge_free(const Job *job) { merged(job, 0, 0, 0, 0); }
static void merge_branches(const Job *job) {
  const uint64_t *x = job->in[0], *y = job->in[1];
  uint64_t *out = job->out[0], sum = 0;
  size_t i = 0, j = 0, k = 0;
  while (i < job->in_len[0] && j < job->in_len[1]) {
    if (x[i] <= y[j]) sum += (out[k++] = x[i++]) & 0xff;
    else sum += (out[k++] = y[j++]) & 0xff;
  }
  merged(job, i, j, k, sum);
}
// Merges from both ends at once: two independent recurrences. The split is known beforehand: the
// number of each column's elements in the first half.
static void merge_ends(const Job *job) {
  const uint64_t *x = job->in[0], *y = job->in[1];
  uint64_t *out = job->out[0], sum = 0;
  const size_t nx = job->in_len[0], ny = job->in_len[1], half = (nx + ny) / 2;
  size_t low = half > ny ? half - ny : 0, high = MIN(half, nx);
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (x[middle] <= y[half - middle - 1]) low = middle + 1;
    else high = middle;
  }
  const size_t mx = low, my = half - low;
  size_t i = 0, j = 0, k = 0, p = nx, q = ny, r = nx + ny;
  while (i < mx && j < my && p > mx && q > my) {
    uint64_t a = x[i], b = y[j], c = x[p - 1], d = y[q - 1];
    uint64_t first = a <= b ? a : b, last = c <= d ? d : c;
    out[k++] = first, out[--r] = last;
    i += a <= b, j += !(a <= b);
    p -= !(c <= d), q -= c <= d;
    sum += (first & 0xff) + (last & 0xff);
  }
  for (; i < mx || j < my; k++) {
    int takes_x = j == my || (i < mx && x[i] <= y[j]);
    out[k] = takes_x ? x[i++] : y[j++];
    sum += out[k] & 0xff;
  }
  while (p > mx || q > my) {
    int takes_y = p == mx || (q > my && x[p - 1] <= y[q - 1]);
    out[--r] = takes_y ? y[--q] : x[--p];
    sum += out[r] & 0xff;
  }
  *(uint64_t *)job->out[1] = sum;
  job->len[0] = nx + ny, job->len[1] = 1;
}
const Variant mergeSum[] = {
  {"branches", merge_branches, 0},
  {"branch-free", merge_free, 0},
  {"branch-free, from both ends", merge_ends, 0},
  {0},
};

// appendFilters: the elements above 0.5 of one column, then those below of the other, and the sum
// of all.
static void appended_branches(const Job *job) {
  double *out = job->out[0], sum = 0;
  size_t k = 0;
  for (int part = 0; part < 2; part++) {
    const double *x = job->in[part];
    for (size_t i = 0; i < job->in_len[part]; i++)
      if (part == 0 ? x[i] > 0.5 : x[i] < 0.5) sum += x[i], out[k++] = x[i];
  }
  *(double *)job->out[1] = sum;
  job->len[0] = k, job->len[1] = 1;
}
#ifdef COMPACTS
static void appended_simd(const Job *job) {
  double *out = job->out[0], rest = 0;
  const V half = all(0.5);
  V sum[2] = {0};
  size_t k = 0;
  for (int part = 0; part < 2; part++) {
    const double *x = job->in[part];
    const size_t n = job->in_len[part];
    size_t i = 0;
    for (; i + 2 * W <= n; i += 2 * W)
#pragma GCC unroll 2
      for (int p = 0; p < 2; p++) {
        V v = load(x + i + p * W);
        M m = part == 0 ? gt(v, half) : gt(half, v);
        sum[p] += only(m, v);
        pack(out + k, v, bits(m));
        k += count(bits(m));
      }
    for (; i < n; i++)
      if (part == 0 ? x[i] > 0.5 : x[i] < 0.5) rest += x[i], out[k++] = x[i];
  }
  *(double *)job->out[1] = sum_of(sum[0] + sum[1]) + rest;
  job->len[0] = k, job->len[1] = 1;
}
#endif
const Variant appendFilters[] = {
  {"strict, branches", appended_branches, 0},
#ifdef COMPACTS
  {"reassociated, SIMD", appended_simd, 0},
#endif
  {0},
};

// suffixSums: for each element the sum from it to the end, and the largest of these.
static void suffix_part(const Job *job, size_t i, int64_t sum, int64_t most) {
  const int64_t *x = job->in[0];
  int64_t *out = job->out[0];
  while (i-- > 0) {
    out[i] = sum += x[i];
    most = MAX(most, sum);
  }
  *(int64_t *)job->out[1] = most;
  job->len[0] = job->n, job->len[1] = 1;
}
static void suffix_plain(const Job *job) { suffix_part(job, job->n, 0, 0); }
#ifdef __AVX2__
INLINE VI reversed(VI v) {
#ifdef __AVX512F__
  return (VI)_mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), (__m512i)v);
#else
  return (VI)_mm256_permute4x64_epi64((__m256i)v, 0x1b);
#endif
}
INLINE VI larger(VI a, VI b) {
#ifdef __AVX512F__
  return (VI)_mm512_max_epi64((__m512i)a, (__m512i)b);
#else
  return (VI)_mm256_blendv_epi8((__m256i)b, (__m256i)a, (__m256i)(a > b));
#endif
}
static void suffix_simd(const Job *job) {
  const int64_t *x = job->in[0];
  int64_t *out = job->out[0];
  VI carry = {0}, most[2] = {0};
  size_t i = job->n;
  for (; i >= 2 * W; i -= 2 * W) {
    VI a = sums_i(reversed(load_i(x + i - W))), b = sums_i(reversed(load_i(x + i - 2 * W)));
    VI last = last_i(a);
    VI next = carry + last + last_i(b);
    a += carry, b += carry + last;
    carry = next;
    store_i(out + i - W, reversed(a)), store_i(out + i - 2 * W, reversed(b));
    most[0] = larger(most[0], a), most[1] = larger(most[1], b);
  }
  VI both = larger(most[0], most[1]);
  int64_t largest = 0;
  for (int k = 0; k < W; k++) largest = MAX(largest, both[k]);
  suffix_part(job, i, carry[0], largest);
}
#endif
const Variant suffixSums[] = {
  {"plain", suffix_plain, 0},
#ifdef __AVX2__
  {"SIMD", suffix_simd, 0},
#endif
  {0},
};
