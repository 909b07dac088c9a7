// A scan within a vector: lanes shifted up with zeros from below, and the last element in all
// lanes.
#pragma once
#include "common.h"

#ifdef __AVX512F__
INLINE VI up_i(VI v, const int by) {
  switch (by) {
  case 1: return (VI)_mm512_alignr_epi64((__m512i)v, _mm512_setzero_si512(), 7);
  case 2: return (VI)_mm512_alignr_epi64((__m512i)v, _mm512_setzero_si512(), 6);
  default: return (VI)_mm512_alignr_epi64((__m512i)v, _mm512_setzero_si512(), 4);
  }
}
INLINE VI last_i(VI v) { return (VI)_mm512_permutexvar_epi64(_mm512_set1_epi64(7), (__m512i)v); }
#elif defined(__AVX2__)
INLINE VI up_i(VI v, const int by) {
  __m256i low = _mm256_permute2x128_si256((__m256i)v, (__m256i)v, 0x08);
  return by == 1 ? (VI)_mm256_alignr_epi8((__m256i)v, low, 8) : (VI)low;
}
INLINE VI last_i(VI v) { return (VI)_mm256_permute4x64_epi64((__m256i)v, 0xff); }
#else
INLINE VI up_i(VI v, const int by) { (void)by; return (VI){0, v[0]}; }
INLINE VI last_i(VI v) { return (VI){v[1], v[1]}; }
#endif
// The prefix sums of a vector's elements.
INLINE VI sums_i(VI v) {
  for (int by = 1; by < W; by *= 2) v += up_i(v, by);
  return v;
}
INLINE V up_f(V v, const int by) { return (V)up_i((VI)v, by); }
INLINE V last_f(V v) { return (V)last_i((VI)v); }
INLINE V sums_f(V v) {
  for (int by = 1; by < W; by *= 2) v += up_f(v, by);
  return v;
}
