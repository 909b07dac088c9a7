// Mixtures: see benches/src/cases/mixtures.rs.
#include "filter.h"
#include "lanes.h"
#include "scan.h"

#ifdef __AVX2__
typedef uint64_t VW __attribute__((vector_size(8 * W)));
INLINE int any(VI m) {
#ifdef __AVX512F__
  return _mm512_test_epi64_mask((__m512i)m, (__m512i)m) != 0;
#else
  return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#endif
}
#endif

// whileSum: the number of steps to 1 by Collatz' rule, at most 64, and the sum of all numbers.
#define LIMIT 64
INLINE int64_t steps(int64_t x) {
  int64_t n = 0;
  for (; x > 1 && n < LIMIT; n++) x = x & 1 ? 3 * x + 1 : x >> 1;
  return n;
}
INLINE int64_t while_part(const Job *job, size_t from) {
  const int64_t *x = job->in[0];
  int64_t *out = job->out[0], sum = 0;
  for (size_t i = from; i < job->n; i++) out[i] = steps(x[i]), sum += x[i];
  return sum;
}
static void while_done(const Job *job, int64_t sum) {
  *(int64_t *)job->out[1] = sum;
  job->len[0] = job->n, job->len[1] = 1;
}
static void while_plain(const Job *job) { while_done(job, while_part(job, 0)); }
#ifdef __AVX2__
#define MOST 4
INLINE void while_vectors(const Job *job, const int sets) {
  const int64_t *px = job->in[0];
  int64_t *out = job->out[0];
  VI sum = {0};
  size_t i = 0;
  for (; i + sets * W <= job->n; i += sets * W) {
    VI x[MOST], n[MOST];
#pragma GCC unroll 4
    for (int s = 0; s < sets; s++) {
      x[s] = load_i(px + i + s * W), n[s] = (VI){0};
      sum += x[s];
    }
    for (int turn = 0; turn < LIMIT; turn++) {
      VI left = {0};
#pragma GCC unroll 4
      for (int s = 0; s < sets; s++) {
        VI in = x[s] > 1, odd = -(x[s] & 1);
        VI up = x[s] + x[s] + x[s] + 1, down = (VI)((VW)x[s] >> 1);
        VI next = (odd & up) | (~odd & down);
        n[s] -= in, left |= in;
        x[s] = (in & next) | (~in & x[s]);
      }
      if (!any(left)) break;
    }
#pragma GCC unroll 4
    for (int s = 0; s < sets; s++) store_i(out + i + s * W, n[s]);
  }
  int64_t rest = while_part(job, i);
  for (int k = 0; k < W; k++) rest += sum[k];
  while_done(job, rest);
}
static void while_simd2(const Job *job) { while_vectors(job, 2); }
static void while_simd4(const Job *job) { while_vectors(job, 4); }
#endif
const Variant whileSum[] = {
  {"scalar", while_plain, 0},
#ifdef __AVX2__
  {"SIMD, 2 vectors", while_simd2, 0},
  {"SIMD, 4 vectors", while_simd4, 0},
#endif
  {0},
};

// segmentFilter: the elements above 0.5, and their sum in each segment. The second input is the
// lengths.
static void kept_branches(const Job *job) {
  const double *x = job->in[0];
  const uint64_t *lens = job->in[1];
  double *sums = job->out[0], *out = job->out[1];
  size_t k = 0;
  for (size_t s = 0; s < job->in_len[1]; x += lens[s++]) {
    double sum = 0;
    for (size_t i = 0; i < lens[s]; i++)
      if (x[i] > 0.5) sum += x[i], out[k++] = x[i];
    sums[s] = sum;
  }
  job->len[0] = job->in_len[1], job->len[1] = k;
}
static void kept_scalar(const Job *job) {
  const double *x = job->in[0];
  const uint64_t *lens = job->in[1];
  double *sums = job->out[0], *out = job->out[1];
  size_t k = 0;
  for (size_t s = 0; s < job->in_len[1]; x += lens[s++]) {
    double sum = 0;
    for (size_t i = 0; i < lens[s]; i++) {
      out[k] = x[i];
      k += x[i] > 0.5;
      sum += x[i] > 0.5 ? x[i] : 0;
    }
    sums[s] = sum;
  }
  job->len[0] = job->in_len[1], job->len[1] = k;
}
#ifdef COMPACTS
static void kept_simd(const Job *job) {
  const double *x = job->in[0];
  const uint64_t *lens = job->in[1];
  double *sums = job->out[0], *out = job->out[1];
  const V low = all(0.5);
  size_t k = 0;
  for (size_t s = 0; s < job->in_len[1]; x += lens[s++]) {
    V sum = {0};
    size_t i = 0;
    for (; i + W <= lens[s]; i += W) {
      V v = load(x + i);
      M m = gt(v, low);
      sum += only(m, v);
      pack(out + k, v, bits(m));
      k += count(bits(m));
    }
    if (i < lens[s]) {
      // Lanes past the end are 0 and dropped.
      V v = load_some(x + i, lens[s] - i);
      M m = gt(v, low);
      sum += only(m, v);
      pack(out + k, v, bits(m));
      k += count(bits(m));
    }
    sums[s] = sum_of(sum);
  }
  job->len[0] = job->in_len[1], job->len[1] = k;
}
#endif
const Variant segmentFilter[] = {
  {"branches", kept_branches, 0},
  {"branch-free", kept_scalar, 0},
#ifdef COMPACTS
  {"SIMD", kept_simd, 0},
#endif
  {0},
};

// maxTrap: elements at given indices, and the largest. An index out of bounds ends the job.
INLINE double found_part(const Job *job, size_t from, double most) {
  const double *table = job->in[0];
  const uint32_t *places = job->in[1];
  double *out = job->out[0];
  const size_t room = job->in_len[0];
  for (size_t i = from; i < job->n; i++) {
    if (places[i] >= room) return NAN;
    out[i] = table[places[i]];
    most = MAX(most, out[i]);
  }
  return most;
}
static void found_done(const Job *job, double most) {
  *(double *)job->out[1] = most;
  job->len[0] = job->n, job->len[1] = 1;
}
static void found_plain(const Job *job) { found_done(job, found_part(job, 0, -INFINITY)); }
// Indices are checked block by block, so that the reading loop has no exit.
INLINE void found_blocks(const Job *job, const int gathers) {
  const double *table = job->in[0];
  const uint32_t *places = job->in[1];
  double *out = job->out[0];
  const size_t room = job->in_len[0];
  (void)gathers;
  V most[2] = {all(-INFINITY), all(-INFINITY)};
  size_t i = 0;
  for (const size_t block = 256; i + block <= job->n; i += block) {
    uint32_t last = 0;
    for (size_t j = 0; j < block; j++) last = MAX(last, places[i + j]);
    if (last >= room) return found_done(job, NAN);
    for (size_t j = i; j < i + block; j += 2 * W)
#pragma GCC unroll 2
      for (int k = 0; k < 2; k++) {
        V v;
#ifdef __AVX2__
        if (gathers) v = look_up(table, places + j + k * W);
        else
#endif
          for (int l = 0; l < W; l++) v[l] = table[places[j + k * W + l]];
        store(out + j + k * W, v);
        most[k] = max_v(most[k], v);
      }
  }
  found_done(job, found_part(job, i, max_of(max_v(most[0], most[1]))));
}
static void found_scalar(const Job *job) { found_blocks(job, 0); }
static void found_gather(const Job *job) { found_blocks(job, 1); }
const Variant maxTrap[] = {
  {"strict", found_plain, 0},
  {"blocks", found_scalar, 0},
  {"blocks, gather", found_gather, 0},
  {0},
};

// filterCastScan: the prefix sums of the positive ones of small integers, as large integers.
static void positive_scalar(const Job *job) {
  const int32_t *x = job->in[0];
  int64_t *out = job->out[0], sum = 0;
  size_t k = 0;
  for (size_t i = 0; i < job->n; i++) {
    sum += x[i] > 0 ? x[i] : 0;
    out[k] = sum;
    k += x[i] > 0;
  }
  job->len[0] = k;
}
#ifdef COMPACTS
INLINE VI widened(const int32_t *p) {
#ifdef __AVX512F__
  return (VI)_mm512_cvtepi32_epi64(_mm256_loadu_si256((const __m256i *)p));
#else
  return (VI)_mm256_cvtepi32_epi64(_mm_loadu_si128((const __m128i *)p));
#endif
}
INLINE unsigned positive(VI v) {
#ifdef __AVX512F__
  return _mm512_cmpgt_epi64_mask((__m512i)v, _mm512_setzero_si512());
#else
  return bits(v > 0);
#endif
}
// Dropped elements add nothing, so that prefix sums of all are those of the kept ones.
static void positive_simd(const Job *job) {
  const int32_t *x = job->in[0];
  int64_t *out = job->out[0];
  VI carry = {0};
  size_t i = 0, k = 0;
  for (; i + 2 * W <= job->n; i += 2 * W) {
    VI a = widened(x + i), b = widened(x + i + W);
    unsigned ka = positive(a), kb = positive(b);
    a = sums_i(a & (a > 0)), b = sums_i(b & (b > 0));
    VI last = last_i(a);
    pack((double *)out + k, (V)(a + carry), ka);
    pack((double *)out + k + count(ka), (V)(b + (carry + last)), kb);
    carry += last + last_i(b);
    k += count(ka | kb << W);
  }
  int64_t sum = carry[0];
  for (; i < job->n; i++)
    if (x[i] > 0) out[k++] = sum += x[i];
  job->len[0] = k;
}
#endif
const Variant filterCastScan[] = {
  {"branch-free", positive_scalar, 0},
#ifdef COMPACTS
  {"SIMD", positive_simd, 0},
#endif
  {0},
};

// histogramSum: the counts of 256 keys, and the sum of the keys.
#define BINS 256
INLINE void counted(const Job *job, const int tables) {
  const uint32_t *keys = job->in[0];
  uint32_t counts[8][BINS] = {{0}};
  uint64_t *out = job->out[0], sum = 0;
  size_t i = 0;
  for (; i + tables <= job->n; i += tables)
#pragma GCC unroll 8
    for (int k = 0; k < tables; k++) counts[k][keys[i + k]]++, sum += keys[i + k];
  for (; i < job->n; i++) counts[0][keys[i]]++, sum += keys[i];
  for (size_t b = 0; b < BINS; b++) {
    out[b] = 0;
    for (int k = 0; k < tables; k++) out[b] += counts[k][b];
  }
  *(uint64_t *)job->out[1] = sum;
  job->len[0] = BINS, job->len[1] = 1;
}
static void counted_1(const Job *job) { counted(job, 1); }
static void counted_4(const Job *job) { counted(job, 4); }
static void counted_8(const Job *job) { counted(job, 8); }
const Variant histogramSum[] = {
  {"plain", counted_1, 0},
  {"4 tables", counted_4, 0},
  {"8 tables", counted_8, 0},
  {0},
};

// segmentGather: elements at given indices, and their sum in each segment. The second input is the
// lengths.
INLINE void gathered(const Job *job, double sum(const double *, const uint32_t *, size_t, double *)) {
  const double *table = job->in[0];
  const uint64_t *lens = job->in[1];
  const uint32_t *places = job->in[2];
  double *sums = job->out[0], *out = job->out[1];
  const size_t n = job->in_len[2];
  uint32_t last = 0;
  for (size_t i = 0; i < n; i++) last = MAX(last, places[i]);
  if (n != 0 && last >= job->in_len[0]) return;
  for (size_t s = 0; s < job->in_len[1]; s++) {
    sums[s] = sum(table, places, lens[s], out);
    places += lens[s], out += lens[s];
  }
  job->len[0] = job->in_len[1], job->len[1] = n;
}
INLINE double row_strict(const double *table, const uint32_t *places, size_t n, double *out) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += out[i] = table[places[i]];
  return s;
}
INLINE double row_lanes(const double *table, const uint32_t *places, size_t n, double *out) {
  double s[4] = {0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) s[k] += out[i + k] = table[places[i + k]];
  for (; i < n; i++) s[0] += out[i] = table[places[i]];
  return (s[0] + s[1]) + (s[2] + s[3]);
}
static void gathered_strict(const Job *job) { gathered(job, row_strict); }
static void gathered_lanes(const Job *job) { gathered(job, row_lanes); }
#ifdef __AVX2__
INLINE double row_simd(const double *table, const uint32_t *places, size_t n, double *out) {
  V s = {0};
  size_t i = 0;
  for (; i + W <= n; i += W) {
    V v = look_up(table, places + i);
    store(out + i, v);
    s += v;
  }
  double rest = 0;
  for (; i < n; i++) rest += out[i] = table[places[i]];
  return sum_of(s) + rest;
}
static void gathered_simd(const Job *job) { gathered(job, row_simd); }
#endif
const Variant segmentGather[] = {
  {"strict", gathered_strict, 0},
  {"reassociated", gathered_lanes, 0},
#ifdef __AVX2__
  {"reassociated, gather", gathered_simd, 0},
#endif
  {0},
};

// filtersScanFolds: the elements above 0.5, those below 0.25, the sum of each, all prefix sums, the
// maximum.
typedef struct {
  size_t large, small;
  double above, below, sum, most;
} Many;
INLINE void many_part(const Job *job, size_t from, Many s) {
  const double *x = job->in[0];
  double *large = job->out[0], *small = job->out[1], *sums = job->out[2];
  for (size_t i = from; i < job->n; i++) {
    large[s.large] = x[i], small[s.small] = x[i];
    s.large += x[i] > 0.5, s.small += x[i] < 0.25;
    s.above += x[i] > 0.5 ? x[i] : 0, s.below += x[i] < 0.25 ? x[i] : 0;
    sums[i] = s.sum += x[i];
    s.most = MAX(s.most, x[i]);
  }
  const double folds[] = {s.above, s.below, s.most};
  for (int k = 0; k < 3; k++) *(double *)job->out[3 + k] = folds[k], job->len[3 + k] = 1;
  job->len[0] = s.large, job->len[1] = s.small, job->len[2] = job->n;
}
static void many_scalar(const Job *job) { many_part(job, 0, (Many){.most = -INFINITY}); }
#ifdef COMPACTS
static void many_simd(const Job *job) {
  const double *x = job->in[0];
  double *large = job->out[0], *small = job->out[1], *sums = job->out[2];
  const V high = all(0.5), low = all(0.25);
  V above[2] = {0}, below[2] = {0}, most[2] = {all(-INFINITY), all(-INFINITY)}, carry = {0};
  size_t i = 0, k = 0, l = 0;
  for (; i + 2 * W <= job->n; i += 2 * W) {
    V v[2], own[2];
#pragma GCC unroll 2
    for (int p = 0; p < 2; p++) {
      v[p] = load(x + i + p * W);
      M m = gt(v[p], high), n = gt(low, v[p]);
      pack(large + k, v[p], bits(m));
      pack(small + l, v[p], bits(n));
      k += count(bits(m)), l += count(bits(n));
      above[p] += only(m, v[p]), below[p] += only(n, v[p]);
      most[p] = max_v(most[p], v[p]);
      own[p] = sums_f(v[p]);
    }
    V last = last_f(own[0]);
    store(sums + i, own[0] + carry);
    store(sums + i + W, own[1] + last + carry);
    carry += last + last_f(own[1]);
  }
  many_part(job, i, (Many){
    k, l, sum_of(above[0] + above[1]), sum_of(below[0] + below[1]), carry[0], max_of(max_v(most[0], most[1])),
  });
}
#endif
const Variant filtersScanFolds[] = {
  {"branch-free", many_scalar, 0},
#ifdef COMPACTS
  {"reassociated, SIMD", many_simd, 0},
#endif
  {0},
};
