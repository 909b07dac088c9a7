// Shared code of the matrix kernels: shapes, and memory for intermediate results.
#pragma once
#include "common.h"
#include <stdlib.h>

typedef struct {
  size_t rows, columns;
} Shape;

// The largest square shape that the first input fills.
INLINE Shape square(const Job *job) {
  size_t s = (size_t)sqrt((double)job->in_len[0]);
  while (s * s > job->in_len[0]) s--;
  while ((s + 1) * (s + 1) <= job->in_len[0]) s++;
  return (Shape){s, s};
}
// Many rows of ten elements. No kernel is specialised for that number.
static volatile size_t ten = 10;
INLINE Shape of_short_rows(const Job *job) {
  const size_t columns = ten;
  return (Shape){job->in_len[0] / columns, columns};
}

// Instantiates a kernel for each shape.
#define FOR_SQUARE(kernel)                                                                                             \
  static void kernel##_square(const Job *job) { kernel(job, square(job)); }
#define FOR_SHORT(kernel)                                                                                              \
  static void kernel##_short(const Job *job) { kernel(job, of_short_rows(job)); }

// Memory that is reused from call to call, one piece for each `of`.
INLINE void *kept(int of, size_t bytes) {
  static void *pieces[4];
  static size_t rooms[4];
  if (rooms[of] < bytes) {
    free(pieces[of]);
    rooms[of] = (bytes + 4095) / 4096 * 4096;
    pieces[of] = aligned_alloc(4096, rooms[of]);
  }
  return pieces[of];
}
