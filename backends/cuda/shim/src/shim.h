// The machine functions of the prelude, on the host processor of the tests. Each thread of a block is a fiber, and a
// scheduler in `shim.cpp` interleaves them. The prelude includes this file if `LF_HOST` is defined.
#pragma once
#include <cmath>
#include <cstring>

#define LF_DEVICE inline
#define LF_KERNEL(...) static inline void
#define LF_UNROLL
#define LF_ROLLED
#define LF_UNROLL_FOR(T)
#define LF_BY_SEVEN
#define LF_SHARED(T, name)                                                                                                 \
  static const char lf_place_of_##name = 0;                                                                                \
  T &name = *static_cast<T *>(lf_shared(&lf_place_of_##name, sizeof(T)))
#define LF_SHARED_ARRAY(T, name, n)                                                                                        \
  static const char lf_place_of_##name = 0;                                                                                \
  T *name = static_cast<T *>(lf_shared(&lf_place_of_##name, (n) * sizeof(T)))

struct alignas(8) uint2 {
  u32 x, y;
};
struct alignas(16) uint4 {
  u32 x, y, z, w;
};

struct lf_index {
  u32 x;
};

// Set by the scheduler for the running fiber.
extern "C" {
extern lf_index lf_thread, lf_block, lf_threads, lf_blocks;
// Lets other fibers run.
void lf_yield();
// Waits for all unfinished threads of the block.
void lf_barrier();
// Gives each thread of a warp the words of all its threads.
void lf_exchange(u64 word, u64 *all);
// Returns memory shared by the threads of a block, the same at each call from one place.
void *lf_shared(const void *place, u64 bytes);
// Reports an access without compiler instrumentation.
void lf_seen(const void *at, u64 bytes, bool writes);
// Reports an access that a device requires to be aligned to this number of bytes.
void lf_aligned(const void *at, u64 bytes);
// Starts a copy, and completes all copies of this thread. The data arrive only at completion.
void lf_copy_later(void *to, const void *from, u32 bytes);
void lf_copies_done();
}
#define threadIdx lf_thread
#define blockIdx lf_block
#define blockDim lf_threads
#define gridDim lf_blocks

template <class T> inline T __shfl_sync(u32, T x, i32 lane) {
  u64 all[32], word = 0;
  memcpy(&word, &x, sizeof x);
  lf_exchange(word, all);
  memcpy(&x, &all[lane & 31], sizeof x);
  return x;
}
template <class T> inline T __shfl_up_sync(u32, T x, u32 reach) {
  const u32 lane = lf_thread.x % 32;
  return __shfl_sync(0xffffffffu, x, i32(lane >= reach ? lane - reach : lane));
}
inline u32 __ballot_sync(u32, bool x) {
  u64 all[32];
  lf_exchange(x, all);
  u32 set = 0;
  for (u32 lane = 0; lane < 32; ++lane) set |= u32(all[lane] & 1) << lane;
  return set;
}
inline void __syncwarp() {
  u64 all[32];
  lf_exchange(0, all);
}
inline void __syncthreads() { lf_barrier(); }
inline i32 __ffs(i32 x) { return __builtin_ffs(x); }
inline i32 __ffsll(i64 x) { return __builtin_ffsll(x); }
inline i32 __popcll(u64 x) { return __builtin_popcountll(x); }
inline i32 __clzll(i64 x) { return x == 0 ? 64 : __builtin_clzll(u64(x)); }
// Other fibers may run before each of these, but not during one.
#define LF_ATOMIC(NAME, NEXT)                                                                                              \
  template <class T> inline T NAME(T *at, T x) {                                                                           \
    lf_yield();                                                                                                            \
    const T old = *at;                                                                                                     \
    *at = NEXT;                                                                                                            \
    return old;                                                                                                            \
  }
LF_ATOMIC(atomicAdd, old + x)
LF_ATOMIC(atomicMin, old < x ? old : x)
LF_ATOMIC(atomicMax, old > x ? old : x)
LF_ATOMIC(atomicAnd, old & x)
LF_ATOMIC(atomicOr, old | x)
LF_ATOMIC(atomicXor, old ^ x)
LF_ATOMIC(atomicInc, old >= x ? 0 : old + 1)
template <class T> inline T atomicCAS(T *at, T expected, T next) {
  lf_yield();
  const T old = *at;
  if (old == expected) *at = next;
  return old;
}
inline u8 lf_byte_exchange_if(u8 *at, u8 old, u8 next) { return atomicCAS(at, old, next); }

// Copies are checked, too.
inline void lf_copy(void *to, const void *from, u64 bytes) {
  lf_seen(from, bytes, false);
  lf_seen(to, bytes, true);
  memcpy(to, from, bytes);
}
#define memcpy lf_copy

inline void lf_wait(u32) { lf_yield(); }
// Other fibers may run between any two of these.
struct alignas(16) lf_cell {
  u64 word;
  u64 tag;
};
inline lf_cell lf_load_cell(const lf_cell *at) {
  lf_aligned(at, sizeof *at);
  lf_yield();
  return *at;
}
inline void lf_store_cell(lf_cell *at, u64 word, u64 tag) {
  lf_aligned(at, sizeof *at);
  *at = lf_cell{word, tag};
  lf_yield();
}
template <u32 BYTES> inline void lf_copy_async(void *to, const void *from) { lf_copy_later(to, from, BYTES); }
template <class T> inline T lf_load_constant(const T *at) {
  lf_aligned(at, sizeof *at);
  return *at;
}
template <class T> inline void lf_store_whole(T *at, T x) {
  lf_aligned(at, sizeof *at);
  *at = x;
}
