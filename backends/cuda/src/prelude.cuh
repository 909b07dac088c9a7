// The common prelude of kernels: words, operators, block collectives, look-back between tiles.
//
// NVRTC compiles it for a device. With `LF_HOST`, a C++ compiler compiles it for the shim of the tests. All differences
// between the two are in the first section. The code that runs loops follows in `tiles.cuh`, `passes.cuh`,
// `scatter.cuh`, `levels.cuh`, `exits.cuh`, `near.cuh`, `segments.cuh`, `paths.cuh`.
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
// The minimal number of resident blocks per multiprocessor, given the desired number. Fewer if registers would spill.
#ifndef LF_BLOCKS
#define LF_BLOCKS(n) n
#endif
#define LF_KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, LF_BLOCKS(blocks))
#define LF_SHARED(T, name) __shared__ T name
#define LF_SHARED_ARRAY(T, name, n) __shared__ T name[n]
#define LF_UNROLL _Pragma("unroll")
#define LF_ROLLED _Pragma("unroll 1")
// Unrolling wide parts would take more registers than it saves.
#define LF_PRAGMA(text) _Pragma(#text)
#define LF_UNROLL_FOR(T) LF_PRAGMA(unroll (sizeof(T) <= 512 ? 128 : 1))
#define LF_BY_SEVEN _Pragma("unroll 7")

// Pauses before a poll of words that other blocks will write.
LF_DEVICE void lf_wait(u32 nanoseconds) { __nanosleep(nanoseconds); }

// Devices have no byte exchange: the neighbours in the word are written back unchanged.
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
// Blocks communicate through memory that all of them see. A plain read could hit a stale cache line. The two words of a
// cell, a value and its tag, are accessed atomically together.
struct alignas(16) lf_cell {
  u64 word;
  u64 tag;
};
LF_DEVICE lf_cell lf_load_cell(const lf_cell *at) {
  lf_cell cell;
  asm volatile(
      "{ .reg .b128 both; ld.relaxed.gpu.global.b128 both, [%2]; mov.b128 {%0, %1}, both; }"
      : "=l"(cell.word), "=l"(cell.tag)
      : "l"(at)
      : "memory");
  return cell;
}
LF_DEVICE void lf_store_cell(lf_cell *at, u64 word, u64 tag) {
  asm volatile(
      "{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.gpu.global.b128 [%0], both; }"
      :
      : "l"(at), "l"(word), "l"(tag)
      : "memory");
}

// Asynchronous copies to shared memory, of 4, 8 or 16 bytes. Both addresses are aligned to that size.
template <u32 BYTES> LF_DEVICE void lf_copy_async(void *to, const void *from) {
  const u32 shared = u32(__cvta_generic_to_shared(to));
  if (BYTES == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(shared), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" : : "r"(shared), "l"(from), "n"(BYTES) : "memory");
  }
}
// Waits for the thread's own copies. Other threads see them after a barrier.
LF_DEVICE void lf_copies_done() { asm volatile("cp.async.wait_all;" : : : "memory"); }

// Reads memory that is constant during the kernel.
template <class T> LF_DEVICE T lf_load_constant(const T *at) { return __ldg(at); }
// Stores pieces of memory whole. A struct of words would be stored word by word.
template <class T> LF_DEVICE void lf_store_whole(T *at, T x) { *at = x; }
template <> LF_DEVICE void lf_store_whole(uint4 *at, uint4 x) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(at), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w) : "memory");
}
template <> LF_DEVICE void lf_store_whole(uint2 *at, uint2 x) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" : : "l"(at), "r"(x.x), "r"(x.y) : "memory");
}
#endif

const u32 LF_WARP = 32;
const u32 LF_ALL = 0xffffffffu;

// ---------------------------------------------------------------------------------------------------------------------
// Arrays: a read out of bounds gives zero, a write out of bounds is dropped

template <class T> struct lf_array {
  T *at;
  u64 length;
};

template <class A> struct lf_element;
template <class T> struct lf_element<const lf_array<T> &> { typedef T type; };

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

// Wide enough that no operand is promoted to a signed type.
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

// For floats: the other operand if one is NaN. Negative zero is less than positive zero.
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
// Exponentiation by squaring, with the host function's order of multiplications.
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
  // The power is subnormal or zero, but its reciprocal may be in range: multiply the reciprocals of two halves.
  if (!(lf_abs(power) < least) && lf_abs(power) - lf_abs(power) == 0) return 1 / power;
  return 1 / lf_by_squares(x, size / 2) / lf_by_squares(x, size - size / 2);
}
LF_DEVICE f32 lf_powi(f32 x, i32 n) { return lf_powi_of(x, n, 1.17549435e-38f); }
LF_DEVICE f64 lf_powi(f64 x, i32 n) { return lf_powi_of(x, n, 2.2250738585072014e-308); }

// Device functions for large arguments, which a kernel's own functions do not handle. The last bits may differ.
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

// Casts saturate to the range of the type. NaN becomes zero.
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
// Values passed between threads, and between blocks, word by word

// Words of four bytes make up a group's part.
template <class T> LF_DEVICE T lf_from_before(T x, u32 reach) {
  u32 words[sizeof(T) / 4];
  memcpy(words, &x, sizeof x);
  LF_UNROLL_FOR(T)
  for (u32 k = 0; k < sizeof(T) / 4; ++k) words[k] = __shfl_up_sync(LF_ALL, words[k], reach);
  memcpy(&x, words, sizeof x);
  return x;
}
template <class T> LF_DEVICE T lf_from_lane(T x, u32 lane) {
  u32 words[sizeof(T) / 4];
  memcpy(words, &x, sizeof x);
  LF_UNROLL_FOR(T)
  for (u32 k = 0; k < sizeof(T) / 4; ++k) words[k] = __shfl_sync(LF_ALL, words[k], i32(lane));
  memcpy(&x, words, sizeof x);
  return x;
}

// A cell holds a word of a value, and a tag with the kind of value and the number of the launch. So reused memory need
// not be cleared, and a one-word value needs no read ordering.
template <class T> struct lf_cells { static const u32 count = (sizeof(T) + 7) / 8; };

template <class T> LF_DEVICE void lf_publish(lf_cell *at, u64 tag, const T &x) {
  u64 words[lf_cells<T>::count] = {};
  memcpy(words, &x, sizeof x);
  LF_UNROLL
  for (u32 k = 0; k < lf_cells<T>::count; ++k) lf_store_cell(at + k, words[k], tag);
}
// The contents of a value's cells.
template <class T> struct lf_heard {
  u64 words[lf_cells<T>::count];
  u64 tag;
  bool is_whole;  // all cells have the same tag

  LF_DEVICE bool is_of(u64 number) const { return is_whole && tag / 2 == number; }
  LF_DEVICE T value() const {
    T x;
    memcpy(&x, words, sizeof x);
    return x;
  }
};
template <class T> LF_DEVICE lf_heard<T> lf_listen(const lf_cell *at) {
  lf_heard<T> heard;
  heard.is_whole = true;
  LF_UNROLL
  for (u32 k = 0; k < lf_cells<T>::count; ++k) {
    const lf_cell cell = lf_load_cell(at + k);
    heard.words[k] = cell.word;
    heard.is_whole = heard.is_whole && (k == 0 || cell.tag == heard.tag);
    heard.tag = cell.tag;
  }
  return heard;
}
const u32 LF_AGAIN = 400;  // nanoseconds between two polls: polling without a pause delays the answer

// Waits for a value of this launch.
template <class T> LF_DEVICE void lf_hear(const lf_cell *at, u64 number, lf_heard<T> &heard) {
  while (!heard.is_of(number)) {
    lf_wait(LF_AGAIN);
    heard = lf_listen<T>(at);
  }
}

// A variable in the host's format.
template <class T> LF_DEVICE u64 lf_word(T x) { return u64(x); }
template <> LF_DEVICE u64 lf_word(f32 x) { return lf_bitcast<u32>(x); }
template <> LF_DEVICE u64 lf_word(f64 x) { return lf_bitcast<u64>(x); }

// ---------------------------------------------------------------------------------------------------------------------
// Scans of threads' parts in a block, in order: joins need not commute

// The join of the earlier threads' parts, and of all parts.
template <class Part> struct lf_scanned {
  Part before;
  Part all;
};

// The base of groups without counts.
template <class Part> struct lf_as_it_is {
  typedef Part Short;
  static LF_DEVICE bool absorbs(const Part &) { return false; }
  static LF_DEVICE const Part &shorten(const Part &x) { return x; }
  static LF_DEVICE const Part &lengthen(const Part &x) { return x; }
};
// A group within a block, with short counts.
template <class Group> struct lf_short {
  typedef typename Group::Short Part;
  template <class Params> static LF_DEVICE Part identity(const Params &p) { return Group::shorten(Group::identity(p)); }
  template <class Params> static LF_DEVICE Part join(const Params &p, const Part &a, const Part &b) {
    return Group::shorten(Group::join(p, Group::lengthen(a), Group::lengthen(b)));
  }
};

// Scans the parts of the first `THREADS` threads of a warp, a power of two. The results of other threads are undefined.
template <class Group, u32 THREADS, class Params>
LF_DEVICE typename Group::Part lf_scan_warp(const Params &p, typename Group::Part own) {
  LF_UNROLL_FOR(typename Group::Part)
  for (u32 reach = 1; reach < THREADS; reach *= 2) {
    const typename Group::Part earlier = lf_from_before(own, reach);
    if (threadIdx.x % LF_WARP >= reach) own = Group::join(p, earlier, own);
  }
  return own;
}

// Scans the parts of a block, which has a power of two of warps, at most 32. `room` has an entry for each warp. It must
// not be written before the block's next barrier.
template <class Group, u32 THREADS, class Params>
LF_DEVICE lf_scanned<typename Group::Part> lf_scan_block(const Params &p, typename Group::Part own,
                                                        typename lf_short<Group>::Part *room) {
  typedef lf_short<Group> Short;
  typedef typename Short::Part Part;
  const u32 lane = threadIdx.x % LF_WARP, warp = threadIdx.x / LF_WARP, warps = THREADS / LF_WARP;
  const Part in_warp = lf_scan_warp<Short, LF_WARP>(p, Group::shorten(own));
  if (lane == LF_WARP - 1) room[warp] = in_warp;
  __syncthreads();
  const Part of_warps = lf_scan_warp<Short, warps>(p, room[lane % warps]);
  Part before = lf_from_before(in_warp, 1);
  if (lane == 0) before = Short::identity(p);
  if (warp > 0) before = Short::join(p, lf_from_lane(of_warps, warp - 1), before);
  lf_scanned<typename Group::Part> scanned;
  scanned.before = Group::lengthen(before);
  scanned.all = Group::lengthen(lf_from_lane(of_warps, warps - 1));
  return scanned;
}

// ---------------------------------------------------------------------------------------------------------------------
// Look-back: each tile computes its prefix while earlier tiles are still running (decoupled look-back; Merrill and
// Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016)

const u64 LF_OWN = 0;      // the tile's own total
const u64 LF_THROUGH = 1;  // the total of all tiles up to it
const u32 LF_FIRST = 600;  // nanoseconds before the first poll, for fewer polls (measured: scans of 2^28)

// The cells of one group, for each tile.
struct lf_published {
  lf_cell *cells;
};

// Publishes a tile's own total. The first tile need not, since it knows its prefix. An absorbing part is the total of
// all tiles up to it, so later tiles wait for no earlier ones.
template <class Group>
LF_DEVICE void lf_publish_own(const lf_published &published, u64 number, u64 tile, const typename Group::Part &own) {
  const u64 kind = Group::absorbs(own) ? LF_THROUGH : LF_OWN;
  if (tile > 0) lf_publish(published.cells + tile * lf_cells<typename Group::Part>::count, 2 * number + kind, own);
}

// Returns the prefix of a tile that has published its total, joined onto `start`. It pauses first. All threads of a
// warp must call it.
template <class Group, class Params>
LF_DEVICE typename Group::Part lf_look_back(const Params &p, const lf_published &published, u64 number, u64 tile, u32 pause,
                                            typename Group::Part own, typename Group::Part start) {
  typedef typename Group::Part Part;
  const u64 cells = lf_cells<Part>::count;
  const u32 lane = threadIdx.x % LF_WARP;
  Part before = start;
  if (tile > 0) {
    // Absorbing tiles usually follow other absorbing tiles, which have already published their totals.
    if (pause > 0 && !Group::absorbs(own)) lf_wait(pause);
    Part since = Group::identity(p);
    // A warp polls one earlier tile per thread, the nearest first. Polling more would delay others.
    for (u64 end = tile;; end -= LF_WARP) {
      const bool is_there = lane < end;
      const lf_cell *at = published.cells + (end - 1 - lane) * cells;
      lf_heard<Part> heard = {};
      u32 known = 0;
      for (bool is_heard = !is_there;;) {
        if (!is_heard) heard = lf_listen<Part>(at);
        is_heard = !is_there || heard.is_of(number);
        known = __ballot_sync(LF_ALL, is_there && is_heard && heard.tag == 2 * number + LF_THROUGH);
        // Tiles before the nearest total are not waited for.
        const u32 nearer = known == 0 ? LF_ALL : known ^ (known - 1);
        if ((__ballot_sync(LF_ALL, !is_heard) & nearer) == 0) break;
        lf_wait(LF_AGAIN);
      }
      Part part = is_there ? heard.value() : Group::identity(p);
      // The nearest total includes all earlier tiles.
      const u32 last = known == 0 ? LF_WARP - 1 : u32(__ffs(i32(known))) - 1;
      if (lane > last) part = Group::identity(p);
      LF_UNROLL
      for (u32 reach = 1; reach < LF_WARP; reach *= 2) {
        const Part earlier = lf_from_lane(part, lane + reach < LF_WARP ? lane + reach : lane);
        if (lane + reach < LF_WARP) part = Group::join(p, earlier, part);
      }
      since = Group::join(p, lf_from_lane(part, 0), since);
      if (known != 0) break;
    }
    before = since;
  }
  const bool is_published = tile > 0 && Group::absorbs(own);
  if (lane == 0 && !is_published) lf_publish(published.cells + tile * cells, 2 * number + LF_THROUGH, Group::join(p, before, own));
  __syncwarp();
  return before;
}

// ---------------------------------------------------------------------------------------------------------------------
// Launch parameters, and a step's accesses to memory

struct lf_launch {
  u64 first;     // the counter of the first step
  u64 steps;     // the number of steps
  u64 number;    // the launch's number, from 1 on, unique for this memory
  u32 *ticket;   // the next tile, then the number of finished blocks; zero between launches
  u32 *trapped;  // set at a trap
  const u32 *stopped;  // set if an earlier launch trapped: then this one does nothing; null if there is no earlier one
  u64 *result;   // results of groups: their words, level by level
  u64 pass;      // the number of the launch, for kernels with several passes
  u64 blocks;    // the number of blocks in launches with tiles
  u64 settles;   // whether the last writers are known
  lf_published published[5];
};

// An array filled by a filter: the element at count `begin` has the first position of `at`. For a whole tile, it is in
// shared memory.
template <class T> struct lf_kept {
  lf_array<T> array;
  T *room;
  u32 begin;
  bool in_room;
};
template <class T> LF_DEVICE void lf_keep(const lf_kept<T> &kept, u64 i, T x) {
  if (!kept.in_room) {
    lf_write(kept.array, i, x);
  } else {
    // A tile keeps at most as many elements as it has. Each is at the next count.
    kept.room[u32(i) - kept.begin] = x;
  }
}

// A single step: its elements are read and written one by one.
template <class L, bool EMIT>
LF_DEVICE void lf_step(const typename L::Params &p, const lf_launch &launch, u64 i, typename L::State &state,
                       const typename L::Kept &kept) {
  typename L::In in;
  typename L::Out out;
  L::reads(p, [&](const auto &array, auto of) { in.*of = lf_read(array, i); });
  L::template step<EMIT>(p, launch, i, in, state, out, kept);
  if (EMIT) L::writes(p, [&](const auto &array, auto of) { lf_write(array, i, out.*of); });
}

// The arrays filled by filters, in place, for steps with a known prefix.
template <class L> LF_DEVICE typename L::Kept lf_kept_in_place(const typename L::Params &p) {
  typename L::Kept kept;
  const typename L::State none = typename L::State();
  L::keeps(p, none, none, [&](const auto &array, auto of, u64, u64) {
    (kept.*of).array = array;
    (kept.*of).in_room = false;
  });
  return kept;
}

// Returns whether `steps` steps are in bounds of all arrays that steps access at their counter.
template <class L> LF_DEVICE bool lf_is_inside(const typename L::Params &p, const lf_launch &launch, u64 begin, u64 steps) {
  bool inside = begin + steps <= launch.steps;
  const u64 end = launch.first + begin + steps;
  L::reads(p, [&](const auto &array, auto) { inside = inside && end <= array.length; });
  L::writes(p, [&](const auto &array, auto) { inside = inside && end <= array.length; });
  return inside;
}

// Pieces of memory that a thread reads or writes in one access.
template <u32 BYTES> struct lf_piece;
template <> struct lf_piece<1> { typedef u8 type; };
template <> struct lf_piece<2> { typedef u16 type; };
template <> struct lf_piece<4> { typedef u32 type; };
template <> struct lf_piece<8> { typedef uint2 type; };
template <> struct lf_piece<16> { typedef uint4 type; };

// The widest piece that divides this number of bytes.
template <u32 BYTES> struct lf_widest {
  static const u32 bytes = BYTES % 16 == 0 ? 16 : BYTES % 8 == 0 ? 8 : BYTES % 4 == 0 ? 4 : BYTES % 2 == 0 ? 2 : 1;
};

template <u32 BYTES> LF_DEVICE bool lf_is_aligned(const void *at) { return u64(at) % BYTES == 0; }
