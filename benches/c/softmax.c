// segmentSoftmax: the exponentials of each segment's elements over their sum.
#include "maths.h"

INLINE void one(const double *restrict x, double *restrict out, size_t n) {
  double most = -INFINITY, total = 0;
#pragma omp simd reduction(max : most)
  for (size_t i = 0; i < n; i++) most = MAX(most, x[i]);
#pragma omp simd reduction(+ : total)
  for (size_t i = 0; i < n; i++) {
    double e = exp(x[i] - most);
    out[i] = e;
    total += e;
  }
  double share = 1 / total;
#pragma omp simd
  for (size_t i = 0; i < n; i++) out[i] *= share;
}

static void scalar(const Job *job) {
  const double *x = job->in[0];
  const uint64_t *lens = job->in[1];
  double *out = job->out[0];
  for (size_t s = 0; s < job->in_len[1]; s++) {
    double most = -INFINITY, total = 0;
    for (size_t i = 0; i < lens[s]; i++) most = MAX(most, x[i]);
    for (size_t i = 0; i < lens[s]; i++) total += out[i] = exp(x[i] - most);
    for (size_t i = 0; i < lens[s]; i++) out[i] /= total;
    x += lens[s], out += lens[s];
  }
  job->len[0] = job->n;
}

static void some(const Job *job, size_t first, size_t last, size_t at) {
  const double *x = job->in[0];
  const uint64_t *lens = job->in[1];
  double *out = job->out[0];
  for (size_t s = first; s < last; s++) {
    one(x + at, out + at, lens[s]);
    at += lens[s];
  }
}
static void simd(const Job *job) {
  some(job, 0, job->in_len[1], 0);
  job->len[0] = job->n;
}

// Threads get equally many segments, since lengths vary little.
static void simd_omp(const Job *job) {
  const uint64_t *lens = job->in[1];
  size_t segments = job->in_len[1], sizes[job->threads];
#pragma omp parallel num_threads(job->threads)
  {
    int t = omp_get_thread_num(), threads = omp_get_num_threads();
    size_t first = segments * t / threads, last = segments * (t + 1) / threads, size = 0, at = 0;
    for (size_t s = first; s < last; s++) size += lens[s];
    sizes[t] = size;
#pragma omp barrier
    for (int k = 0; k < t; k++) at += sizes[k];
    some(job, first, last, at);
  }
  job->len[0] = job->n;
}

const Variant segmentSoftmax[] = {
  {"strict", scalar, 0},
  {"SIMD, libmvec", simd, 0},
  {"SIMD, libmvec, OpenMP", simd_omp, 1},
  {0},
};
