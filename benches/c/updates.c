// sieve and updateFew: loops over arrays whose steps change few elements.
#include "common.h"

#define STEPS 100

static void plain(const Job *job) {
  const size_t n = job->n;
  uint8_t *prime = job->out[0];
  memcpy(prime, job->in[0], n);
  for (size_t k = 2; k * k <= n; k++)
    if (prime[k])
      for (size_t i = k * k; i < n; i += k) prime[i] = 0;
  job->len[0] = n;
}
static void few(const Job *job) {
  const size_t n = job->n, some = (n + 9999) / 10000;
  const uint32_t *indices = job->in[1];
  uint64_t *counts = job->out[0];
  memcpy(counts, job->in[0], n * sizeof(uint64_t));
  for (uint64_t k = 0; k < STEPS; k++)
    for (size_t i = 0; i < some; i++) counts[indices[i]] += k;
  job->len[0] = n;
}

const Variant sieve[] = {{"in place", plain, 0}, {0}};
const Variant updateFew[] = {{"in place", few, 0}, {0}};
