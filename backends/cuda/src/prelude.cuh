// What kernels are made of: words, operators, parts of a block, tiles that look back. NVRTC compiles it for a device, a C++
// compiler with `LF_HOST` for the shim of the tests; what differs between them is in the first section, and nowhere else.
#pragma once

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

// ---------------------------------------------------------------------------------------------------------------------
// The machine

#ifdef LF_HOST
#include "shim.h"
#else

#define LF_DEVICE __device__ __forceinline__
#define LF_KERNEL extern "C" __global__ void
#define LF_SHARED(T, name) __shared__ T name
#define LF_SHARED_ARRAY(T, name, n) __shared__ T name[n]

// Between two looks at a word that another block is to write.
LF_DEVICE void lf_wait() { __nanosleep(20); }

// What blocks tell each other goes by way of memory that all of them see, in this order: the value, then the flag that says
// that it is there. A plain read could be answered by a cache that knows nothing of other blocks.
LF_DEVICE u32 lf_load_acquire(const u32 *at) {
  u32 word;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  return word;
}
LF_DEVICE void lf_store_release(u32 *at, u32 word) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(at), "r"(word) : "memory");
}
LF_DEVICE u64 lf_load_relaxed(const u64 *at) {
  u64 word;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return word;
}
LF_DEVICE void lf_store_relaxed(u64 *at, u64 word) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(word) : "memory");
}
// Devices exchange no single bytes: its neighbours in a word are put back as they are.
LF_DEVICE u8 lf_byte_exchange_if(u8 *at, u8 old, u8 next) {
  u32 *word = reinterpret_cast<u32 *>(u64(at) & ~u64(3));
  const u32 shift = u32(u64(at) & 3) * 8;
  u32 known = *static_cast<const volatile u32 *>(word);
  while (u8(known >> shift) == old) {
    const u32 found = atomicCAS(word, known, (known & ~(0xffu << shift)) | u32(next) << shift);
    if (found == known) return old;
    known = found;
  }
  return u8(known >> shift);
}
#endif

const u32 LF_WARP = 32;
const u32 LF_ALL = 0xffffffffu;

// ---------------------------------------------------------------------------------------------------------------------
// Arrays: a read outside gives zero, a write outside is dropped

template <class T> struct lf_array {
  T *at;
  u64 length;
};

template <class T> LF_DEVICE T lf_read(const lf_array<T> &a, u64 i) { return i < a.length ? a.at[i] : T(0); }
template <class T> LF_DEVICE void lf_write(const lf_array<T> &a, u64 i, T x) {
  if (i < a.length) a.at[i] = x;
}

// ---------------------------------------------------------------------------------------------------------------------
// Operators: integers wrap, shifts take their count modulo the width, division by zero gives zero

template <class T> struct lf_unsigned { typedef T type; };
template <> struct lf_unsigned<i8> { typedef u8 type; };
template <> struct lf_unsigned<i16> { typedef u16 type; };
template <> struct lf_unsigned<i32> { typedef u32 type; };
template <> struct lf_unsigned<i64> { typedef u64 type; };

template <class T> struct lf_signed { static const bool value = T(-1) < T(0); };

// Wide enough that nothing is promoted to a signed type on the way.
template <class T> LF_DEVICE u64 lf_wide(T x) { return u64(x); }

template <class T> LF_DEVICE T lf_add(T x, T y) { return T(lf_wide(x) + lf_wide(y)); }
template <> LF_DEVICE f32 lf_add(f32 x, f32 y) { return x + y; }
template <> LF_DEVICE f64 lf_add(f64 x, f64 y) { return x + y; }
template <class T> LF_DEVICE T lf_sub(T x, T y) { return T(lf_wide(x) - lf_wide(y)); }
template <> LF_DEVICE f32 lf_sub(f32 x, f32 y) { return x - y; }
template <> LF_DEVICE f64 lf_sub(f64 x, f64 y) { return x - y; }
template <class T> LF_DEVICE T lf_mul(T x, T y) { return T(lf_wide(x) * lf_wide(y)); }
template <> LF_DEVICE f32 lf_mul(f32 x, f32 y) { return x * y; }
template <> LF_DEVICE f64 lf_mul(f64 x, f64 y) { return x * y; }
template <class T> LF_DEVICE T lf_neg(T x) { return T(u64(0) - lf_wide(x)); }
template <> LF_DEVICE f32 lf_neg(f32 x) { return -x; }
template <> LF_DEVICE f64 lf_neg(f64 x) { return -x; }

template <class T> LF_DEVICE bool lf_div_ok(T x, T y) {
  typedef typename lf_unsigned<T>::type U;
  const T least = T(U(1) << (8 * sizeof(T) - 1));
  return y != 0 && !(lf_signed<T>::value && y == T(-1) && x == least);
}
template <class T> LF_DEVICE T lf_div(T x, T y) {
  if (y == 0) return 0;
  return lf_signed<T>::value && y == T(-1) ? lf_neg(x) : T(x / y);
}
template <> LF_DEVICE f32 lf_div(f32 x, f32 y) { return x / y; }
template <> LF_DEVICE f64 lf_div(f64 x, f64 y) { return x / y; }
template <class T> LF_DEVICE T lf_rem(T x, T y) {
  return y == 0 || (lf_signed<T>::value && y == T(-1)) ? T(0) : T(x % y);
}
template <class T> LF_DEVICE T lf_div_euclid(T x, T y) {
  const T q = lf_div(x, y);
  return lf_rem(x, y) < 0 ? (y > 0 ? lf_sub(q, T(1)) : lf_add(q, T(1))) : q;
}
template <class T> LF_DEVICE T lf_rem_euclid(T x, T y) {
  const T r = lf_rem(x, y);
  return r < 0 ? lf_add(r, y < 0 ? lf_neg(y) : y) : r;
}

template <> LF_DEVICE f32 lf_rem(f32 x, f32 y) { return fmodf(x, y); }
template <> LF_DEVICE f64 lf_rem(f64 x, f64 y) { return fmod(x, y); }
template <> LF_DEVICE f32 lf_div_euclid(f32 x, f32 y) {
  const f32 q = truncf(x / y);
  return fmodf(x, y) < 0 ? (y > 0 ? q - 1 : q + 1) : q;
}
template <> LF_DEVICE f64 lf_div_euclid(f64 x, f64 y) {
  const f64 q = trunc(x / y);
  return fmod(x, y) < 0 ? (y > 0 ? q - 1 : q + 1) : q;
}
template <> LF_DEVICE f32 lf_rem_euclid(f32 x, f32 y) {
  const f32 r = fmodf(x, y);
  return r < 0 ? r + fabsf(y) : r;
}
template <> LF_DEVICE f64 lf_rem_euclid(f64 x, f64 y) {
  const f64 r = fmod(x, y);
  return r < 0 ? r + fabs(y) : r;
}

template <class T> LF_DEVICE T lf_not(T x) { return T(~x); }
template <> LF_DEVICE bool lf_not(bool x) { return !x; }
template <class T> LF_DEVICE T lf_shl(T x, T by) { return T(lf_wide(x) << (u32(by) & (8 * sizeof(T) - 1))); }
template <class T> LF_DEVICE T lf_shr(T x, T by) { return T(x >> (u32(by) & (8 * sizeof(T) - 1))); }

template <class T> LF_DEVICE T lf_abs(T x) { return x < T(0) ? lf_neg(x) : x; }
template <> LF_DEVICE f32 lf_abs(f32 x) { return fabsf(x); }
template <> LF_DEVICE f64 lf_abs(f64 x) { return fabs(x); }
template <class T> LF_DEVICE T lf_signum(T x) { return T((x > T(0)) - (x < T(0))); }
template <> LF_DEVICE f32 lf_signum(f32 x) { return x != x ? x : copysignf(1.0f, x); }
template <> LF_DEVICE f64 lf_signum(f64 x) { return x != x ? x : copysign(1.0, x); }

template <class T> LF_DEVICE T lf_count_ones(T x) { return T(__popcll(u64(typename lf_unsigned<T>::type(x)))); }
template <class T> LF_DEVICE T lf_leading_zeros(T x) {
  return T(__clzll(i64(u64(typename lf_unsigned<T>::type(x)))) - i32(64 - 8 * sizeof(T)));
}
template <class T> LF_DEVICE T lf_trailing_zeros(T x) {
  const u64 bits = u64(typename lf_unsigned<T>::type(x));
  return T(bits == 0 ? i32(8 * sizeof(T)) : __ffsll(i64(bits)) - 1);
}

// Bits of floats, and floats of bits.
template <class To, class From> LF_DEVICE To lf_bitcast(From x) {
  To to;
  memcpy(&to, &x, sizeof to);
  return to;
}
LF_DEVICE bool lf_sign_bit(f32 x) { return lf_bitcast<u32>(x) >> 31; }
LF_DEVICE bool lf_sign_bit(f64 x) { return lf_bitcast<u64>(x) >> 63; }

// Of floats the number, if one is none; the zero below zero is the lesser one.
template <class T> LF_DEVICE T lf_min(T x, T y) { return x < y ? x : y; }
template <class T> LF_DEVICE T lf_max(T x, T y) { return x > y ? x : y; }
template <class F> LF_DEVICE F lf_lesser(F x, F y) {
  if (x == y) return lf_sign_bit(x) ? x : y;
  return y != y || x < y ? x : y;
}
template <class F> LF_DEVICE F lf_greater(F x, F y) {
  if (x == y) return lf_sign_bit(x) ? y : x;
  return y != y || x > y ? x : y;
}
template <> LF_DEVICE f32 lf_min(f32 x, f32 y) { return lf_lesser(x, y); }
template <> LF_DEVICE f64 lf_min(f64 x, f64 y) { return lf_lesser(x, y); }
template <> LF_DEVICE f32 lf_max(f32 x, f32 y) { return lf_greater(x, y); }
template <> LF_DEVICE f64 lf_max(f64 x, f64 y) { return lf_greater(x, y); }

LF_DEVICE f32 lf_floor(f32 x) { return floorf(x); }
LF_DEVICE f64 lf_floor(f64 x) { return floor(x); }
LF_DEVICE f32 lf_ceil(f32 x) { return ceilf(x); }
LF_DEVICE f64 lf_ceil(f64 x) { return ceil(x); }
LF_DEVICE f32 lf_trunc(f32 x) { return truncf(x); }
LF_DEVICE f64 lf_trunc(f64 x) { return trunc(x); }
LF_DEVICE f32 lf_round(f32 x) { return roundf(x); }
LF_DEVICE f64 lf_round(f64 x) { return round(x); }
LF_DEVICE f32 lf_round_even(f32 x) { return rintf(x); }
LF_DEVICE f64 lf_round_even(f64 x) { return rint(x); }
LF_DEVICE f32 lf_sqrt(f32 x) { return sqrtf(x); }
LF_DEVICE f64 lf_sqrt(f64 x) { return sqrt(x); }
// By squares, in the order in which a processor's function multiplies.
template <class F> LF_DEVICE F lf_by_squares(F x, u32 n) {
  F power = 1, square = x;
  for (bool any = false; n > 0; n /= 2) {
    if (n % 2 == 1) power = any ? power * square : square;
    any = any || n % 2 == 1;
    if (n > 1) square = square * square;
  }
  return power;
}
template <class F> LF_DEVICE F lf_powi_of(F x, i32 n, F least) {
  const u32 size = n < 0 ? 0u - u32(n) : u32(n);
  const F power = lf_by_squares(x, size);
  if (n >= 0) return power;
  // What has lost digits has a reciprocal that may be in range: that of two halves.
  if (!(lf_abs(power) < least) && lf_abs(power) - lf_abs(power) == 0) return 1 / power;
  return 1 / lf_by_squares(x, size / 2) / lf_by_squares(x, size - size / 2);
}
LF_DEVICE f32 lf_powi(f32 x, i32 n) { return lf_powi_of(x, n, 1.17549435e-38f); }
LF_DEVICE f64 lf_powi(f64 x, i32 n) { return lf_powi_of(x, n, 2.2250738585072014e-308); }

// Of large numbers, for which the functions in a kernel's own text are not made: the last bits may be others.
LF_DEVICE f32 lf_sin(f32 x) { return sinf(x); }
LF_DEVICE f64 lf_sin(f64 x) { return sin(x); }
LF_DEVICE f32 lf_cos(f32 x) { return cosf(x); }
LF_DEVICE f64 lf_cos(f64 x) { return cos(x); }
LF_DEVICE f32 lf_tan(f32 x) { return tanf(x); }
LF_DEVICE f64 lf_tan(f64 x) { return tan(x); }
LF_DEVICE f32 lf_copysign(f32 x, f32 y) { return copysignf(x, y); }
LF_DEVICE f64 lf_copysign(f64 x, f64 y) { return copysign(x, y); }
LF_DEVICE f32 lf_mul_add(f32 x, f32 y, f32 z) { return fmaf(x, y, z); }
LF_DEVICE f64 lf_mul_add(f64 x, f64 y, f64 z) { return fma(x, y, z); }

// Casts go to the nearest value that the type has; what is no number is zero.
template <class To, class From> struct lf_cast_of {
  static LF_DEVICE To cast(From x) { return To(x); }
};
template <class To, class F> LF_DEVICE To lf_saturate(F x) {
  typedef typename lf_unsigned<To>::type U;
  const bool is_signed = lf_signed<To>::value;
  const To least = is_signed ? To(U(1) << (8 * sizeof(To) - 1)) : To(0);
  const To most = To(is_signed ? U(~U(least)) : U(~U(0)));
  // Powers of two, which every float type has.
  const F above = F(2) * F(U(1) << (8 * sizeof(To) - 2)) * F(is_signed ? 1 : 2);
  if (x >= above) return most;
  if (x < (is_signed ? -above : F(0))) return least;
  return x == x ? To(x) : To(0);
}
template <class To> struct lf_cast_of<To, f32> {
  static LF_DEVICE To cast(f32 x) { return lf_saturate<To, f32>(x); }
};
template <class To> struct lf_cast_of<To, f64> {
  static LF_DEVICE To cast(f64 x) { return lf_saturate<To, f64>(x); }
};
#define LF_PLAIN_CAST(TO, FROM)                                                                                            \
  template <> struct lf_cast_of<TO, FROM> {                                                                                \
    static LF_DEVICE TO cast(FROM x) { return TO(x); }                                                                     \
  }
LF_PLAIN_CAST(bool, f32);
LF_PLAIN_CAST(bool, f64);
LF_PLAIN_CAST(f32, f32);
LF_PLAIN_CAST(f32, f64);
LF_PLAIN_CAST(f64, f32);
LF_PLAIN_CAST(f64, f64);
template <class To, class From> LF_DEVICE To lf_cast(From x) { return lf_cast_of<To, From>::cast(x); }

// ---------------------------------------------------------------------------------------------------------------------
// Values that go from thread to thread, and from block to block: made of words of eight bytes

template <class T> LF_DEVICE T lf_from_lane(T x, u32 lane) {
  u64 words[sizeof(T) / 8];
  memcpy(words, &x, sizeof x);
  for (u32 k = 0; k < sizeof(T) / 8; ++k) words[k] = __shfl_sync(LF_ALL, words[k], i32(lane));
  memcpy(&x, words, sizeof x);
  return x;
}
template <class T> LF_DEVICE void lf_publish(u64 *at, const T &x) {
  u64 words[sizeof(T) / 8];
  memcpy(words, &x, sizeof x);
  for (u32 k = 0; k < sizeof(T) / 8; ++k) lf_store_relaxed(at + k, words[k]);
}
template <class T> LF_DEVICE T lf_published(const u64 *at) {
  u64 words[sizeof(T) / 8];
  for (u32 k = 0; k < sizeof(T) / 8; ++k) words[k] = lf_load_relaxed(at + k);
  T x;
  memcpy(&x, words, sizeof x);
  return x;
}

// ---------------------------------------------------------------------------------------------------------------------
// A block scans the parts of its threads, in their order: joins need not commute

// What the threads of a warp before this one come to, and what all of them do.
template <class Group, class Params> struct lf_scanned {
  typename Group::Part before;
  typename Group::Part all;
};

template <class Group, class Params>
LF_DEVICE lf_scanned<Group, Params> lf_scan_warp(const Params &p, typename Group::Part own) {
  typedef typename Group::Part Part;
  const u32 lane = threadIdx.x % LF_WARP;
  for (u32 reach = 1; reach < LF_WARP; reach *= 2) {
    const Part earlier = lf_from_lane(own, lane >= reach ? lane - reach : lane);
    if (lane >= reach) own = Group::join(p, earlier, own);
  }
  lf_scanned<Group, Params> scanned;
  const Part before = lf_from_lane(own, lane > 0 ? lane - 1 : 0);
  scanned.before = lane > 0 ? before : Group::identity(p);
  scanned.all = lf_from_lane(own, LF_WARP - 1);
  return scanned;
}

// The same for a block of `THREADS`, a multiple of a warp, of at most a warp of warps. `room` has a place for each warp.
template <class Group, u32 THREADS, class Params>
LF_DEVICE lf_scanned<Group, Params> lf_scan_block(const Params &p, typename Group::Part own,
                                                 typename Group::Part *room) {
  typedef typename Group::Part Part;
  const u32 lane = threadIdx.x % LF_WARP, warp = threadIdx.x / LF_WARP;
  const lf_scanned<Group, Params> in_warp = lf_scan_warp<Group>(p, own);
  if (lane == 0) room[warp] = in_warp.all;
  __syncthreads();
  const Part of_warp = lane < THREADS / LF_WARP ? room[lane] : Group::identity(p);
  const lf_scanned<Group, Params> warps = lf_scan_warp<Group>(p, of_warp);
  lf_scanned<Group, Params> scanned;
  scanned.before = Group::join(p, lf_from_lane(warps.before, warp), in_warp.before);
  scanned.all = warps.all;
  // Whoever comes next may write to the room.
  __syncthreads();
  return scanned;
}

// ---------------------------------------------------------------------------------------------------------------------
// Tiles look back: each finds out what those before it come to while they are at it (decoupled look-back; Merrill and
// Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016)

const u32 LF_NOTHING = 0;  // not yet there
const u32 LF_OWN = 1;      // what the tile alone comes to
const u32 LF_THROUGH = 2;  // what all tiles up to it come to

// What tiles tell each other of one group. Memory is zero before the first of them begins.
struct lf_told {
  u32 *state;
  u64 *own;
  u64 *through;
};

// What comes before a tile, which is joined onto `start`. A whole warp calls it; `own` is what the tile comes to.
template <class Group, class Params>
LF_DEVICE typename Group::Part lf_look_back(const Params &p, const lf_told &told, u64 tile, typename Group::Part own,
                                            typename Group::Part start) {
  typedef typename Group::Part Part;
  const u64 words = sizeof(Part) / 8;
  const u32 lane = threadIdx.x % LF_WARP;
  Part before = start;
  if (tile > 0) {
    if (lane == 0) {
      lf_publish(told.own + tile * words, own);
      lf_store_release(told.state + tile, LF_OWN);
    }
    __syncwarp();
    Part since = Group::identity(p);
    // A warp looks at as many tiles at once as it has threads, the nearest first.
    for (u64 end = tile;; end -= LF_WARP) {
      const bool is_there = lane < end;
      const u64 at = is_there ? end - 1 - lane : 0;
      u32 state = LF_OWN;
      while (is_there && (state = lf_load_acquire(told.state + at)) == LF_NOTHING) lf_wait();
      const u32 known = __ballot_sync(LF_ALL, is_there && state == LF_THROUGH);
      // The nearest that knows all: what is further is in it.
      const u32 last = known == 0 ? LF_WARP - 1 : u32(__ffs(i32(known))) - 1;
      Part part = Group::identity(p);
      if (is_there && lane <= last) {
        part = lf_published<Part>((state == LF_THROUGH ? told.through : told.own) + at * words);
      }
      for (u32 reach = 1; reach < LF_WARP; reach *= 2) {
        const Part earlier = lf_from_lane(part, lane + reach < LF_WARP ? lane + reach : lane);
        if (lane + reach < LF_WARP) part = Group::join(p, earlier, part);
      }
      since = Group::join(p, lf_from_lane(part, 0), since);
      if (known != 0) break;
    }
    before = since;
  }
  if (lane == 0) {
    lf_publish(told.through + tile * words, Group::join(p, before, own));
    lf_store_release(told.state + tile, LF_THROUGH);
  }
  __syncwarp();
  return before;
}

// ---------------------------------------------------------------------------------------------------------------------
// A loop, in tiles

// What a launch is about.
struct lf_launch {
  u64 first;     // the counter of the first step
  u64 steps;     // how many there are
  u32 *ticket;   // the next tile; zero before
  u32 *trapped;  // set where something traps
  u64 *result;   // what groups come to: their words, level by level
  lf_told told[4];
};

// Tiles begin in the order of their tickets, whatever blocks they are on: those that a tile waits for are under way.
LF_DEVICE u64 lf_next_tile(const lf_launch &launch) {
  LF_SHARED(u32, ticket);
  if (threadIdx.x == 0) ticket = atomicAdd(launch.ticket, 1u);
  __syncthreads();
  const u64 tile = ticket;
  __syncthreads();
  return tile;
}

// The groups of a level, and of those above it: each thread sums its elements up, the block its threads, the tile looks
// back; then the groups of this level are known to each thread as they are before its first element.
template <class L, u32 K, bool ANY> struct lf_levels {
  static LF_DEVICE void find(const typename L::Params &p, const lf_launch &launch, u64 tile, u64 from, u64 to,
                             typename L::State &state) {
    typedef typename L::template Level<K> Group;
    typedef typename Group::Part Part;
    typename L::State mine = state;
    Group::of(mine) = Group::identity(p);
    for (u64 i = from; i < to; ++i) L::template step<false>(p, launch, launch.first + i, mine);
    LF_SHARED_ARRAY(Part, room, LF_WARP);
    LF_SHARED(Part, before);
    const lf_scanned<Group, typename L::Params> scanned = lf_scan_block<Group, L::THREADS>(p, Group::of(mine), room);
    if (threadIdx.x < LF_WARP) {
      const Part found = lf_look_back<Group>(p, launch.told[K], tile, scanned.all, Group::start(p));
      if (threadIdx.x == 0) before = found;
    }
    __syncthreads();
    Group::of(state) = Group::join(p, before, scanned.before);
    if (threadIdx.x == 0 && (tile + 1) * L::TILE >= launch.steps) {
      const Part all = Group::join(p, before, scanned.all);
      memcpy(launch.result + L::template Level<K>::WORD, &all, sizeof all);
    }
    __syncthreads();
    lf_levels<L, K + 1, (K + 1 < L::LEVELS)>::find(p, launch, tile, from, to, state);
  }
};
template <class L, u32 K> struct lf_levels<L, K, false> {
  static LF_DEVICE void find(const typename L::Params &, const lf_launch &, u64, u64, u64, typename L::State &) {}
};

// One tile, in which each thread has elements that follow each other, so that groups are joined in order.
template <class L> LF_DEVICE void lf_in_order(const typename L::Params &p, const lf_launch &launch) {
  const u64 tile = lf_next_tile(launch);
  const u64 begin = tile * L::TILE + u64(threadIdx.x) * L::ELEMENTS;
  const u64 from = begin < launch.steps ? begin : launch.steps;
  const u64 to = from + L::ELEMENTS < launch.steps ? from + L::ELEMENTS : launch.steps;
  typename L::State state = typename L::State();
  lf_levels<L, 0, (0 < L::LEVELS)>::find(p, launch, tile, from, to, state);
  for (u64 i = from; i < to; ++i) L::template step<true>(p, launch, launch.first + i, state);
}

// Where no step needs to know of another: neighbours have neighbouring elements.
template <class L> LF_DEVICE void lf_side_by_side(const typename L::Params &p, const lf_launch &launch) {
  typename L::State state = typename L::State();
  const u64 stride = u64(gridDim.x) * blockDim.x;
  for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < launch.steps; i += stride) {
    L::template step<true>(p, launch, launch.first + i, state);
  }
}
