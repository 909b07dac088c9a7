// Functions of libm that gcc can vectorise: in loops marked `omp simd` it calls libmvec's versions.
#pragma once
#include "common.h"

#if defined(__x86_64__) && defined(__GLIBC__)
#define VECTORS __attribute__((simd("notinbranch")))
VECTORS double exp(double);
VECTORS double log(double);
VECTORS float expf(float);
VECTORS float logf(float);
#endif

// Exponentials and logarithms of whole vectors, for finite arguments without overflow. Results
// below the smallest normal number become that number; logarithms need arguments above 0. A power
// of two is split off, and a polynomial computes the rest. Errors are below 2 units in the last
// place.
#ifdef __AVX2__
#define FW (2 * W)
typedef uint64_t VW __attribute__((vector_size(8 * W)));
typedef float F __attribute__((vector_size(4 * FW)));
typedef int32_t FI __attribute__((vector_size(4 * FW)));
typedef float FU __attribute__((vector_size(4 * FW), aligned(4), may_alias));
INLINE F load_f(const float *p) { return *(const FU *)p; }
INLINE void store_f(float *p, F v) { *(FU *)p = v; }

#ifdef __AVX512F__
INLINE V at_least(V x, double least) { return (V)_mm512_max_pd((__m512d)x, _mm512_set1_pd(least)); }
INLINE F at_least_f(F x, float least) { return (F)_mm512_max_ps((__m512)x, _mm512_set1_ps(least)); }
#else
INLINE V at_least(V x, double least) { return (V)_mm256_max_pd((__m256d)x, _mm256_set1_pd(least)); }
INLINE F at_least_f(F x, float least) { return (F)_mm256_max_ps((__m256)x, _mm256_set1_ps(least)); }
#endif
INLINE V vector_exp(V x) {
  x = at_least(x, -708.0);
  // Adding it leaves the nearest integer in the last bits.
  const double rounds = 0x1.8p52;
  V shifted = x * 0x1.71547652b82fep0 + rounds, n = shifted - rounds;
  V r = x - n * 0x1.62e42fefa39efp-1 - n * 0x1.abc9e3b39803fp-56;
  V r2 = r * r, r4 = r2 * r2;
  V low = (1.0 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
  V middle = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
  V high = (1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800));
  V power = low + r4 * (middle + r4 * (high + r4 * (1.0 / 479001600)));
  return (V)((VI)power + ((VI)shifted << 52));
}
INLINE V vector_log(V x) {
  // Mantissas range from the root of 1/2 to that of 2.
  const int64_t one = 0x3ff0000000000000, root = 0x3fe6a09e667f3bcd;
  VI above = (VI)x + (one - root), exponent = (VI)((VW)above >> 52);
  V n = (V)(exponent | 0x4330000000000000) - (0x1p52 + 1023);
  V f = (V)((VI)x - ((exponent - 1023) << 52)) - 1.0;
  V s = f / (2.0 + f), z = s * s, w = z * z, half = 0.5 * f * f;
  V even = w * (0x1.999999997fa04p-2 + w * (0x1.c71c51d8e78afp-3 + w * 0x1.39a09d078c69fp-3));
  V odd = z * (0x1.5555555555593p-1 + w * (0x1.2492494229359p-2 + w * (0x1.7466496cb03dep-3 + w * 0x1.2f112df3e5244p-3)));
  return n * 0x1.62e42fefa39efp-1 - (half - s * (half + even + odd) - f);
}
INLINE F vector_expf(F x) {
  x = at_least_f(x, -87.0f);
  const float rounds = 0x1.8p23f;
  F shifted = x * 0x1.715476p0f + rounds, n = shifted - rounds;
  F r = x - n * 0x1.62e400p-1f - n * 0x1.7f7d1cp-20f, r2 = r * r;
  F high = (1.0f / 24 + r * (1.0f / 120)) + r2 * (1.0f / 720 + r * (1.0f / 5040));
  F power = (1.0f + r) + r2 * ((1.0f / 2 + r * (1.0f / 6)) + r2 * high);
  return (F)((FI)power + ((FI)shifted << 23));
}
INLINE F vector_logf(F x) {
  const int32_t one = 0x3f800000, root = 0x3f3504f3;
  FI exponent = (((FI)x + (one - root)) >> 23) - 127;
  F n = __builtin_convertvector(exponent, F), f = (F)((FI)x - (exponent << 23)) - 1.0f;
  F s = f / (2.0f + f), z = s * s, w = z * z, half = 0.5f * f * f;
  F rest = w * (0xccce13.0p-25f + w * 0xf89e26.0p-26f) + z * (0xaaaaaa.0p-24f + w * 0x91e9ee.0p-25f);
  return n * 0x1.62e430p-1f - (half - s * (half + rest) - f);
}
#ifdef __AVX512F__
INLINE V vector_sqrt(V x) { return (V)_mm512_sqrt_pd((__m512d)x); }
INLINE F vector_sqrtf(F x) { return (F)_mm512_sqrt_ps((__m512)x); }
// Selects b where the sign of a is set.
INLINE V where_negative(V a, V b, V c) {
  return (V)_mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)a), (__m512d)c, (__m512d)b);
}
INLINE F where_negativef(F a, F b, F c) {
  return (F)_mm512_mask_blend_ps(_mm512_movepi32_mask((__m512i)a), (__m512)c, (__m512)b);
}
#else
INLINE V vector_sqrt(V x) { return (V)_mm256_sqrt_pd((__m256d)x); }
INLINE F vector_sqrtf(F x) { return (F)_mm256_sqrt_ps((__m256)x); }
INLINE V where_negative(V a, V b, V c) { return (V)_mm256_blendv_pd((__m256d)c, (__m256d)b, (__m256d)a); }
INLINE F where_negativef(F a, F b, F c) { return (F)_mm256_blendv_ps((__m256)c, (__m256)b, (__m256)a); }
#endif
#endif
