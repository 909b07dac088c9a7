// Partial vectors and sums of several vectors at once, for segments and rows of a few elements.
#pragma once
#include "common.h"

#ifdef __AVX2__
// A mask of the first lanes: empty for no lanes, full for more lanes than the vector has.
#ifdef __AVX512F__
INLINE __mmask8 first_lanes(int64_t lanes) { return (__mmask8)((1u << MAX(0, MIN(lanes, W))) - 1); }
INLINE V load_some(const double *p, int64_t lanes) { return (V)_mm512_maskz_loadu_pd(first_lanes(lanes), p); }
#else
INLINE VI first_lanes(int64_t lanes) { return (VI){0, 1, 2, 3} < lanes - (VI){0}; }
INLINE V load_some(const double *p, int64_t lanes) { return (V)_mm256_maskload_pd(p, (__m256i)first_lanes(lanes)); }
#endif
// Gathers elements at W indices.
INLINE V look_up(const double *table, const uint32_t *places) {
#ifdef __AVX512F__
  return (V)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)places), table, 8);
#else
  return (V)_mm256_i32gather_pd(table, _mm_loadu_si128((const __m128i *)places), 8);
#endif
}
// Gathers the first few elements, and zeros.
INLINE V look_up_some(const double *table, const uint32_t *places, int64_t lanes) {
#ifdef __AVX512F__
  __mmask8 m = first_lanes(lanes);
  __m256i at = _mm256_maskz_loadu_epi32(m, places);
  return (V)_mm512_mask_i32gather_pd(_mm512_setzero_pd(), m, at, table, 8);
#else
  VI m = first_lanes(lanes);
  __m128i halves = _mm_cmpgt_epi32(_mm_set1_epi32((int)MIN(lanes, W)), _mm_setr_epi32(0, 1, 2, 3));
  __m128i at = _mm_maskload_epi32((const int *)places, halves);
  return (V)_mm256_mask_i32gather_pd(_mm256_setzero_pd(), table, at, (__m256d)m, 8);
#endif
}

// The sum of each of W vectors, by a tree over lanes.
INLINE V sums_of(const V *v) {
#ifdef __AVX512F__
  V pairs[4], fours[2];
  for (int k = 0; k < 4; k++)
    pairs[k] = __builtin_shuffle(v[2 * k], v[2 * k + 1], (VI){0, 8, 2, 10, 4, 12, 6, 14}) +
               __builtin_shuffle(v[2 * k], v[2 * k + 1], (VI){1, 9, 3, 11, 5, 13, 7, 15});
  for (int k = 0; k < 2; k++)
    fours[k] = __builtin_shuffle(pairs[2 * k], pairs[2 * k + 1], (VI){0, 1, 8, 9, 4, 5, 12, 13}) +
               __builtin_shuffle(pairs[2 * k], pairs[2 * k + 1], (VI){2, 3, 10, 11, 6, 7, 14, 15});
  return __builtin_shuffle(fours[0], fours[1], (VI){0, 1, 2, 3, 8, 9, 10, 11}) +
         __builtin_shuffle(fours[0], fours[1], (VI){4, 5, 6, 7, 12, 13, 14, 15});
#else
  V pairs[2];
  for (int k = 0; k < 2; k++)
    pairs[k] = (V)_mm256_hadd_pd((__m256d)v[2 * k], (__m256d)v[2 * k + 1]);
  return (V)_mm256_permute2f128_pd((__m256d)pairs[0], (__m256d)pairs[1], 0x20) +
         (V)_mm256_permute2f128_pd((__m256d)pairs[0], (__m256d)pairs[1], 0x31);
#endif
}
#endif
