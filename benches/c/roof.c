// The roof: memory throughput in bytes per second without computation. It measures read, copy and
// triad, each also with streaming stores, on columns that exceed every cache.
#include "common.h"

static void done(const Job *job) { job->len[0] = job->n; }

static void read_all(const Job *job) {
  const double *x = job->in[0];
  double total = 0;
#pragma omp parallel num_threads(job->threads) reduction(+ : total)
  {
    size_t from, to;
    part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);
    V s[8] = {0};
    for (size_t i = from; i + 8 * W <= to; i += 8 * W)
#pragma GCC unroll 8
      for (int k = 0; k < 8; k++) s[k] += load(x + i + k * W);
    for (int k = 1; k < 8; k++) s[0] += s[k];
    total += sum_of(s[0]);
  }
  *(double *)job->out[0] = total;
  job->len[0] = 1;
}

static void copy_all(const Job *job) {
  const double *x = job->in[0];
  double *out = job->out[0];
#pragma omp parallel num_threads(job->threads)
  {
    size_t from, to;
    part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);
    for (size_t i = from; i + W <= to; i += W) stream(out + i, load(x + i));
    fence();
  }
  done(job);
}

static void triad(const Job *job) {
  const double *x = job->in[0], *y = job->in[1];
  double *out = job->out[0];
#pragma omp parallel num_threads(job->threads)
  {
    size_t from, to;
    part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);
    for (size_t i = from; i + W <= to; i += W) stream(out + i, load(x + i) + 3.0 * load(y + i));
    fence();
  }
  done(job);
}

const Variant roof[] = {
  {"read", read_all, 1},
  {"copy", copy_all, 1},
  {"triad", triad, 1},
  {0},
};
