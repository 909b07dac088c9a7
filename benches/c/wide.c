// mapChain200 and results40: long programs. 200 maps in a row; 40 sums of one array.
#include "common.h"

#define MAPS 200
// The number of vectors in flight.
#define SETS 8
static void chain_part(const Job *job, size_t from, size_t to) {
  const double *x = job->in[0];
  double *out = job->out[0];
  size_t i = from;
  for (; i + SETS * W <= to; i += SETS * W) {
    V v[SETS];
#pragma GCC unroll 8
    for (int s = 0; s < SETS; s++) v[s] = load(x + i + s * W);
    for (int k = 0; k < MAPS; k++)
#pragma GCC unroll 8
      for (int s = 0; s < SETS; s++) v[s] = 0.5 * v[s] + 1.0;
#pragma GCC unroll 8
    for (int s = 0; s < SETS; s++) store(out + i + s * W, v[s]);
  }
  for (; i < to; i++) {
    double v = x[i];
    for (int k = 0; k < MAPS; k++) v = 0.5 * v + 1.0;
    out[i] = v;
  }
}

// The sums of `|x - k / 40|` for all k, a few at a time so that they stay in registers.
#define SUMS 40
#define TOGETHER 5
#define STRIP 2048
static void sums_part(const double *x, size_t n, double *sums) {
  V all_sums[SUMS] = {{0}};
  double rest[SUMS] = {0};
  const VI no_sign = INT64_MAX - (VI){0};
  for (size_t from = 0; from < n; from += STRIP) {
    const size_t to = MIN(from + STRIP, n);
    for (int first = 0; first < SUMS; first += TOGETHER) {
      V s[TOGETHER], k[TOGETHER];
#pragma GCC unroll 8
      for (int j = 0; j < TOGETHER; j++) s[j] = all_sums[first + j], k[j] = all((first + j) / 40.0);
      size_t i = from;
      for (; i + W <= to; i += W)
#pragma GCC unroll 8
        for (int j = 0; j < TOGETHER; j++) s[j] += (V)((VI)(load(x + i) - k[j]) & no_sign);
      for (; i < to; i++)
        for (int j = 0; j < TOGETHER; j++) rest[first + j] += fabs(x[i] - (first + j) / 40.0);
#pragma GCC unroll 8
      for (int j = 0; j < TOGETHER; j++) all_sums[first + j] = s[j];
    }
  }
  for (int k = 0; k < SUMS; k++) sums[k] = sum_of(all_sums[k]) + rest[k];
}
static void put(const Job *job, const double *sums) {
  for (int k = 0; k < SUMS; k++) *(double *)job->out[k] = sums[k], job->len[k] = 1;
}

static void chain(const Job *job) { chain_part(job, 0, job->n), job->len[0] = job->n; }
static void chain_omp(const Job *job) {
#pragma omp parallel num_threads(job->threads)
  {
    size_t from, to;
    part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);
    chain_part(job, from, to);
  }
  job->len[0] = job->n;
}

static void strict(const Job *job) {
  const double *x = job->in[0];
  double sums[SUMS] = {0};
  for (size_t i = 0; i < job->n; i++)
    for (int k = 0; k < SUMS; k++) sums[k] += fabs(x[i] - k / 40.0);
  put(job, sums);
}
static void strips(const Job *job) {
  double sums[SUMS];
  sums_part(job->in[0], job->n, sums);
  put(job, sums);
}
static void strips_omp(const Job *job) {
  double sums[SUMS] = {0};
#pragma omp parallel num_threads(job->threads) reduction(+ : sums)
  {
    size_t from, to;
    double own[SUMS];
    part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);
    sums_part((const double *)job->in[0] + from, to - from, own);
    for (int k = 0; k < SUMS; k++) sums[k] += own[k];
  }
  put(job, sums);
}

const Variant mapChain200[] = {
  {"SIMD, 8 vectors", chain, 0},
  {"SIMD, 8 vectors, OpenMP", chain_omp, 1},
  {0},
};
const Variant results40[] = {
  {"strict, one pass", strict, 0},
  {"reassociated, SIMD, strips", strips, 0},
  {"reassociated, SIMD, strips, OpenMP", strips_omp, 1},
  {0},
};
