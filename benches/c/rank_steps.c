// Loops over arrays: a few steps on a large grid, or a step per matrix row.
#include "ranks.h"

#define STEPS 10

INLINE uint8_t cell(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint8_t here, uint8_t e, uint8_t f, uint8_t g, uint8_t h) {
  uint8_t near = a + b + c + d + e + f + g + h;
  return (near == 3) | ((near == 2) & here);
}
static void life_step(const uint8_t *restrict x, uint8_t *restrict out, size_t s) {
  for (size_t i = 0; i < s; i++) {
    const uint8_t *u = x + (i > 0 ? i - 1 : s - 1) * s, *h = x + i * s, *d = x + (i + 1 < s ? i + 1 : 0) * s;
    uint8_t *o = out + i * s;
#define CELL(j, w, e) o[j] = cell(u[w], u[j], u[e], h[w], h[j], h[e], d[w], d[j], d[e]);
    CELL(0, s - 1, s > 1 ? 1 : 0)
    for (size_t j = 1; j + 1 < s; j++) CELL(j, j - 1, j + 1)
    CELL(s - 1, s > 1 ? s - 2 : 0, 0)
  }
}
static void heat_step(const double *restrict x, double *restrict out, size_t s) {
  for (size_t i = 0; i < s; i++) {
    const double *h = x + i * s, *n = i > 0 ? h - s : h, *d = i + 1 < s ? h + s : h;
    double *o = out + i * s;
#define POINT(j, w, e) o[j] = 0.5 * h[j] + 0.125 * ((n[j] + d[j]) + (h[w] + h[e]));
    POINT(0, 0, MIN(1, s - 1))
    for (size_t j = 1; j + 1 < s; j++) POINT(j, j - 1, j + 1)
    if (s > 1) POINT(s - 1, s - 2, s - 1)
  }
}
// Two alternating grids, the second of which is the result.
#define TWO_GRIDS(name, T, step)                                                                                       \
  static void name(const Job *job) {                                                                                   \
    const size_t s = square(job).rows;                                                                                 \
    T *other = kept(0, s * s * sizeof(T)), *out = job->out[0];                                                         \
    step(job->in[0], other, s);                                                                                        \
    step(other, out, s);                                                                                               \
    for (int k = 2; k < STEPS; k += 2) step(out, other, s), step(other, out, s);                                       \
    job->len[0] = s * s;                                                                                               \
  }
TWO_GRIDS(life, uint8_t, life_step)
TWO_GRIDS(heat, double, heat_step)

static void ways(const Job *job) {
  const size_t s = square(job).rows;
  double *out = job->out[0], *to = kept(0, s * sizeof(double));
  memcpy(out, job->in[0], s * s * sizeof(double));
  for (size_t k = 0; k < s; k++) {
    memcpy(to, out + k * s, s * sizeof(double));
    for (size_t i = 0; i < s; i++) {
      double *restrict row = out + i * s;
      const double from = row[k];
      for (size_t j = 0; j < s; j++) row[j] = MIN(from + to[j], row[j]);
    }
  }
  job->len[0] = s * s;
}
static void factors(const Job *job) {
  const size_t s = square(job).rows;
  double *out = job->out[0];
  memcpy(out, job->in[0], s * s * sizeof(double));
  for (size_t k = 0; k < s; k++) {
    const double *pivots = out + k * s;
    for (size_t i = k + 1; i < s; i++) {
      double *restrict row = out + i * s;
      const double factor = row[k] / pivots[k];
      for (size_t j = k + 1; j < s; j++) row[j] -= factor * pivots[j];
      row[k] = factor;
    }
  }
  job->len[0] = s * s;
}

const Variant lifeSteps[] = {{"two grids", life, 0}, {0}};
const Variant heatSteps[] = {{"two grids", heat, 0}, {0}};
const Variant floydWarshall[] = {{"in place", ways, 0}, {0}};
const Variant lu[] = {{"in place", factors, 0}, {0}};
