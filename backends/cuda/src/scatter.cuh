
// ---------------------------------------------------------------------------------------------------------------------
// Scatters: values joined onto arbitrary elements, by operators whose order matters only for the last bits of floats;
// and values that overwrite elements

struct lf_by_add { template <class T> static LF_DEVICE T join(T x, T y) { return lf_add(x, y); } };
struct lf_by_mul { template <class T> static LF_DEVICE T join(T x, T y) { return lf_mul(x, y); } };
struct lf_by_min { template <class T> static LF_DEVICE T join(T x, T y) { return lf_min(x, y); } };
struct lf_by_max { template <class T> static LF_DEVICE T join(T x, T y) { return lf_max(x, y); } };
struct lf_by_and { template <class T> static LF_DEVICE T join(T x, T y) { return T(x & y); } };
struct lf_by_or { template <class T> static LF_DEVICE T join(T x, T y) { return T(x | y); } };
struct lf_by_xor { template <class T> static LF_DEVICE T join(T x, T y) { return T(x ^ y); } };

// Words for atomic exchange.
template <u32 BYTES> struct lf_word_of;
template <> struct lf_word_of<1> { typedef u8 type; };
template <> struct lf_word_of<2> { typedef u16 type; };
template <> struct lf_word_of<4> { typedef u32 type; };
template <> struct lf_word_of<8> { typedef u64 type; };

LF_DEVICE u8 lf_exchange_if(u8 *at, u8 old, u8 next) { return lf_byte_exchange_if(at, old, next); }
LF_DEVICE u16 lf_exchange_if(u16 *at, u16 old, u16 next) { return atomicCAS(at, old, next); }
LF_DEVICE u32 lf_exchange_if(u32 *at, u32 old, u32 next) { return atomicCAS(at, old, next); }
LF_DEVICE u64 lf_exchange_if(u64 *at, u64 old, u64 next) { return atomicCAS(at, old, next); }

// The general join: it is repeated if another thread was faster. A join without effect writes nothing.
template <class By, class T> struct lf_joined {
  static LF_DEVICE void onto(T *at, T x) {
    typedef typename lf_word_of<sizeof(T)>::type Word;
    Word *word = reinterpret_cast<Word *>(at);
    Word old = *static_cast<const volatile Word *>(word);
    for (;;) {
      const Word next = lf_bitcast<Word>(By::join(lf_bitcast<T>(old), x));
      if (next == old) return;
      const Word found = lf_exchange_if(word, old, next);
      if (found == old) return;
      old = found;
    }
  }
};

// Joins with device instructions.
#define LF_JOIN_AT_ONCE(BY, T, FUNCTION, AS)                                                                               \
  template <> struct lf_joined<BY, T> {                                                                                    \
    static LF_DEVICE void onto(T *at, T x) { FUNCTION(reinterpret_cast<AS *>(at), AS(x)); }                                \
  }
#define LF_JOINS_AT_ONCE(T, U)                                                                                             \
  LF_JOIN_AT_ONCE(lf_by_add, T, atomicAdd, U);                                                                             \
  LF_JOIN_AT_ONCE(lf_by_min, T, atomicMin, T);                                                                             \
  LF_JOIN_AT_ONCE(lf_by_max, T, atomicMax, T);                                                                             \
  LF_JOIN_AT_ONCE(lf_by_and, T, atomicAnd, U);                                                                             \
  LF_JOIN_AT_ONCE(lf_by_or, T, atomicOr, U);                                                                               \
  LF_JOIN_AT_ONCE(lf_by_xor, T, atomicXor, U)
LF_JOINS_AT_ONCE(i32, u32);
LF_JOINS_AT_ONCE(u32, u32);
LF_JOINS_AT_ONCE(i64, u64);
LF_JOINS_AT_ONCE(u64, u64);
LF_JOIN_AT_ONCE(lf_by_add, f32, atomicAdd, f32);
LF_JOIN_AT_ONCE(lf_by_add, f64, atomicAdd, f64);

// Bins: a block joins values onto a copy of a short array in shared memory, and joins that onto the array at the end. The
// array must have fewer elements than the block has steps.
//
// For very short arrays, each warp, or a few warps together, have their own bins. So they seldom conflict.

template <class Bins> LF_DEVICE bool lf_has_bins(const lf_array<typename Bins::Type> &a, const lf_launch &launch) {
  return a.length <= Bins::ROOM && a.length * gridDim.x <= launch.steps;
}
template <class Bins> LF_DEVICE u32 lf_copies(const lf_array<typename Bins::Type> &a) {
  const u32 warps = blockDim.x / LF_WARP, most = a.length == 0 ? 1 : u32(Bins::ROOM / a.length);
  return most < warps ? most : warps;
}

template <class Bins> LF_DEVICE void lf_bins_begin(const lf_array<typename Bins::Type> &a, const lf_launch &launch) {
  if (lf_has_bins<Bins>(a, launch)) {
    const u32 bins = lf_copies<Bins>(a) * u32(a.length);
    for (u32 i = threadIdx.x; i < bins; i += blockDim.x) Bins::room()[i] = Bins::identity();
  }
  __syncthreads();
}

template <class Bins>
LF_DEVICE void lf_scatter(const lf_array<typename Bins::Type> &a, u64 i, typename Bins::Type x, const lf_launch &launch) {
  if (i >= a.length) return;
  typename Bins::Type *at = a.at + i;
  if (lf_has_bins<Bins>(a, launch)) at = Bins::room() + threadIdx.x / LF_WARP % lf_copies<Bins>(a) * u32(a.length) + u32(i);
  lf_joined<typename Bins::By, typename Bins::Type>::onto(at, x);
}

template <class Bins> LF_DEVICE void lf_bins_end(const lf_array<typename Bins::Type> &a, const lf_launch &launch) {
  typedef typename Bins::Type T;
  __syncthreads();
  if (!lf_has_bins<Bins>(a, launch)) return;
  for (u32 i = threadIdx.x; i < a.length; i += blockDim.x) {
    T x = Bins::room()[i];
    for (u32 copy = 1; copy < lf_copies<Bins>(a); ++copy) x = Bins::By::join(x, Bins::room()[copy * u32(a.length) + i]);
    lf_joined<typename Bins::By, T>::onto(a.at + i, x);
  }
}

// For overwrites whose last one wins: each write records its number, from 1 on. The next launch performs the last write
// of each element.
LF_DEVICE void lf_claim(const lf_array<u64> &winners, u64 i, u64 number) {
  if (i < winners.length) atomicMax(winners.at + i, number);
}
LF_DEVICE bool lf_wins(const lf_array<u64> &winners, u64 i, u64 number) {
  return i < winners.length && winners.at[i] == number;
}
