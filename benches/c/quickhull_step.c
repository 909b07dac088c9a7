// quickHullStep: the points left of a line, and the farthest of them with its distance. The line is
// the third input: a's x and y, b's x and y.
#include "filter.h"

typedef struct {
  double ax, ay, dx, dy;
} Line;

INLINE Line line_of(const Job *job) {
  const double *l = job->in[2];
  return (Line){l[0], l[1], l[2] - l[0], l[3] - l[1]};
}

// Distance, x and y of the farthest point, in vectors 0..3 and 3..6.
static void far_start(State *s) { *s = (State){0}; }
INLINE void farther(double *best, double d, double x, double y) {
  if (d > best[0]) best[0] = d, best[1] = x, best[2] = y;
}
static void far_join(State *a, const State *b) {
  double best[3] = {0};
  for (int k = 0; k < 6; k += 3)
    for (int j = 0; j < W; j++) {
      farther(best, a->at[k][j], a->at[k + 1][j], a->at[k + 2][j]);
      farther(best, b->at[k][j], b->at[k + 1][j], b->at[k + 2][j]);
    }
  *a = (State){0};
  for (int k = 0; k < 3; k++) a->at[k][0] = best[k];
}
static void far_finish(const Job *job, const State *s) {
  State joined = *s, none = {0};
  far_join(&joined, &none);
  for (int k = 0; k < 3; k++) *(double *)job->out[2 + k] = joined.at[k][0], job->len[2 + k] = 1;
  job->len[1] = job->len[0];
}

INLINE void branches_block(const Job *job, size_t from, size_t to, Kept *kept, State *s) {
  const double *x = job->in[0], *y = job->in[1];
  const Line l = line_of(job);
  double best[3] = {s->at[0][0], s->at[1][0], s->at[2][0]}, *kx = kept->out[0], *ky = kept->out[1];
  size_t k = kept->len[0];
  for (size_t i = from; i < to; i++) {
    double d = l.dx * (y[i] - l.ay) - l.dy * (x[i] - l.ax);
    if (d > 0) {
      farther(best, d, x[i], y[i]);
      kx[k] = x[i], ky[k] = y[i], k++;
    }
  }
  kept->len[0] = kept->len[1] = k;
  for (int j = 0; j < 3; j++) s->at[j][0] = best[j];
}
static void branches(const Job *job) { run_straight(job, 2, branches_block, far_start, far_finish); }

INLINE void scalar_block(const Job *job, size_t from, size_t to, Kept *kept, State *s) {
  const double *x = job->in[0], *y = job->in[1];
  const Line l = line_of(job);
  double best[3] = {s->at[0][0], s->at[1][0], s->at[2][0]}, *kx = kept->out[0], *ky = kept->out[1];
  size_t k = kept->len[0];
  for (size_t i = from; i < to; i++) {
    double d = l.dx * (y[i] - l.ay) - l.dy * (x[i] - l.ax);
    kx[k] = x[i], ky[k] = y[i];
    k += d > 0;
    // This is rarely true.
    farther(best, d, x[i], y[i]);
  }
  kept->len[0] = kept->len[1] = k;
  for (int j = 0; j < 3; j++) s->at[j][0] = best[j];
}
static void scalar(const Job *job) { run_straight(job, 2, scalar_block, far_start, far_finish); }
static void scalar_omp(const Job *job) { run_parallel(job, 2, scalar_block, far_start, far_join, far_finish); }

#ifdef COMPACTS
INLINE void simd_block(const Job *job, size_t from, size_t to, Kept *kept, State *s) {
  const double *x = job->in[0], *y = job->in[1];
  const Line l = line_of(job);
  const V ax = all(l.ax), ay = all(l.ay), dx = all(l.dx), dy = all(l.dy), zero = all(0);
  double *kx = kept->out[0], *ky = kept->out[1];
  size_t k = kept->len[0], i = from;
  V best[6];
  for (int j = 0; j < 6; j++) best[j] = s->at[j];
  for (; i + 2 * W <= to; i += 2 * W) {
    V x0 = load(x + i), y0 = load(y + i), x1 = load(x + i + W), y1 = load(y + i + W);
    V d0 = dx * (y0 - ay) - dy * (x0 - ax), d1 = dx * (y1 - ay) - dy * (x1 - ax);
    M f0 = gt(d0, best[0]), f1 = gt(d1, best[3]);
    best[0] = max_v(d0, best[0]), best[1] = choose(f0, x0, best[1]), best[2] = choose(f0, y0, best[2]);
    best[3] = max_v(d1, best[3]), best[4] = choose(f1, x1, best[4]), best[5] = choose(f1, y1, best[5]);
    unsigned k0 = bits(gt(d0, zero)), k1 = bits(gt(d1, zero));
    size_t then = k + count(k0);
    pack(kx + k, x0, k0), pack(ky + k, y0, k0);
    pack(kx + then, x1, k1), pack(ky + then, y1, k1);
    k += count(k0 | k1 << W);
  }
  for (int j = 0; j < 6; j++) s->at[j] = best[j];
  kept->len[0] = kept->len[1] = k;
  if (i < to) branches_block(job, i, to, kept, s);
}
// A vector is searched for the farthest point only if one of its distances exceeds all before,
// which is rare.
INLINE void rare_block(const Job *job, size_t from, size_t to, Kept *kept, State *s) {
  const double *x = job->in[0], *y = job->in[1];
  const Line l = line_of(job);
  const V ax = all(l.ax), ay = all(l.ay), dx = all(l.dx), dy = all(l.dy), zero = all(0);
  double best[3] = {s->at[0][0], s->at[1][0], s->at[2][0]}, *kx = kept->out[0], *ky = kept->out[1];
  size_t k = kept->len[0], i = from;
  for (; i + 2 * W <= to; i += 2 * W) {
    V x0 = load(x + i), y0 = load(y + i), x1 = load(x + i + W), y1 = load(y + i + W);
    V d0 = dx * (y0 - ay) - dy * (x0 - ax), d1 = dx * (y1 - ay) - dy * (x1 - ax);
    if (__builtin_expect(bits(gt(max_v(d0, d1), all(best[0]))) != 0, 0)) {
      for (int j = 0; j < W; j++) farther(best, d0[j], x0[j], y0[j]);
      for (int j = 0; j < W; j++) farther(best, d1[j], x1[j], y1[j]);
    }
    unsigned k0 = bits(gt(d0, zero)), k1 = bits(gt(d1, zero));
    size_t then = k + count(k0);
    pack(kx + k, x0, k0), pack(ky + k, y0, k0);
    pack(kx + then, x1, k1), pack(ky + then, y1, k1);
    k += count(k0 | k1 << W);
  }
  for (int j = 0; j < 3; j++) s->at[j][0] = best[j];
  kept->len[0] = kept->len[1] = k;
  if (i < to) branches_block(job, i, to, kept, s);
}
static void simd(const Job *job) { run_straight(job, 2, simd_block, far_start, far_finish); }
static void rare(const Job *job) { run_straight(job, 2, rare_block, far_start, far_finish); }
static void simd_nt(const Job *job) { run_streamed(job, 2, rare_block, far_start, far_finish); }
static void simd_omp(const Job *job) { run_parallel(job, 2, rare_block, far_start, far_join, far_finish); }
#endif

const Variant quickHullStep[] = {
  {"branches", branches, 0},
  {"branch-free", scalar, 0},
  {"branch-free, OpenMP", scalar_omp, 1},
#ifdef COMPACTS
  {"SIMD", simd, 0},
  {"SIMD, rare maximum", rare, 0},
  {"SIMD, NT stores", simd_nt, 0},
  {"SIMD, OpenMP", simd_omp, 1},
#endif
  {0},
};
