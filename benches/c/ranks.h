// What kernels on matrices share: their shapes, and memory for what lies between two passes.
#pragma once
#include "common.h"
#include <stdlib.h>

typedef struct {
  size_t rows, columns;
} Shape;

// As many rows as columns: the most that the first input has elements for.
INLINE Shape square(const Job *job) {
  size_t s = (size_t)sqrt((double)job->in_len[0]);
  while (s * s > job->in_len[0]) s--;
  while ((s + 1) * (s + 1) <= job->in_len[0]) s++;
  return (Shape){s, s};
}
// Many rows of ten elements. No kernel is compiled for that number.
static volatile size_t ten = 10;
INLINE Shape of_short_rows(const Job *job) {
  const size_t columns = ten;
  return (Shape){job->in_len[0] / columns, columns};
}

// A kernel for one shape and for the other.
#define FOR_SQUARE(kernel)                                                                                             \
  static void kernel##_square(const Job *job) { kernel(job, square(job)); }
#define FOR_SHORT(kernel)                                                                                              \
  static void kernel##_short(const Job *job) { kernel(job, of_short_rows(job)); }

// Memory that is kept from call to call, one piece for each `of`.
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
