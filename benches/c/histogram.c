// histogram256 and histogram1M: the number of elements of each key.
#include "common.h"
#include <stdlib.h>

static size_t bins_of(const Job *job) { return *(const uint64_t *)job->in[1]; }
static void done(const Job *job) { job->len[0] = bins_of(job); }

static void plain_part(const uint32_t *keys, size_t n, uint64_t *out) {
  for (size_t i = 0; i < n; i++) out[keys[i]]++;
}
static void plain(const Job *job) {
  memset(job->out[0], 0, bins_of(job) * 8);
  plain_part(job->in[0], job->n, job->out[0]);
  done(job);
}

// Several tables, so that equal neighbouring keys do not wait for each other.
#define TABLES 4
static void tables_part(const uint32_t *keys, size_t n, uint64_t *out, size_t bins) {
  uint32_t tables[TABLES][256] = {{0}};
  size_t i = 0;
  for (; i + TABLES <= n; i += TABLES)
    for (int k = 0; k < TABLES; k++) tables[k][keys[i + k]]++;
  for (; i < n; i++) tables[0][keys[i]]++;
  for (size_t b = 0; b < bins; b++) out[b] = (uint64_t)tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b];
}
static void tables(const Job *job) {
  tables_part(job->in[0], job->n, job->out[0], bins_of(job));
  done(job);
}

// A table for each thread.
INLINE void run_parallel(const Job *job, const int small) {
  const size_t bins = bins_of(job);
  const uint32_t *keys = job->in[0];
  static uint64_t *room;
  static size_t have;
  if (have < bins * job->threads) {
    have = bins * job->threads;
    free(room);
    room = aligned_alloc(64, (have * 8 + 63) / 64 * 64);
  }
  uint64_t *out = job->out[0];
#pragma omp parallel num_threads(job->threads)
  {
    const int t = omp_get_thread_num(), threads = omp_get_num_threads();
    uint64_t *own = t == 0 ? out : room + t * bins;
    size_t from, to;
    part_of(job->n, t, threads, &from, &to);
    if (small) tables_part(keys + from, to - from, own, bins);
    else memset(own, 0, bins * 8), plain_part(keys + from, to - from, own);
#pragma omp barrier
    part_of(bins, t, threads, &from, &to);
    for (int k = 1; k < threads; k++)
      for (size_t b = from; b < to; b++) out[b] += room[k * bins + b];
  }
  done(job);
}
static void plain_omp(const Job *job) { run_parallel(job, 0); }
static void tables_omp(const Job *job) { run_parallel(job, 1); }

// Each thread owns some of the bins, and reads all keys.
static void bins_omp(const Job *job) {
  const uint32_t *keys = job->in[0];
  uint64_t *out = job->out[0];
#pragma omp parallel num_threads(job->threads)
  {
    size_t from, to;
    part_of(bins_of(job), omp_get_thread_num(), omp_get_num_threads(), &from, &to);
    memset(out + from, 0, (to - from) * 8);
    for (size_t i = 0; i < job->n; i++)
      if (keys[i] - from < to - from) out[keys[i]]++;
  }
  done(job);
}

const Variant histogram256[] = {
  {"plain", plain, 0},
  {"4 tables", tables, 0},
  {"4 tables, OpenMP", tables_omp, 1},
  {0},
};
const Variant histogram1M[] = {
  {"plain", plain, 0},
  {"a table per thread, OpenMP", plain_omp, 1},
  {"bins per thread, OpenMP", bins_omp, 1},
  {0},
};
