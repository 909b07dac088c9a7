// mandelbrot: the escape time of each point, at most 256 steps. mandelbrotGenerated: the same for
// points of which only the number in a row is given.
#include "common.h"

#define LIMIT 256

INLINE uint32_t steps(float cx, float cy) {
  float x = 0, y = 0;
  uint32_t n = 0;
  while (x * x + y * y <= 4.0f && n < LIMIT) {
    float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    n++;
  }
  return n;
}
// The points of a square, row by row. `low` is the start of its rows or columns.
INLINE float place(uint64_t k, uint64_t side, float low) { return 3.0f * (float)k / (float)side + low; }
#define LEFT -2.25f
#define TOP -1.5f
static void generated_part(const Job *job, size_t from, size_t to) {
  const uint64_t side = *(const uint64_t *)job->in[0];
  uint32_t *out = job->out[0];
  for (size_t i = from; i < to; i++) out[i] = steps(place(i % side, side, LEFT), place(i / side, side, TOP));
}
static void scalar_part(const Job *job, size_t from, size_t to) {
  const float *cx = job->in[0], *cy = job->in[1];
  uint32_t *out = job->out[0];
  for (size_t i = from; i < to; i++) out[i] = steps(cx[i], cy[i]);
}

// Several vectors of points at a time, until all points have escaped.
#define MOST 4
#ifdef __AVX2__
#define FW (2 * W)
typedef float F __attribute__((vector_size(4 * FW)));
typedef int32_t FI __attribute__((vector_size(4 * FW)));
typedef float FU __attribute__((vector_size(4 * FW), aligned(4), may_alias));
typedef int32_t FIU __attribute__((vector_size(4 * FW), aligned(4), may_alias));
INLINE int any(FI m) {
#ifdef __AVX512F__
  return _mm512_test_epi32_mask((__m512i)m, (__m512i)m) != 0;
#else
  return !_mm256_testz_si256((__m256i)m, (__m256i)m);
#endif
}
INLINE void escape(F *cx, F *cy, uint32_t *out, const int sets) {
  F x[MOST], y[MOST];
  FI n[MOST], in[MOST];
#pragma GCC unroll 4
  for (int s = 0; s < sets; s++) {
    x[s] = y[s] = (F){0};
    n[s] = (FI){0}, in[s] = ~(FI){0};
  }
  for (int turn = 0; turn < LIMIT; turn++) {
    FI left = {0};
#pragma GCC unroll 4
    for (int s = 0; s < sets; s++) {
      F xx = x[s] * x[s], yy = y[s] * y[s];
      in[s] &= xx + yy <= 4.0f;
      n[s] -= in[s];
      left |= in[s];
      y[s] = 2 * x[s] * y[s] + cy[s];
      x[s] = xx - yy + cx[s];
    }
    if (!any(left)) break;
  }
#pragma GCC unroll 4
  for (int s = 0; s < sets; s++) *(FIU *)(out + s * FW) = n[s];
}
INLINE void vectors(const Job *job, size_t from, size_t to, const int sets) {
  const float *px = job->in[0], *py = job->in[1];
  uint32_t *out = job->out[0];
  size_t i = from;
  for (; i + sets * FW <= to; i += sets * FW) {
    F cx[MOST], cy[MOST];
#pragma GCC unroll 4
    for (int s = 0; s < sets; s++) cx[s] = *(const FU *)(px + i + s * FW), cy[s] = *(const FU *)(py + i + s * FW);
    escape(cx, cy, out + i, sets);
  }
  scalar_part(job, i, to);
}
// Row by row, so that the only divisions are those of the coordinates.
INLINE void vectors_of_rows(const Job *job, size_t from, size_t to, const int sets) {
  const uint64_t side = *(const uint64_t *)job->in[0];
  uint32_t *out = job->out[0];
  for (size_t i = from; i < to;) {
    const size_t row = i / side, first = row * side, end = MIN(first + side, to);
    const F y = place(row, side, TOP) - (F){0};
    for (; i + sets * FW <= end; i += sets * FW) {
      F cx[MOST], cy[MOST];
#pragma GCC unroll 4
      for (int s = 0; s < sets; s++) {
        FI at;
        for (int k = 0; k < FW; k++) at[k] = (int32_t)(i - first) + s * FW + k;
        cx[s] = 3.0f * __builtin_convertvector(at, F) / (float)side + LEFT;
        cy[s] = y;
      }
      escape(cx, cy, out + i, sets);
    }
    generated_part(job, i, end);
    i = end;
  }
}
static void rows1(const Job *job, size_t from, size_t to) { vectors_of_rows(job, from, to, 1); }
static void rows2(const Job *job, size_t from, size_t to) { vectors_of_rows(job, from, to, 2); }
static void rows4(const Job *job, size_t from, size_t to) { vectors_of_rows(job, from, to, 4); }
static void part2(const Job *job, size_t from, size_t to) { vectors(job, from, to, 2); }
static void part4(const Job *job, size_t from, size_t to) { vectors(job, from, to, 4); }
#endif

typedef void Part(const Job *, size_t, size_t);
INLINE void run(const Job *job, Part *part) { part(job, 0, job->n), job->len[0] = job->n; }
// Some parts take far longer than others, hence the dynamic schedule.
INLINE void run_parallel(const Job *job, Part *part) {
  const size_t size = 256;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic)
  for (size_t i = 0; i < job->n; i += size) part(job, i, MIN(i + size, job->n));
  job->len[0] = job->n;
}
static void scalar(const Job *job) { run(job, scalar_part); }
static void scalar_omp(const Job *job) { run_parallel(job, scalar_part); }
static void generated(const Job *job) { run(job, generated_part); }
#ifdef __AVX2__
static void simd2(const Job *job) { run(job, part2); }
static void simd4(const Job *job) { run(job, part4); }
static void generated1(const Job *job) { run(job, rows1); }
static void generated2(const Job *job) { run(job, rows2); }
static void generated4(const Job *job) { run(job, rows4); }
static void simd2_omp(const Job *job) { run_parallel(job, part2); }
static void simd4_omp(const Job *job) { run_parallel(job, part4); }
#endif

const Variant mandelbrot[] = {
  {"scalar", scalar, 0},
  {"scalar, OpenMP", scalar_omp, 1},
#ifdef __AVX2__
  {"SIMD, 2 vectors", simd2, 0},
  {"SIMD, 4 vectors", simd4, 0},
  {"SIMD, 2 vectors, OpenMP", simd2_omp, 1},
  {"SIMD, 4 vectors, OpenMP", simd4_omp, 1},
#endif
  {0},
};

const Variant mandelbrotGenerated[] = {
  {"scalar", generated, 0},
#ifdef __AVX2__
  {"SIMD, 1 vector", generated1, 0},
  {"SIMD, 2 vectors", generated2, 0},
  {"SIMD, 4 vectors", generated4, 0},
#endif
  {0},
};
