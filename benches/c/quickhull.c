// quickHull: the corners of the convex hull, counter-clockwise from the leftmost point. Contraction
// is off: with it, a line's own ends may fall beside the line and be cut for ever.
#pragma GCC optimize("fp-contract=off")
#include "filter.h"
#include <stdlib.h>

typedef struct {
  double x, y;
} Point;

// The points strictly on the right of the line from `a` to `b`, and the farthest of them.
INLINE size_t cut_plain(const double *x, const double *y, size_t n, Point a, Point b, double *kx, double *ky, Point *far, double *most) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    double px = x[i], py = y[i], d = dy * (px - a.x) - dx * (py - a.y);
    kx[k] = px, ky[k] = py;
    k += d > 0;
    if (d > *most) *most = d, *far = (Point){px, py};
  }
  return k;
}
#ifdef COMPACTS
INLINE size_t cut_simd(const double *x, const double *y, size_t n, Point a, Point b, double *kx, double *ky, Point *far, double *most) {
  const V ax = all(a.x), ay = all(a.y), dx = all(b.x - a.x), dy = all(b.y - a.y), zero = all(0);
  size_t k = 0, i = 0;
  for (; i + W <= n; i += W) {
    V px = load(x + i), py = load(y + i), d = dy * (px - ax) - dx * (py - ay);
    if (__builtin_expect(bits(gt(d, all(*most))) != 0, 0))
      for (int j = 0; j < W; j++)
        if (d[j] > *most) *most = d[j], *far = (Point){px[j], py[j]};
    unsigned m = bits(gt(d, zero));
    pack(kx + k, px, m), pack(ky + k, py, m);
    k += count(m);
  }
  return k + cut_plain(x + i, y + i, n - i, a, b, kx + k, ky + k, far, most);
}
#endif
typedef size_t Cut(const double *, const double *, size_t, Point, Point, double *, double *, Point *, double *);

// The corners found so far, and memory for remaining points. A line stores its points after those
// of the line before it.
typedef struct {
  double *x, *y;
  size_t len;
} Corners;
static void corner(Corners *c, Point p) { c->x[c->len] = p.x, c->y[c->len] = p.y, c->len++; }

INLINE void side(Cut *cut, void (*again)(const double *, const double *, size_t, Point, Point, double *, double *, Corners *),
                 const double *x, const double *y, size_t n, Point a, Point b, double *kx, double *ky, Corners *c) {
  Point far;
  double most = 0;
  size_t k = cut(x, y, n, a, b, kx, ky, &far, &most);
  if (k == 0) return;
  size_t room = (k + 15) / 8 * 8;
  again(kx, ky, k, a, far, kx + room, ky + room, c);
  corner(c, far);
  again(kx, ky, k, far, b, kx + room, ky + room, c);
}
#define SIDE(name, cut)                                                                              \
  static void name(const double *x, const double *y, size_t n, Point a, Point b, double *kx, double *ky, Corners *c) { \
    side(cut, name, x, y, n, a, b, kx, ky, c);                                                       \
  }
SIDE(side_plain, cut_plain)
#ifdef COMPACTS
SIDE(side_simd, cut_simd)
#endif
typedef void Side(const double *, const double *, size_t, Point, Point, double *, double *, Corners *);

// The leftmost and the rightmost point.
static void ends(const double *x, const double *y, size_t from, size_t to, Point *left, Point *right) {
  size_t l = from, r = from;
  for (size_t i = from; i < to; i++) {
    if (x[i] < x[l]) l = i;
    if (x[i] > x[r]) r = i;
  }
  *left = (Point){x[l], y[l]}, *right = (Point){x[r], y[r]};
}

// Scratch memory that is reused from call to call, for the remaining points of the cuts. A cut
// keeps at most the points of the cut before it. Four times the points suffice for all open cuts,
// unless nearly all points are corners.
static double *scratch(size_t doubles) {
  static double *room;
  static size_t have;
  if (have < doubles) {
    have = doubles;
    free(room);
    room = aligned_alloc(64, (doubles * 8 + 63) / 64 * 64);
  }
  return room;
}

INLINE void run(const Job *job, Side *half, const int threads) {
  const double *x = job->in[0], *y = job->in[1];
  const size_t n = job->n, room = (4 * n + 4096) / 8 * 8;
  double *kept = scratch(4 * room + n * 2 + 16);
  Point left, right;
  if (threads == 1) ends(x, y, 0, n, &left, &right);
  else {
    Point l[threads], r[threads];
#pragma omp parallel for num_threads(threads)
    for (int t = 0; t < threads; t++) {
      size_t from, to;
      part_of(n, t, threads, &from, &to);
      ends(x, y, from, MAX(to, from + 1), l + t, r + t);
    }
    left = l[0], right = r[0];
    for (int t = 1; t < threads; t++) {
      if (l[t].x < left.x) left = l[t];
      if (r[t].x > right.x) right = r[t];
    }
  }
  Corners lower = {job->out[0], job->out[1], 0}, upper = {kept + 4 * room, kept + 4 * room + n + 8, 0};
  corner(&lower, left);
  if (threads == 1) {
    half(x, y, n, left, right, kept, kept + room, &lower);
    corner(&lower, right);
    half(x, y, n, right, left, kept, kept + room, &lower);
  } else {
#pragma omp parallel sections num_threads(threads)
    {
#pragma omp section
      half(x, y, n, left, right, kept, kept + room, &lower);
#pragma omp section
      half(x, y, n, right, left, kept + 2 * room, kept + 3 * room, &upper);
    }
    corner(&lower, right);
    for (size_t i = 0; i < upper.len; i++) corner(&lower, (Point){upper.x[i], upper.y[i]});
  }
  job->len[0] = job->len[1] = lower.len;
}
static void plain(const Job *job) { run(job, side_plain, 1); }
static void plain_omp(const Job *job) { run(job, side_plain, job->threads); }
#ifdef COMPACTS
static void simd(const Job *job) { run(job, side_simd, 1); }
static void simd_omp(const Job *job) { run(job, side_simd, job->threads); }
#endif

const Variant quickHull[] = {
  {"branch-free", plain, 0},
  {"branch-free, OpenMP", plain_omp, 1},
#ifdef COMPACTS
  {"SIMD", simd, 0},
  {"SIMD, OpenMP", simd_omp, 1},
#endif
  {0},
};
