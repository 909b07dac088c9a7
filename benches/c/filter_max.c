// filterMax: the elements plus 1 that are above 1.5, and the largest of them (0 if there are none).
#include "filter.h"

static void max_start(State *s) { *s = (State){0}; }
static void max_join(State *a, const State *b) {
  for (int k = 0; k < 2; k++) a->at[k] = max_v(a->at[k], b->at[k]);
}
static void max_finish(const Job *job, const State *s) {
  *(double *)job->out[1] = max_of(max_v(s->at[0], s->at[1]));
  job->len[1] = 1;
}

static void branches(const Job *job) {
  const double *x = job->in[0];
  double *out = job->out[0], most = 0;
  size_t k = 0;
  for (size_t i = 0; i < job->n; i++) {
    double y = x[i] + 1.0;
    if (y > 1.5) most = MAX(most, y), out[k++] = y;
  }
  *(double *)job->out[1] = most;
  job->len[0] = k, job->len[1] = 1;
}

INLINE void scalar_block(const Job *job, size_t from, size_t to, Kept *kept, State *s) {
  const double *x = job->in[0];
  double *out = kept->out[0], most = s->at[0][0];
  size_t k = kept->len[0];
  for (size_t i = from; i < to; i++) {
    double y = x[i] + 1.0;
    out[k] = y;
    k += y > 1.5;
    // Kept elements are larger than dropped ones.
    most = MAX(y, most);
  }
  kept->len[0] = k;
  s->at[0][0] = most > 1.5 ? most : 0;
}
static void scalar(const Job *job) { run_straight(job, 1, scalar_block, max_start, max_finish); }
static void scalar_omp(const Job *job) { run_parallel(job, 1, scalar_block, max_start, max_join, max_finish); }

#ifdef COMPACTS
// The maximum of all elements suffices: kept elements are larger than dropped ones.
INLINE void simd_block(const Job *job, size_t from, size_t to, Kept *kept, State *s, const int sets) {
  const double *x = job->in[0];
  double *out = kept->out[0];
  size_t k = kept->len[0], i = from;
  const V one = all(1.0), limit = all(1.5);
  V most[4] = {s->at[0], s->at[1], s->at[0], s->at[1]};
  for (; i + sets * W <= to; i += sets * W) {
#pragma GCC unroll 4
    for (int p = 0; p < sets; p++) {
      V y = load(x + i + p * W) + one;
      unsigned m = bits(gt(y, limit));
      most[p] = max_v(y, most[p]);
      pack(out + k, y, m);
      k += count(m);
    }
  }
  for (; i < to; i++) {
    double y = x[i] + 1.0;
    if (y > 1.5) most[0][0] = MAX(most[0][0], y), out[k++] = y;
  }
  kept->len[0] = k;
  for (int p = 0; p < 2; p++) {
    V larger = max_v(most[p], most[p + 2]);
    s->at[p] = only(gt(larger, limit), larger);
  }
}
INLINE void block_2(const Job *job, size_t from, size_t to, Kept *kept, State *s) { simd_block(job, from, to, kept, s, 2); }
INLINE void block_4(const Job *job, size_t from, size_t to, Kept *kept, State *s) { simd_block(job, from, to, kept, s, 4); }
static void simd_2(const Job *job) { run_straight(job, 1, block_2, max_start, max_finish); }
static void simd_4(const Job *job) { run_straight(job, 1, block_4, max_start, max_finish); }
static void simd_nt(const Job *job) { run_streamed(job, 1, block_4, max_start, max_finish); }
static void simd_omp(const Job *job) { run_parallel(job, 1, block_4, max_start, max_join, max_finish); }
#endif

const Variant filterMax[] = {
  {"branches", branches, 0},
  {"branch-free", scalar, 0},
  {"branch-free, OpenMP", scalar_omp, 1},
#ifdef COMPACTS
  {"SIMD, 2 vectors", simd_2, 0},
  {"SIMD, 4 vectors", simd_4, 0},
  {"SIMD, NT stores", simd_nt, 0},
  {"SIMD, OpenMP", simd_omp, 1},
#endif
  {0},
};
