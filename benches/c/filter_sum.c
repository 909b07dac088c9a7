// filterSum: the elements above 0.5, the sum of all, and the sum of the kept ones.
#include "filter.h"

static void sums_start(State *s) { *s = (State){0}; }
static void sums_join(State *a, const State *b) {
  for (int k = 0; k < 4; k++) a->at[k] += b->at[k];
}
static void sums_finish(const Job *job, const State *s) {
  *(double *)job->out[1] = sum_of(s->at[0] + s->at[1]);
  *(double *)job->out[2] = sum_of(s->at[2] + s->at[3]);
  job->len[1] = job->len[2] = 1;
}

static void branches(const Job *job) {
  const double *x = job->in[0];
  double *out = job->out[0], before = 0, after = 0;
  size_t k = 0;
  for (size_t i = 0; i < job->n; i++) {
    before += x[i];
    if (x[i] > 0.5) after += x[i], out[k++] = x[i];
  }
  *(double *)job->out[1] = before, *(double *)job->out[2] = after;
  job->len[0] = k, job->len[1] = job->len[2] = 1;
}

// A dropped element is written, too, and overwritten by the next.
INLINE void scalar_block(const Job *job, size_t from, size_t to, Kept *kept, State *s) {
  const double *x = job->in[0];
  double *out = kept->out[0], before[4] = {0}, after[4] = {0};
  size_t k = kept->len[0], i = from;
  for (; i + 4 <= to; i += 4)
    for (int j = 0; j < 4; j++) {
      double v = x[i + j];
      before[j] += v;
      after[j] += v > 0.5 ? v : 0;
      out[k] = v;
      k += v > 0.5;
    }
  for (; i < to; i++) {
    before[0] += x[i];
    after[0] += x[i] > 0.5 ? x[i] : 0;
    out[k] = x[i];
    k += x[i] > 0.5;
  }
  kept->len[0] = k;
  s->at[0][0] += before[0] + before[1] + before[2] + before[3];
  s->at[2][0] += after[0] + after[1] + after[2] + after[3];
}
static void scalar(const Job *job) { run_straight(job, 1, scalar_block, sums_start, sums_finish); }
static void scalar_omp(const Job *job) { run_parallel(job, 1, scalar_block, sums_start, sums_join, sums_finish); }

#ifdef COMPACTS
INLINE void simd_block(const Job *job, size_t from, size_t to, Kept *kept, State *s) {
  const double *x = job->in[0];
  double *out = kept->out[0];
  size_t k = kept->len[0], i = from;
  V before0 = s->at[0], before1 = s->at[1], after0 = s->at[2], after1 = s->at[3];
  const V half = all(0.5);
  for (; i + 2 * W <= to; i += 2 * W) {
    V a = load(x + i), b = load(x + i + W);
    M ma = gt(a, half), mb = gt(b, half);
    unsigned ka = bits(ma), kb = bits(mb);
    before0 += a, before1 += b;
    after0 += only(ma, a), after1 += only(mb, b);
    pack(out + k, a, ka);
    pack(out + k + count(ka), b, kb);
    k += count(ka | kb << W);
  }
  for (; i < to; i++) {
    before0[0] += x[i];
    if (x[i] > 0.5) after0[0] += x[i], out[k++] = x[i];
  }
  kept->len[0] = k;
  s->at[0] = before0, s->at[1] = before1, s->at[2] = after0, s->at[3] = after1;
}
static void simd(const Job *job) { run_straight(job, 1, simd_block, sums_start, sums_finish); }
static void simd_nt(const Job *job) { run_streamed(job, 1, simd_block, sums_start, sums_finish); }
static void simd_omp(const Job *job) { run_parallel(job, 1, simd_block, sums_start, sums_join, sums_finish); }
#endif

const Variant filterSum[] = {
  {"strict, branches", branches, 0},
  {"reassociated, branch-free", scalar, 0},
  {"reassociated, branch-free, OpenMP", scalar_omp, 1},
#ifdef COMPACTS
  {"SIMD", simd, 0},
  {"SIMD, NT stores", simd_nt, 0},
  {"SIMD, OpenMP", simd_omp, 1},
#endif
  {0},
};
