// Sums along the axes of a matrix, and their dependents.
#include "lanes.h"
#include "maths.h"
#include "ranks.h"

static void row_sums_plain(const Job *job, Shape s) {
  const double *x = job->in[0];
  double *out = job->out[0];
  for (size_t i = 0; i < s.rows; i++) {
    double sum = 0;
    for (size_t j = 0; j < s.columns; j++) sum += x[i * s.columns + j];
    out[i] = sum;
  }
  job->len[0] = s.rows;
}
INLINE double sum_of_row(const double *x, size_t n) {
  V a = all(0), b = all(0), c = all(0), d = all(0);
  size_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    a += load(x + i), b += load(x + i + W), c += load(x + i + 2 * W), d += load(x + i + 3 * W);
  }
  for (; i + W <= n; i += W) a += load(x + i);
  double sum = sum_of((a + b) + (c + d));
  for (; i < n; i++) sum += x[i];
  return sum;
}
static void row_sums(const Job *job, Shape s) {
  const double *x = job->in[0];
  double *out = job->out[0];
  for (size_t i = 0; i < s.rows; i++) out[i] = sum_of_row(x + i * s.columns, s.columns);
  job->len[0] = s.rows;
}

INLINE void add_rows(const double *x, Shape s, double *restrict sums) {
  const size_t n = s.columns;
  for (size_t j = 0; j < n; j++) sums[j] = 0;
  size_t i = 0;
  // Four rows at a time: sums are read and written a quarter as often.
  for (; i + 4 <= s.rows; i += 4) {
    const double *a = x + i * n, *b = a + n, *c = b + n, *d = c + n;
    for (size_t j = 0; j < n; j++) sums[j] = (((sums[j] + a[j]) + b[j]) + c[j]) + d[j];
  }
  for (; i < s.rows; i++)
    for (size_t j = 0; j < n; j++) sums[j] += x[i * n + j];
}
static void column_sums_4(const Job *job, Shape s) {
  add_rows(job->in[0], s, job->out[0]);
  job->len[0] = s.columns;
}
static void column_sums(const Job *job, Shape s) {
  const double *restrict x = job->in[0];
  double *restrict out = job->out[0];
  for (size_t j = 0; j < s.columns; j++) out[j] = 0;
  for (size_t i = 0; i < s.rows; i++)
    for (size_t j = 0; j < s.columns; j++) out[j] += x[i * s.columns + j];
  job->len[0] = s.columns;
}

// The row above holds the sums: it is cached, and no other memory is written.
static void running_sums(const Job *job, Shape s) {
  const double *restrict x = job->in[0];
  double *out = job->out[0];
  const size_t n = s.columns;
  for (size_t j = 0; j < n && s.rows > 0; j++) out[j] = x[j];
  for (size_t i = 1; i < s.rows; i++) {
    const double *above = out + (i - 1) * n;
    double *restrict row = out + i * n;
    for (size_t j = 0; j < n; j++) row[j] = above[j] + x[i * n + j];
  }
  job->len[0] = s.rows * n;
}
// Four rows at a time: sums stay in registers between rows.
static void running_sums_4(const Job *job, Shape s) {
  const double *restrict x = job->in[0];
  double *restrict out = job->out[0], *restrict sums = kept(0, s.columns * sizeof(double));
  const size_t n = s.columns;
  for (size_t j = 0; j < n; j++) sums[j] = 0;
  size_t i = 0;
  for (; i + 4 <= s.rows; i += 4) {
    const double *a = x + i * n, *b = a + n, *c = b + n, *d = c + n;
    double *restrict to = out + i * n;
    for (size_t j = 0; j < n; j++) {
      const double first = sums[j] + a[j], second = first + b[j], third = second + c[j], last = third + d[j];
      to[j] = first, to[n + j] = second, to[2 * n + j] = third, to[3 * n + j] = last, sums[j] = last;
    }
  }
  for (; i < s.rows; i++)
    for (size_t j = 0; j < n; j++) out[i * n + j] = sums[j] += x[i * n + j];
  job->len[0] = s.rows * n;
}

static void both_sums(const Job *job, Shape s) {
  const double *x = job->in[0];
  double *restrict rows = job->out[0], *restrict columns = job->out[1];
  const size_t n = s.columns;
  for (size_t j = 0; j < n; j++) columns[j] = 0;
  size_t i = 0;
  for (; i + 4 <= s.rows; i += 4) {
    const double *a = x + i * n, *b = a + n, *c = b + n, *d = c + n;
    double sum_a = 0, sum_b = 0, sum_c = 0, sum_d = 0;
#pragma omp simd reduction(+ : sum_a, sum_b, sum_c, sum_d)
    for (size_t j = 0; j < n; j++) {
      columns[j] = (((columns[j] + a[j]) + b[j]) + c[j]) + d[j];
      sum_a += a[j], sum_b += b[j], sum_c += c[j], sum_d += d[j];
    }
    rows[i] = sum_a, rows[i + 1] = sum_b, rows[i + 2] = sum_c, rows[i + 3] = sum_d;
  }
  for (; i < s.rows; i++) {
    rows[i] = sum_of_row(x + i * n, n);
    for (size_t j = 0; j < n; j++) columns[j] += x[i * n + j];
  }
  job->len[0] = s.rows, job->len[1] = n;
}

// The squared distances from a mean.
INLINE double squares_of_row(const double *x, size_t n, double mean) {
  V sums[4] = {0};
  size_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W)
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      V away = load(x + i + k * W) - mean;
      sums[k] += away * away;
    }
  double sum = sum_of((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
  return sum;
}
static void moments(const Job *job, Shape s) {
  const double *x = job->in[0];
  double *means = job->out[0], *variances = job->out[1];
  const size_t n = s.columns;
  for (size_t i = 0; i < s.rows; i++, x += n) {
    const double mean = sum_of_row(x, n) / n;
    means[i] = mean, variances[i] = squares_of_row(x, n, mean) / n;
  }
  job->len[0] = job->len[1] = s.rows;
}

static void softmax(const Job *job, Shape s) {
  const double *restrict x = job->in[0];
  double *restrict out = job->out[0];
  const size_t n = s.columns;
  for (size_t i = 0; i < s.rows; i++, x += n, out += n) {
    double most = -INFINITY, total = 0;
#pragma omp simd reduction(max : most)
    for (size_t j = 0; j < n; j++) most = MAX(most, x[j]);
#pragma omp simd reduction(+ : total)
    for (size_t j = 0; j < n; j++) {
      double power = exp(x[j] - most);
      out[j] = power;
      total += power;
    }
    double share = 1 / total;
#pragma omp simd
    for (size_t j = 0; j < n; j++) out[j] *= share;
  }
  job->len[0] = s.rows * n;
}

static void normalise(const Job *job, Shape s) {
  const double *restrict x = job->in[0];
  double *restrict out = job->out[0], *restrict sums = kept(0, s.columns * sizeof(double));
  add_rows(x, s, sums);
  for (size_t i = 0; i < s.rows; i++)
    for (size_t j = 0; j < s.columns; j++) out[i * s.columns + j] = x[i * s.columns + j] / sums[j];
  job->len[0] = s.rows * s.columns;
}

FOR_SQUARE(row_sums_plain)
FOR_SQUARE(row_sums)
FOR_SQUARE(column_sums)
FOR_SQUARE(column_sums_4)
FOR_SQUARE(running_sums)
FOR_SQUARE(running_sums_4)
FOR_SQUARE(both_sums)
FOR_SQUARE(moments)
FOR_SQUARE(softmax)
FOR_SQUARE(normalise)
FOR_SHORT(row_sums_plain)
FOR_SHORT(row_sums)
FOR_SHORT(column_sums)
FOR_SHORT(running_sums)
FOR_SHORT(running_sums_4)
FOR_SHORT(both_sums)
FOR_SHORT(moments)
FOR_SHORT(softmax)
FOR_SHORT(normalise)

#ifdef __AVX2__
// Rows of at most FEW vectors, in registers. All vectors are full except the last, which has `rest`
// lanes in use.
#define FEW 4
typedef struct {
  V v[FEW];
} Row;
INLINE Row row_of(const double *x, const int vectors, int64_t rest) {
  Row row;
#pragma GCC unroll 4
  for (int k = 0; k < vectors; k++) row.v[k] = k + 1 < vectors ? load(x + k * W) : load_some(x + k * W, rest);
  return row;
}
INLINE V kept_lanes(V v, int64_t lanes) {
#ifdef __AVX512F__
  return (V)_mm512_maskz_mov_pd(first_lanes(lanes), (__m512d)v);
#else
  return (V)((VI)v & first_lanes(lanes));
#endif
}
INLINE V lanes_of(Row row, const int vectors) {
  V v = row.v[0];
#pragma GCC unroll 4
  for (int k = 1; k < vectors; k++) v += row.v[k];
  return v;
}
INLINE void add_row(V *sums, Row row, const int vectors) {
#pragma GCC unroll 4
  for (int k = 0; k < vectors; k++) sums[k] += row.v[k];
}
// The squared distances of the elements from a mean.
INLINE V squares_of(Row row, double mean, const int vectors, int64_t rest) {
  V sum = all(0);
#pragma GCC unroll 4
  for (int k = 0; k < vectors; k++) {
    V away = row.v[k] - mean;
    if (k + 1 == vectors) away = kept_lanes(away, rest);
    sum += away * away;
  }
  return sum;
}
INLINE void store_some(double *p, V v, int64_t lanes) {
#ifdef __AVX512F__
  _mm512_mask_storeu_pd(p, first_lanes(lanes), (__m512d)v);
#else
  _mm256_maskstore_pd(p, (__m256i)first_lanes(lanes), (__m256d)v);
#endif
}

// A pass over all rows, with its code for each number of vectors.
#define FOR_FEW(kernel)                                                                                                \
  static void kernel##_short(const Job *job) {                                                                         \
    const Shape s = of_short_rows(job);                                                                                \
    const int vectors = (int)((s.columns + W - 1) / W);                                                                \
    const int64_t rest = (int64_t)s.columns - (vectors - 1) * W;                                                       \
    if (vectors == 1) kernel(job, s, 1, rest);                                                                         \
    if (vectors == 2) kernel(job, s, 2, rest);                                                                         \
    if (vectors == 3) kernel(job, s, 3, rest);                                                                         \
    if (vectors == 4) kernel(job, s, 4, rest);                                                                         \
  }

INLINE void few_rows(const Job *job, Shape s, const int vectors, int64_t rest) {
  const double *x = job->in[0];
  double *out = job->out[0];
  size_t i = 0;
  for (; i + W <= s.rows; i += W) {
    V lanes[W];
#pragma GCC unroll 8
    for (int k = 0; k < W; k++, x += s.columns) lanes[k] = lanes_of(row_of(x, vectors, rest), vectors);
    store(out + i, sums_of(lanes));
  }
  for (; i < s.rows; i++, x += s.columns) out[i] = sum_of(lanes_of(row_of(x, vectors, rest), vectors));
  job->len[0] = s.rows;
}
// Even and odd rows have separate sums, so that consecutive additions are independent.
INLINE void few_sums(const double *x, Shape s, const int vectors, int64_t rest, V *sums) {
  V odd[FEW];
#pragma GCC unroll 4
  for (int k = 0; k < vectors; k++) sums[k] = odd[k] = all(0);
  size_t i = 0;
  for (; i + 2 <= s.rows; i += 2, x += 2 * s.columns) {
    add_row(sums, row_of(x, vectors, rest), vectors);
    add_row(odd, row_of(x + s.columns, vectors, rest), vectors);
  }
  if (i < s.rows) add_row(sums, row_of(x, vectors, rest), vectors);
#pragma GCC unroll 4
  for (int k = 0; k < vectors; k++) sums[k] += odd[k];
}
INLINE void few_columns(const Job *job, Shape s, const int vectors, int64_t rest) {
  double *out = job->out[0];
  V sums[FEW];
  few_sums(job->in[0], s, vectors, rest, sums);
  for (int k = 0; k < vectors; k++) store(out + k * W, sums[k]);
  job->len[0] = s.columns;
}
INLINE void few_both(const Job *job, Shape s, const int vectors, int64_t rest) {
  const double *x = job->in[0];
  double *rows = job->out[0], *columns = job->out[1];
  V sums[FEW];
#pragma GCC unroll 4
  for (int k = 0; k < vectors; k++) sums[k] = all(0);
  size_t i = 0;
  for (; i + W <= s.rows; i += W) {
    V lanes[W];
#pragma GCC unroll 8
    for (int k = 0; k < W; k++, x += s.columns) {
      Row row = row_of(x, vectors, rest);
      lanes[k] = lanes_of(row, vectors);
      add_row(sums, row, vectors);
    }
    store(rows + i, sums_of(lanes));
  }
  for (; i < s.rows; i++, x += s.columns) {
    Row row = row_of(x, vectors, rest);
    rows[i] = sum_of(lanes_of(row, vectors));
    add_row(sums, row, vectors);
  }
  for (int k = 0; k < vectors; k++) store(columns + k * W, sums[k]);
  job->len[0] = s.rows, job->len[1] = s.columns;
}
INLINE void few_moments(const Job *job, Shape s, const int vectors, int64_t rest) {
  const double *x = job->in[0], n = (double)s.columns;
  double *means = job->out[0], *variances = job->out[1];
  size_t i = 0;
  for (; i + W <= s.rows; i += W, x += W * s.columns) {
    V lanes[W];
#pragma GCC unroll 8
    for (int k = 0; k < W; k++) lanes[k] = lanes_of(row_of(x + k * s.columns, vectors, rest), vectors);
    V mean = sums_of(lanes) / n;
#pragma GCC unroll 8
    for (int k = 0; k < W; k++)
      lanes[k] = squares_of(row_of(x + k * s.columns, vectors, rest), mean[k], vectors, rest);
    store(means + i, mean);
    store(variances + i, sums_of(lanes) / n);
  }
  for (; i < s.rows; i++, x += s.columns) {
    Row row = row_of(x, vectors, rest);
    means[i] = sum_of(lanes_of(row, vectors)) / n;
    variances[i] = sum_of(squares_of(row, means[i], vectors, rest)) / n;
  }
  job->len[0] = job->len[1] = s.rows;
}
// The largest of a row.
INLINE double most_of(Row row, const int vectors, int64_t rest) {
  const V none = kept_lanes(all(1), rest) - 1.0;  // 0 in lanes in use, -1 in others
  V most = row.v[vectors - 1] + none * 1e300;
#pragma GCC unroll 4
  for (int k = 0; k + 1 < vectors; k++) most = max_v(most, row.v[k]);
#ifdef __AVX512F__
  return _mm512_reduce_max_pd((__m512d)most);
#else
  return max_of(most);
#endif
}
// A vector of rows at a time. The result holds the exponentials until their sums are known.
INLINE void few_softmax(const Job *job, Shape s, const int vectors, int64_t rest) {
  const double *x = job->in[0];
  double *out = job->out[0];
  const size_t n = s.columns;
  for (size_t i = 0; i < s.rows; i += W, x += W * n, out += W * n) {
    const int rows = (int)MIN(W, s.rows - i);
    V lanes[W];
    for (int r = 0; r < rows; r++) {
      Row row = row_of(x + r * n, vectors, rest);
      const double most = most_of(row, vectors, rest);
#pragma GCC unroll 4
      for (int k = 0; k < vectors; k++) row.v[k] = vector_exp(row.v[k] - most);
      row.v[vectors - 1] = kept_lanes(row.v[vectors - 1], rest);
      lanes[r] = lanes_of(row, vectors);
#pragma GCC unroll 4
      for (int k = 0; k + 1 < vectors; k++) store(out + r * n + k * W, row.v[k]);
      store_some(out + r * n + (vectors - 1) * W, row.v[vectors - 1], rest);
    }
    for (int r = rows; r < W; r++) lanes[r] = all(1);
    const V shares = 1.0 / sums_of(lanes);
    for (int r = 0; r < rows; r++) {
      Row row = row_of(out + r * n, vectors, rest);
#pragma GCC unroll 4
      for (int k = 0; k + 1 < vectors; k++) store(out + r * n + k * W, row.v[k] * shares[r]);
      store_some(out + r * n + (vectors - 1) * W, row.v[vectors - 1] * shares[r], rest);
    }
  }
  job->len[0] = s.rows * n;
}
INLINE void few_normalise(const Job *job, Shape s, const int vectors, int64_t rest) {
  const double *x = job->in[0];
  double *out = job->out[0];
  V sums[FEW];
  few_sums(x, s, vectors, rest, sums);
  for (size_t i = 0; i < s.rows; i++, x += s.columns, out += s.columns) {
    Row row = row_of(x, vectors, rest);
#pragma GCC unroll 4
    for (int k = 0; k + 1 < vectors; k++) store(out + k * W, row.v[k] / sums[k]);
    store_some(out + (vectors - 1) * W, row.v[vectors - 1] / sums[vectors - 1], rest);
  }
  job->len[0] = s.rows * s.columns;
}
FOR_FEW(few_rows)
FOR_FEW(few_columns)
FOR_FEW(few_both)
FOR_FEW(few_moments)
FOR_FEW(few_softmax)
FOR_FEW(few_normalise)
#define IN_REGISTERS(kernel) {"rows in registers", kernel##_short, 0},
#else
#define IN_REGISTERS(kernel)
#endif

const Variant rowSums[] = {{"plain", row_sums_plain_square, 0}, {"SIMD", row_sums_square, 0}, {0}};
const Variant columnSums[] = {{"row by row", column_sums_square, 0}, {"four rows at a time", column_sums_4_square, 0}, {0}};
const Variant runningColumns[] = {{"row above", running_sums_square, 0}, {"four rows at a time", running_sums_4_square, 0}, {0}};
const Variant rowAndColumnSums[] = {{"four rows at a time", both_sums_square, 0}, {0}};
const Variant rowMeanVariance[] = {{"SIMD", moments_square, 0}, {0}};
const Variant rowSoftmax[] = {{"SIMD, libmvec", softmax_square, 0}, {0}};
const Variant normaliseColumns[] = {{"SIMD", normalise_square, 0}, {0}};
const Variant rowSumsShort[] = {
  {"plain", row_sums_plain_short, 0}, {"SIMD", row_sums_short, 0}, IN_REGISTERS(few_rows){0}};
const Variant columnSumsShort[] = {{"row by row", column_sums_short, 0}, IN_REGISTERS(few_columns){0}};
const Variant runningColumnsShort[] = {{"row above", running_sums_short, 0}, {"four rows at a time", running_sums_4_short, 0}, {0}};
const Variant rowAndColumnSumsShort[] = {{"four rows at a time", both_sums_short, 0}, IN_REGISTERS(few_both){0}};
const Variant rowMeanVarianceShort[] = {{"SIMD", moments_short, 0}, IN_REGISTERS(few_moments){0}};
const Variant rowSoftmaxShort[] = {{"SIMD, libmvec", softmax_short, 0}, IN_REGISTERS(few_softmax){0}};
const Variant normaliseColumnsShort[] = {{"SIMD", normalise_short, 0}, IN_REGISTERS(few_normalise){0}};
