// sortU64 and its kin: radix sorts of 11 bits a pass. topTen: a threshold. median: a selection.
// sortSegments: sorting networks. groupBy1k and groupBy1M: a hash table.
#include "common.h"
#include <stdlib.h>

// Order-preserving conversion of floats to integers, and back.
INLINE uint64_t key_of(double x) {
  uint64_t w;
  memcpy(&w, &x, 8);
  return w ^ (w >> 63 ? ~0ull : 1ull << 63);
}
INLINE double float_of(uint64_t w) {
  double x;
  w ^= w >> 63 ? 1ull << 63 : ~0ull;
  memcpy(&x, &w, 8);
  return x;
}

typedef struct { uint64_t key, place; } Pair;
INLINE uint64_t word_of(uint64_t x) { return x; }
INLINE uint64_t key_of_pair(Pair p) { return p.key; }

// A pass with all keys in one bucket is skipped. Returns the location of the result.
#define BITS 11
#define PASSES 6
#define RADIX(name, T, key)                                                                      \
  static T *name(T *from, T *to, size_t n) {                                                     \
    static size_t counts[PASSES][1 << BITS];                                                     \
    memset(counts, 0, sizeof counts);                                                            \
    for (size_t i = 0; i < n; i++)                                                               \
      for (int p = 0; p < PASSES; p++) counts[p][key(from[i]) >> p * BITS & ((1 << BITS) - 1)]++;\
    for (int p = 0; p < PASSES; p++) {                                                           \
      size_t *count = counts[p], sum = 0;                                                        \
      if (n && count[key(from[0]) >> p * BITS & ((1 << BITS) - 1)] == n) continue;               \
      for (int b = 0; b < 1 << BITS; b++) { size_t c = count[b]; count[b] = sum; sum += c; }     \
      for (size_t i = 0; i < n; i++) to[count[key(from[i]) >> p * BITS & ((1 << BITS) - 1)]++] = from[i]; \
      T *swapped = from; from = to; to = swapped;                                                \
    }                                                                                            \
    return from;                                                                                 \
  }
RADIX(radix, uint64_t, word_of)
RADIX(radix_pairs, Pair, key_of_pair)

static void sort_u64(const Job *job) {
  uint64_t *out = job->out[0], *room = malloc(job->n * 8 + 8);
  memcpy(out, job->in[0], job->n * 8);
  if (radix(out, room, job->n) != out) memcpy(out, room, job->n * 8);
  free(room);
  job->len[0] = job->n;
}
static void sort_f64(const Job *job) {
  const double *x = job->in[0];
  double *out = job->out[0];
  uint64_t *room = malloc(job->n * 16 + 16);
  for (size_t i = 0; i < job->n; i++) room[i] = key_of(x[i]);
  const uint64_t *sorted = radix(room, room + job->n, job->n);
  for (size_t i = 0; i < job->n; i++) out[i] = float_of(sorted[i]);
  free(room);
  job->len[0] = job->n;
}
INLINE void by_pairs(const Job *job, const int floats, const int gather) {
  Pair *room = malloc(job->n * 32 + 32);
  for (size_t i = 0; i < job->n; i++)
    room[i] = (Pair){floats ? key_of(((const double *)job->in[0])[i]) : ((const uint64_t *)job->in[0])[i], i};
  const Pair *sorted = radix_pairs(room, room + job->n, job->n);
  uint64_t *out = job->out[0];
  for (size_t i = 0; i < job->n; i++)
    out[i] = gather ? ((const uint64_t *)job->in[1])[sorted[i].place] : sorted[i].place;
  free(room);
  job->len[0] = job->n;
}
static void argsort_u64(const Job *job) { by_pairs(job, 0, 0); }
static void argsort_f64(const Job *job) { by_pairs(job, 1, 0); }
static void by_key_u64(const Job *job) { by_pairs(job, 0, 1); }
static void by_key_f64(const Job *job) { by_pairs(job, 1, 1); }

#define ONE(name, run) const Variant name[] = {{"radix", run, 0}, {0}};
ONE(sortU64, sort_u64)
ONE(sortF64, sort_f64)
ONE(argsortU64, argsort_u64)
ONE(argsortF64, argsort_f64)
ONE(sortByKeyU64, by_key_u64)
ONE(sortByKeyF64, by_key_f64)

// The largest ten, in descending order.
INLINE void insert(double *top, double x) {
  int k = 9;
  for (; k > 0 && top[k - 1] < x; k--) top[k] = top[k - 1];
  top[k] = x;
}
INLINE void top_part(const double *x, size_t n, double *top) {
  for (int k = 0; k < 10; k++) top[k] = -INFINITY;
  for (size_t i = 0; i < n; i++)
    if (x[i] > top[9]) insert(top, x[i]);
}
static void top_plain(const Job *job) {
  top_part(job->in[0], job->n, job->out[0]);
  job->len[0] = MIN(job->n, 10);
}
// Eight elements are tested at once.
static void top_eight(const Job *job) {
  const double *x = job->in[0];
  double *top = job->out[0];
  size_t i = 0;
  for (int k = 0; k < 10; k++) top[k] = -INFINITY;
  for (; i + 8 <= job->n; i += 8) {
    int any = 0;
    for (int k = 0; k < 8; k++) any |= x[i + k] > top[9];
    if (any)
      for (int k = 0; k < 8; k++)
        if (x[i + k] > top[9]) insert(top, x[i + k]);
  }
  for (; i < job->n; i++)
    if (x[i] > top[9]) insert(top, x[i]);
  job->len[0] = MIN(job->n, 10);
}
static void top_omp(const Job *job) {
  double *top = job->out[0];
  for (int k = 0; k < 10; k++) top[k] = -INFINITY;
#pragma omp parallel num_threads(job->threads)
  {
    double own[10];
    size_t from, to;
    part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);
    top_part((const double *)job->in[0] + from, to - from, own);
#pragma omp critical
    for (int k = 0; k < 10; k++)
      if (own[k] > top[9]) insert(top, own[k]);
  }
  job->len[0] = MIN(job->n, 10);
}
const Variant topTen[] = {
  {"threshold", top_plain, 0},
  {"threshold, 8 at once", top_eight, 0},
  {"threshold, OpenMP", top_omp, 1},
  {0},
};

// Hoare's selection with the median of three as pivot.
static double select_at(double *x, size_t n, size_t k) {
  size_t low = 0, high = n - 1;
  while (low < high) {
    const double a = x[low], b = x[low + (high - low) / 2], c = x[high];
    const double pivot = MAX(MIN(a, b), MIN(MAX(a, b), c));
    ptrdiff_t i = low, j = high;
    while (i <= j) {
      while (x[i] < pivot) i++;
      while (x[j] > pivot) j--;
      if (i <= j) { double t = x[i]; x[i++] = x[j]; x[j--] = t; }
    }
    if ((ptrdiff_t)k <= j) high = j;
    else if ((ptrdiff_t)k >= i) low = i;
    else break;
  }
  return x[k];
}
static void median_select(const Job *job) {
  const size_t low = (job->n - 1) / 2;
  double *x = malloc(job->n * 8), above = INFINITY;
  memcpy(x, job->in[0], job->n * 8);
  const double middle = select_at(x, job->n, low);
  for (size_t i = low + 1; i < job->n; i++) above = MIN(above, x[i]);
  *(double *)job->out[0] = job->n % 2 ? middle : middle * 0.5 + above * 0.5;
  free(x);
  job->len[0] = 1;
}
const Variant median[] = {{"selection", median_select, 0}, {0}};

// Batcher's network of 16, without comparisons beyond n.
#define X(i, j) if (j < n) { const uint64_t a = x[i], b = x[j]; x[i] = MIN(a, b); x[j] = MAX(a, b); }
INLINE void network(uint64_t *to, const size_t n) {
  uint64_t x[16];
  memcpy(x, to, n * 8);
  X(0, 1) X(2, 3) X(4, 5) X(6, 7) X(8, 9) X(10, 11) X(12, 13) X(14, 15)
  X(0, 2) X(1, 3) X(4, 6) X(5, 7) X(8, 10) X(9, 11) X(12, 14) X(13, 15)
  X(1, 2) X(5, 6) X(9, 10) X(13, 14)
  X(0, 4) X(1, 5) X(2, 6) X(3, 7) X(8, 12) X(9, 13) X(10, 14) X(11, 15)
  X(2, 4) X(3, 5) X(10, 12) X(11, 13)
  X(1, 2) X(3, 4) X(5, 6) X(9, 10) X(11, 12) X(13, 14)
  X(0, 8) X(1, 9) X(2, 10) X(3, 11) X(4, 12) X(5, 13) X(6, 14) X(7, 15)
  X(4, 8) X(5, 9) X(6, 10) X(7, 11)
  X(2, 4) X(3, 5) X(6, 8) X(7, 9) X(10, 12) X(11, 13)
  X(1, 2) X(3, 4) X(5, 6) X(7, 8) X(9, 10) X(11, 12) X(13, 14)
  memcpy(to, x, n * 8);
}
INLINE void insertion(uint64_t *x, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const uint64_t v = x[i];
    size_t k = i;
    for (; k > 0 && x[k - 1] > v; k--) x[k] = x[k - 1];
    x[k] = v;
  }
}
INLINE void by_network(uint64_t *x, size_t n) {
#define N(k) case k: network(x, k); break;
  switch (n) {
    case 0: case 1: break;
    N(2) N(3) N(4) N(5) N(6) N(7) N(8) N(9) N(10) N(11) N(12) N(13) N(14) N(15) N(16)
    default: insertion(x, n);
  }
}
INLINE void segments(const Job *job, const int networks) {
  uint64_t *x = job->out[0];
  const uint64_t *lengths = job->in[1];
  memcpy(x, job->in[0], job->in_len[0] * 8);
  for (size_t s = 0; s < job->in_len[1]; x += lengths[s++])
    if (networks) by_network(x, lengths[s]);
    else insertion(x, lengths[s]);
  job->len[0] = job->in_len[0];
}
static void segments_networks(const Job *job) { segments(job, 1); }
static void segments_insertion(const Job *job) { segments(job, 0); }
const Variant sortSegments[] = {
  {"networks", segments_networks, 0},
  {"insertion", segments_insertion, 0},
  {0},
};

// A hash table with twice the maximal number of keys, then the keys in order.
typedef struct { uint64_t key, sums[3]; } Group;
static void by_hash(const Job *job) {
  const uint64_t *keys = job->in[0], *x = job->in[1];
  size_t size = 4096, used = 0;
  uint32_t *table = calloc(size, 4);
  Group *groups = malloc(size / 2 * sizeof(Group));
  for (size_t i = 0; i < job->n; i++) {
    size_t at = (keys[i] * 0x9e3779b97f4a7c15ull >> 20) & (size - 1);
    while (table[at] && groups[table[at] - 1].key != keys[i]) at = (at + 1) & (size - 1);
    if (!table[at]) {
      groups[used++] = (Group){keys[i], {0}};
      table[at] = used;
    }
    Group *g = &groups[table[at] - 1];
    g->sums[0] += x[i], g->sums[1] += x[i] & 255, g->sums[2] += x[i] >> 8;
    if (used * 2 == size) {
      free(table);
      table = calloc(size *= 2, 4);
      groups = realloc(groups, size / 2 * sizeof(Group));
      for (size_t k = 0; k < used; k++) {
        size_t at = (groups[k].key * 0x9e3779b97f4a7c15ull >> 20) & (size - 1);
        while (table[at]) at = (at + 1) & (size - 1);
        table[at] = k + 1;
      }
    }
  }
  Pair *order = malloc(used * 32 + 32);
  for (size_t k = 0; k < used; k++) order[k] = (Pair){groups[k].key, k};
  const Pair *sorted = radix_pairs(order, order + used, used);
  for (size_t k = 0; k < used; k++) {
    const Group *g = &groups[sorted[k].place];
    ((uint64_t *)job->out[0])[k] = g->key;
    for (int s = 0; s < 3; s++) ((uint64_t *)job->out[1 + s])[k] = g->sums[s];
  }
  for (int s = 0; s < 4; s++) job->len[s] = used;
  free(table), free(groups), free(order);
}
const Variant groupBy1k[] = {{"hash table", by_hash, 0}, {0}};
const Variant groupBy1M[] = {{"hash table", by_hash, 0}, {0}};
