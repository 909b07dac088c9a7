// A transpose, a sum with the transpose, a matrix product, all pairs of bodies.
#include "ranks.h"

#define BLOCK 16
INLINE void transposed(const Job *job, const int added) {
  const size_t s = square(job).rows;
  const double *restrict x = job->in[0];
  double *restrict out = job->out[0];
  for (size_t i = 0; i < s; i += BLOCK)
    for (size_t j = 0; j < s; j += BLOCK)
      for (size_t k = i; k < MIN(i + BLOCK, s); k++)
        for (size_t l = j; l < MIN(j + BLOCK, s); l++)
          out[k * s + l] = added ? x[k * s + l] + x[l * s + k] : x[l * s + k];
  job->len[0] = s * s;
}
INLINE void transposed_plain(const Job *job, const int added) {
  const size_t s = square(job).rows;
  const double *restrict x = job->in[0];
  double *restrict out = job->out[0];
  for (size_t k = 0; k < s; k++)
    for (size_t l = 0; l < s; l++) out[k * s + l] = added ? x[k * s + l] + x[l * s + k] : x[l * s + k];
  job->len[0] = s * s;
}
static void transpose_blocks(const Job *job) { transposed(job, 0); }
static void transpose_plain(const Job *job) { transposed_plain(job, 0); }
static void zip_blocks(const Job *job) { transposed(job, 1); }
static void zip_plain(const Job *job) { transposed_plain(job, 1); }

static void product(const Job *job) {
  const size_t s = square(job).rows;
  const double *restrict x = job->in[0], *restrict y = job->in[1];
  double *restrict out = job->out[0];
  for (size_t i = 0; i < s * s; i++) out[i] = 0;
  for (size_t i = 0; i < s; i++)
    for (size_t k = 0; k < s; k++) {
      const double a = x[i * s + k];
      for (size_t j = 0; j < s; j++) out[i * s + j] += a * y[k * s + j];
    }
  job->len[0] = s * s;
}

static void pulls(const Job *job) {
  const size_t n = job->in_len[0];
  const double *restrict x = job->in[0], *restrict y = job->in[1], *restrict z = job->in[2], *restrict mass = job->in[3];
  double *restrict out_x = job->out[0], *restrict out_y = job->out[1], *restrict out_z = job->out[2];
  for (size_t i = 0; i < n; i++) {
    double sum_x = 0, sum_y = 0, sum_z = 0;
#pragma omp simd reduction(+ : sum_x, sum_y, sum_z)
    for (size_t j = 0; j < n; j++) {
      double to_x = x[j] - x[i], to_y = y[j] - y[i], to_z = z[j] - z[i];
      double squares = to_x * to_x + to_y * to_y + to_z * to_z + 1e-3;
      double pull = mass[j] / (squares * sqrt(squares));
      sum_x += to_x * pull, sum_y += to_y * pull, sum_z += to_z * pull;
    }
    out_x[i] = sum_x, out_y[i] = sum_y, out_z[i] = sum_z;
  }
  job->len[0] = job->len[1] = job->len[2] = n;
}

const Variant transpose[] = {{"plain", transpose_plain, 0}, {"blocks", transpose_blocks, 0}, {0}};
const Variant transposeZip[] = {{"plain", zip_plain, 0}, {"blocks", zip_blocks, 0}, {0}};
const Variant matmul[] = {{"columns inside", product, 0}, {0}};
const Variant allPairs[] = {{"SIMD", pulls, 0}, {0}};
