// Matrices of as many rows as columns: sums along both axes, a transpose, a transpose that is added, a stencil, a product.
#include "common.h"

INLINE size_t side_of(const Job *job) {
  size_t s = (size_t)sqrt((double)job->in_len[0]);
  while (s * s > job->in_len[0]) s--;
  while ((s + 1) * (s + 1) <= job->in_len[0]) s++;
  return s;
}

INLINE double sum_of_row(const double *x, size_t n) {
  V a = all(0), b = all(0), c = all(0), d = all(0);
  size_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    a += load(x + i), b += load(x + i + W), c += load(x + i + 2 * W), d += load(x + i + 3 * W);
  }
  for (; i + W <= n; i += W) a += load(x + i);
  a = (a + b) + (c + d);
  double sum = 0;
  for (int k = 0; k < W; k++) sum += a[k];
  for (; i < n; i++) sum += x[i];
  return sum;
}

static void row_sums(const Job *job) {
  const size_t s = side_of(job);
  const double *x = job->in[0];
  double *out = job->out[0];
  for (size_t i = 0; i < s; i++) out[i] = sum_of_row(x + i * s, s);
  job->len[0] = s;
}
static void row_sums_plain(const Job *job) {
  const size_t s = side_of(job);
  const double *x = job->in[0];
  double *out = job->out[0];
  for (size_t i = 0; i < s; i++) {
    double sum = 0;
    for (size_t j = 0; j < s; j++) sum += x[i * s + j];
    out[i] = sum;
  }
  job->len[0] = s;
}

static void column_sums(const Job *job) {
  const size_t s = side_of(job);
  const double *restrict x = job->in[0];
  double *restrict out = job->out[0];
  for (size_t j = 0; j < s; j++) out[j] = 0;
  for (size_t i = 0; i < s; i++)
    for (size_t j = 0; j < s; j++) out[j] += x[i * s + j];
  job->len[0] = s;
}
// Four rows at a time: sums are read and written a quarter as often.
static void column_sums_4(const Job *job) {
  const size_t s = side_of(job);
  const double *restrict x = job->in[0];
  double *restrict out = job->out[0];
  for (size_t j = 0; j < s; j++) out[j] = 0;
  size_t i = 0;
  for (; i + 4 <= s; i += 4) {
    const double *restrict a = x + i * s, *restrict b = a + s, *restrict c = b + s, *restrict d = c + s;
    for (size_t j = 0; j < s; j++) out[j] = (((out[j] + a[j]) + b[j]) + c[j]) + d[j];
  }
  for (; i < s; i++)
    for (size_t j = 0; j < s; j++) out[j] += x[i * s + j];
  job->len[0] = s;
}

#define BLOCK 16
INLINE void transposed(const Job *job, const int added) {
  const size_t s = side_of(job);
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
  const size_t s = side_of(job);
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

// The border is peeled: inside, neighbours are there.
static void grid(const Job *job) {
  const size_t s = side_of(job);
  const double *restrict x = job->in[0];
  double *restrict out = job->out[0];
  for (size_t i = 0; i < s; i++) {
    const double *h = x + i * s, *n = i > 0 ? h - s : h, *d = i + 1 < s ? h + s : h;
    double *restrict o = out + i * s;
#define AT(j, w, e) o[j] = 0.5 * h[j] + 0.125 * ((n[j] + d[j]) + (h[w] + h[e]))
    AT(0, 0, MIN(1, s - 1));
    for (size_t j = 1; j + 1 < s; j++) AT(j, j - 1, j + 1);
    if (s > 1) AT(s - 1, s - 2, s - 1);
  }
  job->len[0] = s * s;
}

static void product(const Job *job) {
  const size_t s = side_of(job);
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

const Variant rowSums[] = {{"plain", row_sums_plain, 0}, {"SIMD", row_sums, 0}, {0}};
const Variant columnSums[] = {{"row by row", column_sums, 0}, {"four rows at a time", column_sums_4, 0}, {0}};
const Variant transpose[] = {{"plain", transpose_plain, 0}, {"blocks", transpose_blocks, 0}, {0}};
const Variant transposeZip[] = {{"plain", zip_plain, 0}, {"blocks", zip_blocks, 0}, {0}};
const Variant grid5[] = {{"border peeled", grid, 0}, {0}};
const Variant matmul[] = {{"columns inside", product, 0}, {0}};
