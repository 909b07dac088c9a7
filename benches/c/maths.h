// Functions of libm that gcc may vectorise: it calls libmvec's versions in loops marked `omp simd`.
#pragma once
#include "common.h"

#if defined(__x86_64__) && defined(__GLIBC__)
#define VECTORS __attribute__((simd("notinbranch")))
VECTORS double exp(double);
VECTORS double log(double);
VECTORS float expf(float);
VECTORS float logf(float);
#endif
