// Filters: compaction of a vector, and blocks of a filter on one thread, with streaming stores, and
// on many threads.
#pragma once
#include "common.h"

#ifdef __AVX2__
#define COMPACTS 1
#ifdef __AVX512F__
typedef __mmask8 M;
INLINE M gt(V a, V b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ); }
INLINE M both(M a, M b) { return a & b; }
INLINE unsigned bits(M m) { return m; }
INLINE V only(M m, V v) { return (V)_mm512_maskz_mov_pd(m, (__m512d)v); }
INLINE V choose(M m, V a, V b) { return (V)_mm512_mask_blend_pd(m, (__m512d)b, (__m512d)a); }
INLINE void pack(double *p, V v, unsigned m) {
  _mm512_storeu_pd(p, _mm512_maskz_compress_pd((__mmask8)m, (__m512d)v));
}
#else
typedef VI M;
INLINE M gt(V a, V b) { return a > b; }
INLINE M both(M a, M b) { return a & b; }
INLINE unsigned bits(M m) { return (unsigned)_mm256_movemask_pd((__m256d)m); }
INLINE V only(M m, V v) { return (V)(m & (VI)v); }
INLINE V choose(M m, V a, V b) { return (V)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m); }
// The positions of the kept doubles' halves, by the mask.
#define D(k) 2 * (k), 2 * (k) + 1
static const int32_t shuffles[16][8] __attribute__((aligned(32))) = {
  {D(0), D(0), D(0), D(0)}, {D(0), D(0), D(0), D(0)}, {D(1), D(0), D(0), D(0)}, {D(0), D(1), D(0), D(0)},
  {D(2), D(0), D(0), D(0)}, {D(0), D(2), D(0), D(0)}, {D(1), D(2), D(0), D(0)}, {D(0), D(1), D(2), D(0)},
  {D(3), D(0), D(0), D(0)}, {D(0), D(3), D(0), D(0)}, {D(1), D(3), D(0), D(0)}, {D(0), D(1), D(3), D(0)},
  {D(2), D(3), D(0), D(0)}, {D(0), D(2), D(3), D(0)}, {D(1), D(2), D(3), D(0)}, {D(0), D(1), D(2), D(3)},
};
#undef D
INLINE void pack(double *p, V v, unsigned m) {
  __m256i order = _mm256_load_si256((const __m256i *)shuffles[m]);
  _mm256_storeu_ps((float *)p, _mm256_permutevar8x32_ps((__m256)v, order));
}
#endif
INLINE size_t count(unsigned m) { return (size_t)__builtin_popcount(m); }
#endif

// The output columns of a filter. The next element goes to `out[k] + len[k]`.
#define COLUMNS 2
typedef struct {
  double *out[COLUMNS];
  size_t len[COLUMNS];
} Kept;

// The fold states of a filter.
typedef struct {
  V at[8];
} State;

// One block of the job: appends the kept elements and updates the state.
typedef void Block(const Job *, size_t from, size_t to, Kept *, State *);
// Initialises an empty state; joins a state with that of later elements; writes a state to the
// outputs.
typedef void Start(State *);
typedef void Join(State *, const State *);
typedef void Finish(const Job *, const State *);

INLINE void columns_of(const Job *job, int columns, Kept *kept) {
  for (int k = 0; k < columns; k++) kept->out[k] = job->out[k], kept->len[k] = 0;
}

// The whole job as one block.
INLINE void run_straight(const Job *job, int columns, Block *block, Start *start, Finish *finish) {
  Kept kept;
  State state;
  columns_of(job, columns, &kept);
  start(&state);
  block(job, 0, job->n, &kept, &state);
  for (int k = 0; k < columns; k++) job->len[k] = kept.len[k];
  finish(job, &state);
}

// Compacts small blocks within the first-level cache, and writes whole cache lines by streaming
// stores.
#define STRIP 512
INLINE void run_streamed(const Job *job, int columns, Block *block, Start *start, Finish *finish) {
  double strips[COLUMNS][STRIP + 16 + W] __attribute__((aligned(64)));
  size_t done[COLUMNS] = {0};
  Kept kept = {{strips[0], strips[1]}, {0, 0}};
  State state;
  start(&state);
  for (size_t i = 0; i < job->n; i += STRIP) {
    block(job, i, MIN(i + STRIP, job->n), &kept, &state);
    for (int k = 0; k < columns; k++) {
      size_t whole = kept.len[k] / 8 * 8;
      double *to = (double *)job->out[k] + done[k];
      for (size_t j = 0; j < whole; j += W) stream(to + j, load(strips[k] + j));
      for (size_t j = 0; j < 8; j += W) store(strips[k] + j, load(strips[k] + whole + j));
      done[k] += whole;
      kept.len[k] -= whole;
    }
  }
  for (int k = 0; k < columns; k++) {
    memcpy((double *)job->out[k] + done[k], strips[k], kept.len[k] * 8);
    job->len[k] = done[k] + kept.len[k];
  }
  fence();
  finish(job, &state);
}

// Blocks in any order on all threads. Each is compacted in a thread's own cache, then waits for the
// lengths of the blocks before it. Memory is read once.
#define TICKET 8192
INLINE void run_parallel(const Job *job, int columns, Block *block, Start *start, Join *join, Finish *finish) {
  size_t blocks = (job->n + TICKET - 1) / TICKET, next = 0, turn = 0;
  size_t total[COLUMNS] = {0};
  State states[job->threads];
  for (int t = 0; t < job->threads; t++) start(&states[t]);
#pragma omp parallel num_threads(job->threads)
  {
    static __thread double rooms[COLUMNS][TICKET + 16] __attribute__((aligned(64)));
    State state = states[omp_get_thread_num()];
    for (;;) {
      size_t b = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
      if (b >= blocks) break;
      Kept kept = {{rooms[0], rooms[1]}, {0, 0}};
      block(job, b * TICKET, MIN((b + 1) * TICKET, job->n), &kept, &state);
      wait_for_turn(&turn, b);
      size_t at[COLUMNS];
      for (int k = 0; k < columns; k++) at[k] = total[k], total[k] += kept.len[k];
      __atomic_store_n(&turn, b + 1, __ATOMIC_RELEASE);
      for (int k = 0; k < columns; k++) memcpy((double *)job->out[k] + at[k], rooms[k], kept.len[k] * 8);
    }
    states[omp_get_thread_num()] = state;
  }
  for (int t = 1; t < job->threads; t++) join(&states[0], &states[t]);
  for (int k = 0; k < columns; k++) job->len[k] = total[k];
  finish(job, &states[0]);
}
