// Stencils with peeled borders: inside, all neighbours exist.
#include "ranks.h"

enum { CLAMP, CONSTANT, WRAP, MIRROR };
#define OUTSIDE 0.25

// The index within s that replaces an index at most s outside.
INLINE size_t inside(ptrdiff_t at, size_t s, const int edge) {
  const ptrdiff_t n = (ptrdiff_t)s;
  if (at >= 0 && at < n) return at;
  if (edge == WRAP) return (at + n) % n;
  if (edge == MIRROR) return MAX(0, n - 1 - labs(n - 1 - labs(at)));
  return at < 0 ? 0 : n - 1;
}
// A row, which may be outside the grid.
INLINE const double *row_at(const double *x, ptrdiff_t i, size_t s, const int edge, const double *outside) {
  return edge == CONSTANT && (i < 0 || i >= (ptrdiff_t)s) ? outside : x + inside(i, s, edge) * s;
}
INLINE double at(const double *row, ptrdiff_t j, size_t s, const int edge) {
  return edge == CONSTANT && (j < 0 || j >= (ptrdiff_t)s) ? OUTSIDE : row[inside(j, s, edge)];
}

INLINE double five(double n, double w, double here, double e, double s) {
  return 0.5 * here + 0.125 * ((n + s) + (w + e));
}
// A row of the result, from the three rows around it.
INLINE void five_row(const double *n, const double *h, const double *d, double *restrict o, size_t s, const int edge) {
  o[0] = five(n[0], at(h, -1, s, edge), h[0], at(h, 1, s, edge), d[0]);
  for (size_t j = 1; j + 1 < s; j++) o[j] = five(n[j], h[j - 1], h[j], h[j + 1], d[j]);
  if (s > 1) o[s - 1] = five(n[s - 1], h[s - 2], h[s - 1], at(h, s, s, edge), d[s - 1]);
}
INLINE void five_points(const double *x, double *out, size_t s, const int edge) {
  double *outside = kept(0, s * sizeof(double));
  if (edge == CONSTANT)
    for (size_t j = 0; j < s; j++) outside[j] = OUTSIDE;
  for (size_t i = 0; i < s; i++)
    five_row(row_at(x, (ptrdiff_t)i - 1, s, edge, outside), x + i * s, row_at(x, i + 1, s, edge, outside), out + i * s, s, edge);
}
#define GRID5(name, edge)                                                                                              \
  static void name(const Job *job) {                                                                                   \
    const size_t s = square(job).rows;                                                                                 \
    five_points(job->in[0], job->out[0], s, edge);                                                                           \
    job->len[0] = s * s;                                                                                               \
  }
GRID5(clamped, CLAMP)
GRID5(with_constant, CONSTANT)
GRID5(wrapped, WRAP)
GRID5(mirrored, MIRROR)

// Weighted neighbours, n by n.
#define WEIGHT(n, k, l) ((double)((n) * (k) + (l) + 1) / ((n) * (n) * ((n) * (n) + 1) / 2))
INLINE void weighted(const Job *job, const int n) {
  const size_t s = square(job).rows;
  const ptrdiff_t far = n / 2;
  const double *x = job->in[0];
  double *out = job->out[0];
  for (size_t i = 0; i < s; i++) {
    const double *rows[5];
    double *restrict o = out + i * s;
#pragma GCC unroll 5
    for (int k = 0; k < n; k++) rows[k] = row_at(x, (ptrdiff_t)i + k - far, s, CLAMP, 0);
    const ptrdiff_t first = MIN(far, (ptrdiff_t)s), last = MAX(first, (ptrdiff_t)s - far);
    for (ptrdiff_t j = 0; j < (ptrdiff_t)s; j = j + 1 == first ? last : j + 1) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++) sum += WEIGHT(n, k, l) * at(rows[k], j + l - far, s, CLAMP);
      o[j] = sum;
    }
#pragma GCC ivdep
    for (ptrdiff_t j = first; j < last; j++) {
      double sums[5];
#pragma GCC unroll 5
      for (int k = 0; k < n; k++) {
        sums[k] = 0;
#pragma GCC unroll 5
        for (int l = 0; l < n; l++) sums[k] += WEIGHT(n, k, l) * rows[k][j + l - far];
      }
      double sum = sums[0];
#pragma GCC unroll 5
      for (int k = 1; k < n; k++) sum += sums[k];
      o[j] = sum;
    }
  }
  job->len[0] = s * s;
}
static void grid9_peeled(const Job *job) { weighted(job, 3); }
static void grid25_peeled(const Job *job) { weighted(job, 5); }

INLINE double blurred(double a, double b, double c, double d, double e) {
  return 0.0625 * (a + e) + 0.25 * (b + d) + 0.375 * c;
}
INLINE void blur_across(const double *restrict x, double *restrict o, size_t s) {
  const ptrdiff_t n = (ptrdiff_t)s, first = MIN(2, n), last = MAX(first, n - 2);
#define FAR(k) at(x, j + k, s, CLAMP)
  for (ptrdiff_t j = 0; j < n; j = j + 1 == first ? last : j + 1) o[j] = blurred(FAR(-2), FAR(-1), x[j], FAR(1), FAR(2));
  for (ptrdiff_t j = first; j < last; j++) o[j] = blurred(x[j - 2], x[j - 1], x[j], x[j + 1], x[j + 2]);
}
INLINE void blur_down(const double *const rows[5], double *restrict o, size_t s) {
  const double *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3], *e = rows[4];
#pragma GCC ivdep
  for (size_t j = 0; j < s; j++) o[j] = blurred(a[j], b[j], c[j], d[j], e[j]);
}
static void blur_passes(const Job *job) {
  const size_t s = square(job).rows;
  const double *x = job->in[0];
  double *out = job->out[0], *across = kept(0, s * s * sizeof(double));
  for (size_t i = 0; i < s; i++) blur_across(x + i * s, across + i * s, s);
  for (size_t i = 0; i < s; i++) {
    const double *rows[5];
    for (int k = 0; k < 5; k++) rows[k] = row_at(across, (ptrdiff_t)i + k - 2, s, CLAMP, 0);
    blur_down(rows, out + i * s, s);
  }
  job->len[0] = s * s;
}
// Five rows of the first pass at a time.
static void blur_ring(const Job *job) {
  const size_t s = square(job).rows;
  const double *x = job->in[0];
  double *out = job->out[0], *ring = kept(0, 5 * s * sizeof(double));
  for (size_t i = 0, next = 0; i < s; i++) {
    for (; next < MIN(i + 3, s); next++) blur_across(x + next * s, ring + next % 5 * s, s);
    const double *rows[5];
    for (int k = 0; k < 5; k++) rows[k] = ring + inside((ptrdiff_t)i + k - 2, s, CLAMP) % 5 * s;
    blur_down(rows, out + i * s, s);
  }
  job->len[0] = s * s;
}

static void twice_passes(const Job *job) {
  const size_t s = square(job).rows;
  double *once = kept(1, s * s * sizeof(double));
  five_points(job->in[0], once, s, CLAMP);
  five_points(once, job->out[0], s, CLAMP);
  job->len[0] = s * s;
}
// Three rows of the first stencil at a time.
static void twice_ring(const Job *job) {
  const size_t s = square(job).rows;
  const double *x = job->in[0];
  double *out = job->out[0], *ring = kept(0, 3 * s * sizeof(double));
  for (size_t i = 0, next = 0; i < s; i++) {
    for (; next < MIN(i + 2, s); next++)
      five_row(row_at(x, (ptrdiff_t)next - 1, s, CLAMP, 0), x + next * s, row_at(x, next + 1, s, CLAMP, 0), ring + next % 3 * s, s, CLAMP);
    const double *rows[3];
    for (int k = 0; k < 3; k++) rows[k] = ring + inside((ptrdiff_t)i + k - 1, s, CLAMP) % 3 * s;
    five_row(rows[0], rows[1], rows[2], out + i * s, s, CLAMP);
  }
  job->len[0] = s * s;
}

const Variant grid5[] = {{"border peeled", clamped, 0}, {0}};
const Variant grid5Constant[] = {{"border peeled", with_constant, 0}, {0}};
const Variant grid5Wrap[] = {{"border peeled", wrapped, 0}, {0}};
const Variant grid5Mirror[] = {{"border peeled", mirrored, 0}, {0}};
const Variant grid9[] = {{"border peeled", grid9_peeled, 0}, {0}};
const Variant grid25[] = {{"border peeled", grid25_peeled, 0}, {0}};
const Variant blurSeparable[] = {{"two passes", blur_passes, 0}, {"five rows at a time", blur_ring, 0}, {0}};
const Variant stencilTwice[] = {{"two passes", twice_passes, 0}, {"three rows at a time", twice_ring, 0}, {0}};
