// randomPi: the number of points of a square within a quarter circle. randomNormal: the sum of
// normal numbers. Both draw by Philox4x32-10 from a key and an index, and store no number.
#include "common.h"
#include "maths.h"

#define ROUNDS 10
#define FACTOR0 0xd2511f53ull
#define FACTOR1 0xcd9e8d57ull
#define STEP0 0x9e3779b9u
#define STEP1 0xbb67ae85u

typedef struct {
  double x, y;
} Pair;

INLINE Pair pair(uint64_t key, uint64_t index) {
  uint32_t a = (uint32_t)index, b = (uint32_t)(index >> 32), c = 0, d = 0;
  uint32_t k = (uint32_t)key, l = (uint32_t)(key >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t p = FACTOR0 * a, q = FACTOR1 * c;
    a = (uint32_t)(q >> 32) ^ b ^ k, c = (uint32_t)(p >> 32) ^ d ^ l;
    b = (uint32_t)q, d = (uint32_t)p;
    k += STEP0, l += STEP1;
  }
  uint64_t first = (uint64_t)b << 32 | a, second = (uint64_t)d << 32 | c;
  return (Pair){(double)(first >> 11) * 0x1p-53, (double)(second >> 11) * 0x1p-53};
}

static void pi_scalar(const Job *job) {
  const uint64_t n = *(const uint64_t *)job->in[0], key = *(const uint64_t *)job->in[1];
  uint64_t inside = 0;
  for (uint64_t i = 0; i < n; i++) {
    Pair p = pair(key, i);
    inside += p.x * p.x + p.y * p.y < 1.0;
  }
  *(uint64_t *)job->out[0] = inside;
  job->len[0] = 1;
}
static void normal_scalar(const Job *job) {
  const uint64_t n = *(const uint64_t *)job->in[0], key = *(const uint64_t *)job->in[1];
  double sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    Pair p = pair(key, i);
    double radius = sqrt(-2 * log(1 - p.x)), angle = 6.283185307179586 * p.y;
    sum += radius * cos(angle) + radius * sin(angle);
  }
  *(double *)job->out[0] = sum;
  job->len[0] = 1;
}

#ifdef __AVX512DQ__
// Words in the lower halves of 64-bit lanes. The upper halves are arbitrary, since a multiplication
// reads the lower ones.
typedef __m512i Words;
typedef struct {
  Words first, second;
} Drawn;
INLINE Drawn draw(uint64_t key, Words index) {
  const Words f0 = _mm512_set1_epi64(FACTOR0), f1 = _mm512_set1_epi64(FACTOR1);
  Words a = index, b = _mm512_srli_epi64(index, 32), c = _mm512_setzero_si512(), d = c;
  uint32_t k = (uint32_t)key, l = (uint32_t)(key >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < ROUNDS; round++) {
    Words p = _mm512_mul_epu32(a, f0), q = _mm512_mul_epu32(c, f1);
    a = _mm512_ternarylogic_epi64(_mm512_srli_epi64(q, 32), b, _mm512_set1_epi64(k), 0x96);
    c = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p, 32), d, _mm512_set1_epi64(l), 0x96);
    b = q, d = p;
    k += STEP0, l += STEP1;
  }
  const Words low = _mm512_set1_epi64(0xffffffff);
  Words first = _mm512_or_si512(_mm512_slli_epi64(b, 32), _mm512_and_si512(a, low));
  Words second = _mm512_or_si512(_mm512_slli_epi64(d, 32), _mm512_and_si512(c, low));
  return (Drawn){first, second};
}
INLINE __m512d unit(Words x) {
  return _mm512_mul_pd(_mm512_cvtepu64_pd(_mm512_srli_epi64(x, 11)), _mm512_set1_pd(0x1p-53));
}
#define LANES 8
INLINE Words from(uint64_t i) {
  return _mm512_add_epi64(_mm512_set1_epi64((int64_t)i), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
}
INLINE void pi_vectors(const Job *job, const int sets) {
  const uint64_t n = *(const uint64_t *)job->in[0], key = *(const uint64_t *)job->in[1];
  uint64_t inside = 0, i = 0;
  for (; i + sets * LANES <= n; i += sets * LANES) {
#pragma GCC unroll 4
    for (int s = 0; s < sets; s++) {
      Drawn w = draw(key, from(i + s * LANES));
      __m512d x = unit(w.first), y = unit(w.second);
      __m512d all = _mm512_add_pd(_mm512_mul_pd(x, x), _mm512_mul_pd(y, y));
      inside += __builtin_popcount(_mm512_cmp_pd_mask(all, _mm512_set1_pd(1), _CMP_LT_OQ));
    }
  }
  for (; i < n; i++) {
    Pair p = pair(key, i);
    inside += p.x * p.x + p.y * p.y < 1.0;
  }
  *(uint64_t *)job->out[0] = inside;
  job->len[0] = 1;
}
static void pi_simd1(const Job *job) { pi_vectors(job, 1); }
static void pi_simd2(const Job *job) { pi_vectors(job, 2); }
static void pi_simd4(const Job *job) { pi_vectors(job, 4); }
#endif

const Variant randomPi[] = {
  {"scalar", pi_scalar, 0},
#ifdef __AVX512DQ__
  {"SIMD, 1 vector", pi_simd1, 0},
  {"SIMD, 2 vectors", pi_simd2, 0},
  {"SIMD, 4 vectors", pi_simd4, 0},
#endif
  {0},
};
const Variant randomNormal[] = {
  {"scalar", normal_scalar, 0},
  {0},
};
