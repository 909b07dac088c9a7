// zipFilters: products of the elements above 0.5 of two arrays, pair by pair. Both have equally
// many.
#include "filter.h"

#define SIZE 1024

INLINE size_t plain_block(const double *x, size_t n, double *out) {
  size_t k = 0;
  for (size_t i = 0; i < n; i++) {
    out[k] = x[i];
    k += x[i] > 0.5;
  }
  return k;
}
INLINE size_t plain_count(const double *x, size_t n) {
  size_t k = 0;
  for (size_t i = 0; i < n; i++) k += x[i] > 0.5;
  return k;
}
#ifdef COMPACTS
INLINE size_t simd_block(const double *x, size_t n, double *out) {
  size_t k = 0, i = 0;
  const V half = all(0.5);
  for (; i + 2 * W <= n; i += 2 * W) {
    V a = load(x + i), b = load(x + i + W);
    unsigned ka = bits(gt(a, half)), kb = bits(gt(b, half));
    pack(out + k, a, ka);
    pack(out + k + count(ka), b, kb);
    k += count(ka | kb << W);
  }
  return k + plain_block(x + i, n - i, out + k);
}
#endif

// The state of one input: the kept elements of the blocks before `at` are in `room`, from `first`
// on.
typedef struct {
  const double *x;
  size_t n, at, first, last;
  double room[2 * SIZE + 16] __attribute__((aligned(64)));
} Side;
typedef size_t Packer(const double *, size_t, double *);

INLINE void refill(Side *s, Packer *block) {
  memmove(s->room, s->room + s->first, (s->last - s->first) * 8);
  s->last -= s->first;
  s->first = 0;
  while (s->last < SIZE && s->at < s->n) {
    size_t n = MIN(SIZE, s->n - s->at);
    s->last += block(s->x + s->at, n, s->room + s->last);
    s->at += n;
  }
}
INLINE size_t products(Side *a, Side *b, double *out, size_t most, Packer *block) {
  size_t k = 0;
  while (k < most) {
    refill(a, block), refill(b, block);
    size_t n = MIN(MIN(a->last - a->first, b->last - b->first), most - k);
    if (n == 0) break;
    const double *p = a->room + a->first, *q = b->room + b->first;
#pragma omp simd
    for (size_t i = 0; i < n; i++) out[k + i] = p[i] * q[i];
    k += n, a->first += n, b->first += n;
  }
  return k;
}
INLINE void run(const Job *job, Packer *block) {
  Side a = {.x = job->in[0], .n = job->n}, b = {.x = job->in[1], .n = job->n};
  job->len[0] = products(&a, &b, job->out[0], job->n, block);
}

static void branches(const Job *job) {
  const double *x = job->in[0], *y = job->in[1];
  double *out = job->out[0];
  size_t i = 0, j = 0, k = 0;
  for (;;) {
    while (i < job->n && !(x[i] > 0.5)) i++;
    while (j < job->n && !(y[j] > 0.5)) j++;
    if (i == job->n || j == job->n) break;
    out[k++] = x[i++] * y[j++];
  }
  job->len[0] = k;
}

// Counts first. Threads compute equally many results, and both inputs start at the right element.
#define COUNTED 16384
INLINE void start_at(Side *s, const size_t *counts, size_t k, Packer *block) {
  size_t b = 0, before = 0;
  while (b * COUNTED < s->n && before + counts[b] <= k) before += counts[b++];
  s->at = MIN(b * COUNTED, s->n);
  s->first = s->last = 0;
  while (before < k && s->at < s->n) {
    refill(s, block);
    size_t n = MIN(s->last - s->first, k - before);
    s->first += n, before += n;
  }
}
INLINE void run_counted(const Job *job, Packer *block) {
  const size_t blocks = (job->n + COUNTED - 1) / COUNTED;
  static size_t *counts;
  static size_t room;
  if (room < 2 * blocks) {
    room = 2 * blocks;
    counts = __builtin_realloc(counts, room * sizeof *counts);
  }
  size_t total = 0;
#pragma omp parallel num_threads(job->threads)
  {
#pragma omp for
    for (size_t b = 0; b < 2 * blocks; b++) {
      size_t from = b % blocks * COUNTED;
      counts[b] = plain_count((const double *)job->in[b / blocks] + from, MIN(COUNTED, job->n - from));
    }
#pragma omp for reduction(+ : total)
    for (size_t b = 0; b < blocks; b++) total += counts[b];
    const int t = omp_get_thread_num(), threads = omp_get_num_threads();
    const size_t from = total * t / threads, to = total * (t + 1) / threads;
    static __thread Side a, b;
    a.x = job->in[0], b.x = job->in[1], a.n = b.n = job->n;
    start_at(&a, counts, from, block), start_at(&b, counts + blocks, from, block);
    products(&a, &b, (double *)job->out[0] + from, to - from, block);
  }
  job->len[0] = total;
}

static void plain(const Job *job) { run(job, plain_block); }
static void plain_omp(const Job *job) { run_counted(job, plain_block); }
#ifdef COMPACTS
static void simd(const Job *job) { run(job, simd_block); }
static void simd_omp(const Job *job) { run_counted(job, simd_block); }
#endif

const Variant zipFilters[] = {
  {"branches", branches, 0},
  {"branch-free, through the cache", plain, 0},
  {"branch-free, OpenMP", plain_omp, 1},
#ifdef COMPACTS
  {"SIMD, through the cache", simd, 0},
  {"SIMD, OpenMP", simd_omp, 1},
#endif
  {0},
};
