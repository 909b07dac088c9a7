// nestedFilter: the elements above 0.5, and those of them below 0.75.
#include "filter.h"

static void nothing(State *s) { (void)s; }
static void no_join(State *a, const State *b) { (void)a, (void)b; }
static void no_finish(const Job *job, const State *s) { (void)job, (void)s; }

static void branches(const Job *job) {
  const double *x = job->in[0];
  double *outer = job->out[0], *inner = job->out[1];
  size_t k = 0, l = 0;
  for (size_t i = 0; i < job->n; i++)
    if (x[i] > 0.5) {
      outer[k++] = x[i];
      if (x[i] < 0.75) inner[l++] = x[i];
    }
  job->len[0] = k, job->len[1] = l;
}

INLINE void scalar_block(const Job *job, size_t from, size_t to, Kept *kept, State *s) {
  const double *x = job->in[0];
  double *outer = kept->out[0], *inner = kept->out[1];
  size_t k = kept->len[0], l = kept->len[1];
  for (size_t i = from; i < to; i++) {
    outer[k] = inner[l] = x[i];
    k += x[i] > 0.5;
    l += (x[i] > 0.5) & (x[i] < 0.75);
  }
  kept->len[0] = k, kept->len[1] = l;
}
static void scalar(const Job *job) { run_straight(job, 2, scalar_block, nothing, no_finish); }
static void scalar_omp(const Job *job) { run_parallel(job, 2, scalar_block, nothing, no_join, no_finish); }

#ifdef COMPACTS
INLINE void simd_block(const Job *job, size_t from, size_t to, Kept *kept, State *s) {
  const double *x = job->in[0];
  double *outer = kept->out[0], *inner = kept->out[1];
  size_t k = kept->len[0], l = kept->len[1], i = from;
  const V low = all(0.5), high = all(0.75);
  for (; i + 2 * W <= to; i += 2 * W) {
    V a = load(x + i), b = load(x + i + W);
    unsigned ka = bits(gt(a, low)), kb = bits(gt(b, low));
    unsigned la = ka & bits(gt(high, a)), lb = kb & bits(gt(high, b));
    pack(outer + k, a, ka);
    pack(outer + k + count(ka), b, kb);
    pack(inner + l, a, la);
    pack(inner + l + count(la), b, lb);
    k += count(ka | kb << W);
    l += count(la | lb << W);
  }
  for (; i < to; i++)
    if (x[i] > 0.5) {
      outer[k++] = x[i];
      if (x[i] < 0.75) inner[l++] = x[i];
    }
  kept->len[0] = k, kept->len[1] = l;
}
static void simd(const Job *job) { run_straight(job, 2, simd_block, nothing, no_finish); }
static void simd_nt(const Job *job) { run_streamed(job, 2, simd_block, nothing, no_finish); }
static void simd_omp(const Job *job) { run_parallel(job, 2, simd_block, nothing, no_join, no_finish); }
#endif

const Variant nestedFilter[] = {
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
