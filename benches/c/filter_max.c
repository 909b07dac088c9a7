// filterMax: the elements plus 1 that are above 1.5, and the largest of them (0 if there is none).
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
    // The kept ones are larger than all others.
    most = MAX(y, most);
  }
  kept->len[0] = k;
  s->at[0][0] = most > 1.5 ? most : 0;
}
static void scalar(const Job *job) { run_straight(job, 1, scalar_block, max_start, max_finish); }
static void scalar_omp(const Job *job) { run_parallel(job, 1, scalar_block, max_start, max_join, max_finish); }

#ifdef COMPACTS
INLINE void simd_block(const Job *job, size_t from, size_t to, Kept *kept, State *s) {
  const double *x = job->in[0];
  double *out = kept->out[0];
  size_t k = kept->len[0], i = from;
  V most0 = s->at[0], most1 = s->at[1];
  const V one = all(1.0), limit = all(1.5);
  for (; i + 2 * W <= to; i += 2 * W) {
    V a = load(x + i) + one, b = load(x + i + W) + one;
    M ma = gt(a, limit), mb = gt(b, limit);
    unsigned ka = bits(ma), kb = bits(mb);
    most0 = max_v(only(ma, a), most0), most1 = max_v(only(mb, b), most1);
    pack(out + k, a, ka);
    pack(out + k + count(ka), b, kb);
    k += count(ka | kb << W);
  }
  for (; i < to; i++) {
    double y = x[i] + 1.0;
    if (y > 1.5) most0[0] = MAX(most0[0], y), out[k++] = y;
  }
  kept->len[0] = k;
  s->at[0] = most0, s->at[1] = most1;
}
static void simd(const Job *job) { run_straight(job, 1, simd_block, max_start, max_finish); }
static void simd_nt(const Job *job) { run_streamed(job, 1, simd_block, max_start, max_finish); }
static void simd_omp(const Job *job) { run_parallel(job, 1, simd_block, max_start, max_join, max_finish); }
#endif

const Variant filterMax[] = {
  {"branches", branches, 0},
  {"branch-free", scalar, 0},
  {"branch-free, OpenMP", scalar_omp, 1},
#ifdef COMPACTS
  {"SIMD", simd, 0},
  {"SIMD, NT stores", simd_nt, 0},
  {"SIMD, OpenMP", simd_omp, 1},
#endif
  {0},
};
