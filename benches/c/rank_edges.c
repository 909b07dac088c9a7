// Edges of a picture in four passes: a blur along rows, one along columns, the gradient, and
// thinning with thresholds.
#include "ranks.h"

#define WEAK 40.0f
#define STRONG 120.0f
#define TAN_22 0.41421357f

INLINE size_t inside(ptrdiff_t at, size_t s) { return MAX(0, MIN(at, (ptrdiff_t)s - 1)); }

INLINE float blurred(float a, float b, float c, float d, float e) {
  return 0.0625f * (a + e) + 0.25f * (b + d) + 0.375f * c;
}
INLINE void across(const uint8_t *restrict x, float *restrict o, size_t s) {
  const ptrdiff_t n = (ptrdiff_t)s, first = MIN(2, n), last = MAX(first, n - 2);
#define FAR(k) x[inside(j + k, s)]
  for (ptrdiff_t j = 0; j < n; j = j + 1 == first ? last : j + 1) o[j] = blurred(FAR(-2), FAR(-1), x[j], FAR(1), FAR(2));
  for (ptrdiff_t j = first; j < last; j++) o[j] = blurred(x[j - 2], x[j - 1], x[j], x[j + 1], x[j + 2]);
}
INLINE void down(const float *x, float *restrict o, size_t i, size_t s) {
  const float *rows[5];
  for (int k = 0; k < 5; k++) rows[k] = x + inside((ptrdiff_t)i + k - 2, s) * s;
  const float *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3], *e = rows[4];
#pragma GCC ivdep
  for (size_t j = 0; j < s; j++) o[j] = blurred(a[j], b[j], c[j], d[j], e[j]);
}
INLINE void gradient(const float *u, const float *h, const float *d, float *restrict size, uint8_t *restrict direction, size_t s) {
#define STEEP(j, w, e)                                                                                                 \
  {                                                                                                                    \
    float x = (u[e] - u[w]) + 2.0f * (h[e] - h[w]) + (d[e] - d[w]);                                                    \
    float y = (d[w] - u[w]) + 2.0f * (d[j] - u[j]) + (d[e] - u[e]);                                                    \
    uint8_t diagonal = x * y > 0.0f ? 1 : 3;                                                                           \
    x = fabsf(x), y = fabsf(y);                                                                                        \
    uint8_t rest = x < TAN_22 * y ? 2 : diagonal;                                                                      \
    direction[j] = y <= TAN_22 * x ? 0 : rest;                                                                         \
    size[j] = x + y;                                                                                                   \
  }
  STEEP(0, 0, MIN(1, s - 1))
#pragma GCC ivdep
  for (size_t j = 1; j + 1 < s; j++) STEEP(j, j - 1, j + 1)
  if (s > 1) STEEP(s - 1, s - 2, s - 1)
}
INLINE uint8_t mark(int32_t direction, float a, float b, float c, float d, float here, float e, float f, float g, float h) {
#define ALONG(k, before, after) ((direction == k) & (here > before) & (here >= after))
  int32_t is_top = ALONG(0, d, e) | ALONG(1, a, h) | ALONG(2, b, g) | ALONG(3, c, f);
  return is_top * ((here >= WEAK) + (here >= STRONG));
}
INLINE void thin(const float *u, const float *h, const float *d, const uint8_t *direction, uint8_t *restrict o, size_t s) {
#define LEFT(row, j) (j == 0 ? 0.0f : row[j - 1])
#define RIGHT(row, j) (j + 1 == s ? 0.0f : row[j + 1])
#define EDGE(j)                                                                                                        \
  o[j] = mark(direction[j], LEFT(u, j), u[j], RIGHT(u, j), LEFT(h, j), h[j], RIGHT(h, j), LEFT(d, j), d[j], RIGHT(d, j));
  const size_t first = 0, last = s - 1;
  EDGE(first)
#pragma GCC ivdep
  for (size_t j = 1; j < last; j++)
    o[j] = mark(direction[j], u[j - 1], u[j], u[j + 1], h[j - 1], h[j], h[j + 1], d[j - 1], d[j], d[j + 1]);
  if (s > 1) EDGE(last)
}

static void edges_passes(const Job *job) {
  const size_t s = square(job).rows;
  const uint8_t *picture = job->in[0];
  uint8_t *out = job->out[0];
  float *rows = kept(0, s * s * sizeof(float)), *blur = kept(1, s * s * sizeof(float));
  uint8_t *direction = kept(2, s * s);
  for (size_t i = 0; i < s; i++) across(picture + i * s, rows + i * s, s);
  for (size_t i = 0; i < s; i++) down(rows, blur + i * s, i, s);
  float *size = rows, *nothing = kept(3, s * sizeof(float));
  memset(nothing, 0, s * sizeof(float));
  for (size_t i = 0; i < s; i++)
    gradient(blur + inside((ptrdiff_t)i - 1, s) * s, blur + i * s, blur + inside(i + 1, s) * s, size + i * s, direction + i * s, s);
  for (size_t i = 0; i < s; i++) {
    const float *h = size + i * s, *u = i > 0 ? h - s : nothing, *d = i + 1 < s ? h + s : nothing;
    thin(u, h, d, direction + i * s, out + i * s, s);
  }
  job->len[0] = s * s;
}

const Variant edges[] = {{"four passes", edges_passes, 0}, {0}};
