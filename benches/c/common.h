// Shared code of all kernels: a job, a table of variants, vectors of doubles.
//
// A file holds the kernels of a case or of a family of cases. Each case has a table, named like the
// case, of all its variants. The comparison runs them all, checks their results, and takes the
// fastest. Outputs are aligned to 64 bytes and have 64 extra bytes, so that whole vectors can be
// stored.
#pragma once
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

typedef struct {
  size_t n;                // elements
  int threads;             // for variants that are parallel
  const void *const *in;   // inputs, and the number of elements of each
  const size_t *in_len;
  void *const *out;        // outputs; a variant sets the number of elements written to each
  size_t *len;
} Job;

typedef struct {
  const char *name;        // null ends the table
  void (*run)(const Job *);
  int parallel;
} Variant;

#define INLINE static inline __attribute__((always_inline))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

// Vectors of W doubles.
#ifdef __AVX512F__
#define W 8
#elif defined(__AVX__)
#define W 4
#else
#define W 2
#endif
typedef double V __attribute__((vector_size(8 * W)));
typedef int64_t VI __attribute__((vector_size(8 * W)));
typedef double VU __attribute__((vector_size(8 * W), aligned(8), may_alias));
typedef int64_t VIU __attribute__((vector_size(8 * W), aligned(8), may_alias));

INLINE V load(const double *p) { return *(const VU *)p; }
INLINE void store(double *p, V v) { *(VU *)p = v; }
INLINE VI load_i(const int64_t *p) { return *(const VIU *)p; }
INLINE void store_i(int64_t *p, VI v) { *(VIU *)p = v; }
INLINE V all(double x) { return x - (V){0}; }

// A streaming store. The address must be aligned to the vector's size. `fence` comes before reads
// by others.
INLINE void stream(double *p, V v) {
#ifdef __AVX512F__
  _mm512_stream_pd(p, (__m512d)v);
#elif defined(__AVX__)
  _mm256_stream_pd(p, (__m256d)v);
#else
  store(p, v);
#endif
}
INLINE void stream_i(int64_t *p, VI v) { stream((double *)p, (V)v); }
INLINE void fence(void) {
#ifdef __AVX__
  _mm_sfence();
#endif
}

INLINE double sum_of(V v) {
  double s = 0;
  for (int k = 0; k < W; k++) s += v[k];
  return s;
}
INLINE V max_v(V a, V b) {
#ifdef __AVX512F__
  return (V)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX__)
  return (V)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
  return (V)(((VI)a & (a > b)) | ((VI)b & ~(a > b)));
#endif
}
INLINE double max_of(V v) {
  double m = v[0];
  for (int k = 1; k < W; k++) m = MAX(m, v[k]);
  return m;
}

// Thread t's part of 0..n, in whole cache lines of doubles.
INLINE void part_of(size_t n, int t, int threads, size_t *from, size_t *to) {
  size_t lines = n / 8;
  *from = lines * t / threads * 8;
  *to = t + 1 == threads ? n : lines * (t + 1) / threads * 8;
}

// Waits until the blocks before b are done. Threads without a core yield.
INLINE void wait_for_turn(const size_t *turn, size_t b) {
  for (int spins = 0; __atomic_load_n(turn, __ATOMIC_ACQUIRE) != b; spins++) {
    if (spins > 2000) sched_yield();
#ifdef __AVX__
    _mm_pause();
#endif
  }
}
