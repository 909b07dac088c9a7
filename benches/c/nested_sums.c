// segmentedSumTwice and -Thrice: the sums of nested segments. After the data come the lengths on
// each level, the innermost first. Each level is summed separately, as if the folds of levels
// differed.
#include "lanes.h"

INLINE double strict_sum(const double *x, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  return s;
}
#ifdef __AVX2__
INLINE double masked_sum(const double *x, size_t n) {
  V v = load_some(x, n);
  for (size_t i = W; i < n; i += W) v += load_some(x + i, n - i);
  return sum_of(v);
}
#endif

typedef double Sum(const double *, size_t);

// Each segment's sum is added to the segments around it.
INLINE void summed(const Job *job, const int depth, Sum *sum) {
  const double *x = job->in[0];
  const uint64_t *inner = job->in[1], *middle = job->in[2], *outer = job->in[depth];
  double *out = job->out[0];
  for (size_t s = 0; s < job->in_len[depth]; s++) {
    double all = 0;
    const size_t groups = depth == 3 ? outer[s] : 1;
    for (size_t g = 0; g < groups; g++) {
      double group = 0;
      const size_t segments = *middle++;
      for (size_t k = 0; k < segments; k++) group += sum(x, *inner), x += *inner++;
      all += group;
    }
    out[s] = all;
  }
  job->len[0] = job->in_len[depth];
}
#define DEPTH(name, depth)                                                                      \
  static void name##_strict(const Job *job) { summed(job, depth, strict_sum); }                 \
  VECTORS(name, depth)                                                                          \
  const Variant name[] = {{"strict", name##_strict, 0}, VECTORS_TOO(name){0}};
#ifdef __AVX2__
#define VECTORS(name, depth)                                                                    \
  static void name##_masked(const Job *job) { summed(job, depth, masked_sum); }
#define VECTORS_TOO(name)                                                                       \
  {"reassociated, masks", name##_masked, 0},
#else
#define VECTORS(name, depth)
#define VECTORS_TOO(name)
#endif
DEPTH(segmentedSumTwice, 2)
DEPTH(segmentedSumThrice, 3)
