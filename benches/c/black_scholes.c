// blackScholesF32 and blackScholesF64: the values of a call and a put from price, strike and years.
#include "maths.h"

#define RISK_FREE 0.02
#define VOLATILITY 0.30

#define BLACK_SCHOLES(T, EXP, LOG, SQRT, ABS)                                            \
  INLINE T cnd_##T(T d) {                                                                      \
    T k = 1 / (1 + (T)0.2316419 * ABS(d));                                                     \
    T poly = k * ((T)0.31938154 + k * ((T)-0.35656378 + k * ((T)1.7814779 + k * ((T)-1.8212559 + k * (T)1.3302745)))); \
    T c = (T)0.3989423 * EXP((T)-0.5 * d * d) * poly;                                          \
    return d > 0 ? 1 - c : c;                                                                  \
  }                                                                                            \
  INLINE void value_##T(T price, T strike, T years, T *call, T *put) {                         \
    T v = (T)VOLATILITY * SQRT(years);                                                         \
    T drift = (T)RISK_FREE + (T)0.5 * (T)VOLATILITY * (T)VOLATILITY;                           \
    T d1 = (LOG(price / strike) + drift * years) / v, d2 = d1 - v;                             \
    T c1 = cnd_##T(d1), c2 = cnd_##T(d2), rest = strike * EXP((T)-RISK_FREE * years);          \
    *call = price * c1 - rest * c2;                                                            \
    *put = rest * (1 - c2) - price * (1 - c1);                                                 \
  }                                                                                            \
  INLINE void part_##T(const Job *job, size_t from, size_t to) {                               \
    const T *restrict price = job->in[0], *restrict strike = job->in[1], *restrict years = job->in[2]; \
    T *restrict call = job->out[0], *restrict put = job->out[1];                               \
    _Pragma("omp simd") for (size_t i = from; i < to; i++)                                     \
      value_##T(price[i], strike[i], years[i], call + i, put + i);                             \
  }                                                                                            \
  static void done_##T(const Job *job) { job->len[0] = job->len[1] = job->n; }                 \
  static void scalar_##T(const Job *job) {                                                     \
    const T *price = job->in[0], *strike = job->in[1], *years = job->in[2];                    \
    T *call = job->out[0], *put = job->out[1];                                                 \
    for (size_t i = 0; i < job->n; i++)                                \
      value_##T(price[i], strike[i], years[i], call + i, put + i);                             \
    done_##T(job);                                                                             \
  }                                                                                            \
  static void simd_##T(const Job *job) { part_##T(job, 0, job->n), done_##T(job); }            \
  static void omp_##T(const Job *job) {                                                        \
    _Pragma("omp parallel num_threads(job->threads)") {                                        \
      size_t from, to;                                                                         \
      part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);                \
      part_##T(job, from, to);                                                                 \
    }                                                                                          \
    done_##T(job);                                                                             \
  }

BLACK_SCHOLES(float, expf, logf, sqrtf, fabsf)
BLACK_SCHOLES(double, exp, log, sqrt, fabs)

// The same with vectorised exponentials and logarithms: vectors `V` of `lanes` lanes, and functions
// with or without the suffix `f`.
#define IN_VECTORS(T, V, lanes, f, load, store)                                                \
  INLINE V cnd_in_vectors_##T(V d) {                                                           \
    V away = where_negative##f(d, -d, d), k = 1 / (1 + (T)0.2316419 * away);                   \
    V poly = k * ((T)0.31938154 + k * ((T)-0.35656378 + k * ((T)1.7814779 + k * ((T)-1.8212559 + k * (T)1.3302745)))); \
    V c = (T)0.3989423 * vector_exp##f((T)-0.5 * d * d) * poly;                                \
    return where_negative##f(d, c, 1 - c);                                                     \
  }                                                                                            \
  INLINE void in_vectors_##T(const Job *job, size_t from, size_t to) {                         \
    const T *restrict price = job->in[0], *restrict strike = job->in[1], *restrict years = job->in[2]; \
    T *restrict call = job->out[0], *restrict put = job->out[1];                               \
    size_t i = from;                                                                           \
    for (; i + lanes <= to; i += lanes) {                                                      \
      V s = load(price + i), k = load(strike + i), t = load(years + i);                        \
      V v = (T)VOLATILITY * vector_sqrt##f(t);                                                 \
      T drift = (T)RISK_FREE + (T)0.5 * (T)VOLATILITY * (T)VOLATILITY;                         \
      V d1 = (vector_log##f(s / k) + drift * t) / v, d2 = d1 - v;                              \
      V c1 = cnd_in_vectors_##T(d1), c2 = cnd_in_vectors_##T(d2);                              \
      V rest = k * vector_exp##f((T)-RISK_FREE * t);                                           \
      store(call + i, s * c1 - rest * c2);                                                     \
      store(put + i, rest * (1 - c2) - s * (1 - c1));                                          \
    }                                                                                          \
    for (; i < to; i++) value_##T(price[i], strike[i], years[i], call + i, put + i);           \
  }                                                                                            \
  static void vectors_##T(const Job *job) { in_vectors_##T(job, 0, job->n), done_##T(job); }   \
  static void vectors_omp_##T(const Job *job) {                                                \
    _Pragma("omp parallel num_threads(job->threads)") {                                        \
      size_t from, to;                                                                         \
      part_of(job->n, omp_get_thread_num(), omp_get_num_threads(), &from, &to);                \
      in_vectors_##T(job, from, to);                                                           \
    }                                                                                          \
    done_##T(job);                                                                             \
  }
#ifdef __AVX2__
IN_VECTORS(float, F, FW, f, load_f, store_f)
IN_VECTORS(double, V, W, , load, store)
#define VECTORS_TOO(T)                                                                         \
  {"SIMD, exp and log in vectors", vectors_##T, 0},                                            \
  {"SIMD, exp and log in vectors, OpenMP", vectors_omp_##T, 1},
#else
#define VECTORS_TOO(T)
#endif

#define TABLE(T)                                                                               \
  {                                                                                            \
    {"plain loop", scalar_##T, 0},                                                             \
    {"SIMD, libmvec", simd_##T, 0},                                                            \
    {"SIMD, libmvec, OpenMP", omp_##T, 1},                                                     \
    VECTORS_TOO(T)                                                                             \
    {0},                                                                                       \
  }
const Variant blackScholesF32[] = TABLE(float);
const Variant blackScholesF64[] = TABLE(double);
