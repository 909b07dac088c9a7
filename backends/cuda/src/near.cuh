
// ---------------------------------------------------------------------------------------------------------------------
// Staging of rows' elements in shared memory, with contiguous global accesses. A thread's elements are far from its
// neighbours', so direct accesses would touch a separate piece of memory for each thread.

// Returns the position of a byte in a buffer. Threads whose elements are a power of two apart would all use one bank.
// In that case each eight pieces of memory are followed by a gap of one piece.
template <bool GAPS> LF_DEVICE u32 lf_spread(u32 byte) { return GAPS ? byte + byte / 128 * 16 : byte; }

// The bytes of a buffer for `N` elements, for any alignment of the first one.
template <class T, u32 N, bool GAPS> struct lf_room {
  static const u32 pieces = (N * sizeof(T) + 16 + 127) / 128 * 8, bytes = (GAPS ? pieces + pieces / 8 : pieces) * 16;
};

// An array with some consecutive elements in a buffer. All others are accessed in global memory.
template <class T, bool GAPS> struct lf_near {
  lf_array<T> array;
  u8 *room;
  u64 begin;
  u32 count;
  u32 shift;  // the number of elements before the first one in its piece of memory

  LF_DEVICE T *at(u32 k) const { return reinterpret_cast<T *>(room + lf_spread<GAPS>((shift + k) * u32(sizeof(T)))); }
};

template <class T, bool GAPS> LF_DEVICE T lf_read(const lf_near<T, GAPS> &near, u64 i) {
  const u64 k = i - near.begin;
  return k < near.count ? *near.at(u32(k)) : lf_read(near.array, i);
}

// Accesses the element at a position in a tile. The buffer has all positions, even beyond the end of the array.
template <class T, bool GAPS> LF_DEVICE T lf_take(const lf_near<T, GAPS> &near, u32 k) { return *near.at(k); }
template <class T, bool GAPS> LF_DEVICE void lf_give(const lf_near<T, GAPS> &near, u32 k, T x) { *near.at(k) = x; }

// Describes up to `count` elements of an array from `begin` on, in a buffer.
template <bool GAPS, class T>
LF_DEVICE lf_near<T, GAPS> lf_near_of(const lf_array<T> &array, u64 begin, u32 count, u8 *room) {
  const u64 there = begin < array.length ? array.length - begin : 0;
  const u32 shift = u32(u64(array.at + begin) % 16 / sizeof(T));
  return lf_near<T, GAPS>{array, room, begin, there < count ? u32(there) : count, shift};
}

// Starts the copies to the buffer: whole pieces, then the elements before and after them.
template <u32 THREADS, class T, bool GAPS> LF_DEVICE void lf_bring_in(const lf_near<T, GAPS> &near) {
  const u32 each = 16 / sizeof(T), end = near.shift + near.count;
  const u32 up = (near.shift + each - 1) / each * each, whole = up < end ? up : end;
  const u32 down = end / each * each, rest = down > whole ? down : whole;
  const T *from = near.array.at + near.begin - near.shift;
  for (u32 k = whole + threadIdx.x * each; k < rest; k += THREADS * each) {
    lf_copy_async<16>(near.room + lf_spread<GAPS>(k * sizeof(T)), from + k);
  }
  const u32 before = whole - near.shift;
  for (u32 k = threadIdx.x; k < before + end - rest; k += THREADS) {
    const u32 at = k < before ? near.shift + k : rest + k - before;
    lf_copy_element(reinterpret_cast<T *>(near.room + lf_spread<GAPS>(at * sizeof(T))), from + at);
  }
}

// Stages the arrays that a tile reads from `begin` on, and prepares its outputs from `out` on.
template <class L> LF_DEVICE typename L::Near lf_bring_near(const typename L::Params &p, u64 begin, u64 out, u32 count) {
  LF_SHARED_ARRAY(uint4, rooms, L::ROOM / 16);
  u8 *room = reinterpret_cast<u8 *>(rooms);
  typename L::Near near;
  L::fetches(p, [&](const auto &array, auto of) {
    typedef typename lf_element<decltype(array)>::type T;
    near.*of = lf_near_of<L::GAPS>(array, begin, count, room);
    lf_bring_in<L::THREADS>(near.*of);
    // Elements beyond the end of the array.
    for (u32 k = (near.*of).count + threadIdx.x; k < count; k += L::THREADS) *(near.*of).at(k) = T(0);
    room += lf_room<T, L::PLACES, L::GAPS>::bytes;
  });
  L::stores(p, [&](const auto &array, auto of) {
    typedef typename lf_element<decltype(array)>::type T;
    near.*of = lf_near_of<L::GAPS>(array, out, count, room);
    room += lf_room<T, L::PLACES, L::GAPS>::bytes;
  });
  lf_copies_done();
  __syncthreads();
  return near;
}

// Writes a tile's buffers to its arrays. The buffers must not be reused before the block's next barrier.
template <class L> LF_DEVICE void lf_take_out(const typename L::Params &p, const typename L::Near &near) {
  if (L::STORES) __syncthreads();
  L::stores(p, [&](const auto &, auto of) {
    const auto &from = near.*of;
    for (u32 k = threadIdx.x; k < from.count; k += L::THREADS) from.array.at[from.begin + k] = *from.at(k);
  });
}

// The outputs of rows at their ends fill a buffer from its end, and those of elements from its start. Together they
// never exceed the steps.
template <class T> struct lf_ends {
  lf_array<T> array;
  T *top;
  u64 begin;  // the first row that ends in a tile
  u32 count;  // the number of such rows
};
template <class T> LF_DEVICE void lf_give(const lf_ends<T> &ends, u32 k, T x) { *(ends.top - 1 - k) = x; }
template <class L>
LF_DEVICE void lf_end_near(const typename L::Params &p, typename L::Near &near, u64 begin, u32 count) {
  L::ends(p, [&](const auto &array, auto of, auto in) {
    typedef typename lf_element<decltype(array)>::type T;
    u8 *const top = (near.*in).room + lf_room<T, L::PLACES, L::GAPS>::bytes;
    near.*of = lf_ends<T>{array, reinterpret_cast<T *>(top), begin, count};
  });
}
// Writes these outputs to their arrays, after all threads have stored them.
template <class L> LF_DEVICE void lf_take_ends_out(const typename L::Params &p, const typename L::Near &near) {
  L::ends(p, [&](const auto &array, auto of, auto) {
    const auto &ends = near.*of;
    for (u32 k = threadIdx.x; k < ends.count; k += L::THREADS) lf_write(array, ends.begin + k, *(ends.top - 1 - k));
  });
}

// An array transposed through a buffer, square by square: its columns are contiguous, and threads have neighbours of a
// row. A line of a square has one padding element, so that accesses along it and across it use all banks.
template <class T> struct lf_turned {
  lf_array<T> array;
  u64 stride;  // from an element of a row to the next
  T *room;     // null if nothing is transposed
};
const u32 LF_LINE = LF_WARP + 1;
template <class T, u32 PLACES> struct lf_square { static const u32 bytes = PLACES * sizeof(T); };

template <class T> LF_DEVICE T lf_take(const lf_turned<T> &turned, u32 k, u64 i) {
  return turned.room != nullptr ? turned.room[k] : lf_read(turned.array, i);
}
// A square of rows and their elements, cut at the end of the array.
struct lf_corner {
  u64 row, at;      // the first row and element
  u32 rows, count;  // their numbers
};

// Visits the elements of a square, with those of a column contiguous. `f` gets the position of each in the buffer and
// in the array, and whether it is known to be in bounds. A whole square is checked once.
template <class L, class F>
LF_DEVICE void lf_down(const lf_launch &launch, const lf_corner &corner, u64 stride, u64 length, const F &f) {
  const u32 lane = threadIdx.x % LF_WARP, warp = threadIdx.x / LF_WARP, warps = L::THREADS / LF_WARP;
  u32 k = warp * LF_LINE + lane;
  u64 i = launch.first + corner.row + lane + (corner.at + warp) * stride;
  const u64 end = launch.first + corner.row + LF_WARP - 1 + (corner.at + LF_WARP - 1) * stride;
  const bool is_near = (stride | (corner.at + LF_WARP)) >> 31 == 0;
  if (corner.rows == LF_WARP && corner.count == LF_WARP && is_near && end < length) {
    LF_UNROLL
    for (u32 line = 0; line < LF_WARP; line += warps) {
      f(k, i, true);
      k += warps * LF_LINE;
      i += warps * stride;
    }
  } else {
    LF_ROLLED
    for (u32 line = warp; line < corner.count; line += warps) {
      if (lane < corner.rows) f(k, i, i < length);
      k += warps * LF_LINE;
      i += warps * stride;
    }
  }
}

// Describes the transposed arrays, with a buffer each or none.
template <class L> LF_DEVICE typename L::Near lf_turned_of(const typename L::Params &p, u8 *room) {
  typename L::Near near;
  L::fetches(p, [&](const auto &array, auto of, u64 stride) {
    typedef typename lf_element<decltype(array)>::type T;
    near.*of = lf_turned<T>{array, stride, reinterpret_cast<T *>(room)};
    if (room != nullptr) room += lf_square<T, L::PLACES>::bytes;
  });
  return near;
}

// Stages the elements that a square reads.
template <class L>
LF_DEVICE void lf_turn_in(const typename L::Params &p, const lf_launch &launch, const lf_corner &corner, const typename L::Near &near) {
  if (L::ROOM > 0) __syncthreads();
  L::fetches(p, [&](const auto &array, auto of, u64 stride) {
    auto *room = (near.*of).room;
    lf_down<L>(launch, corner, stride, array.length, [&](u32 k, u64 i, bool is_inside) {
      if (is_inside) {
        lf_copy_element(room + k, array.at + i);
      } else {
        room[k] = 0;
      }
    });
  });
  if (L::ROOM > 0) {
    lf_copies_done();
    __syncthreads();
  }
}
