// segmentPairs: a histogram of the distances of all pairs within each event.
#include "common.h"
#include "maths.h"

#define BINS 100
#define BINS_PER_UNIT 57.0

static void scalar(const Job *job) {
  const double *x = job->in[0], *y = job->in[1], *z = job->in[2];
  const uint64_t *lens = job->in[3];
  uint64_t *counts = job->out[0];
  for (int k = 0; k < BINS; k++) counts[k] = 0;
  for (size_t s = 0; s < job->in_len[3]; s++) {
    size_t n = lens[s];
    for (size_t i = 0; i < n; i++) {
      double ax = x[i], ay = y[i], az = z[i];
      for (size_t j = i + 1; j < n; j++) {
        double dx = ax - x[j], dy = ay - y[j], dz = az - z[j];
        counts[(uint64_t)(sqrt(dx * dx + dy * dy + dz * dz) * BINS_PER_UNIT)]++;
      }
    }
    x += n, y += n, z += n;
  }
  job->len[0] = BINS;
}

const Variant segmentPairs[] = {
  {"scalar", scalar, 0},
  {0},
};
