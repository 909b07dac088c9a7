
// ---------------------------------------------------------------------------------------------------------------------
// The end of loops

template <class L, bool ANY> struct lf_groups {
  static LF_DEVICE typename L::State identities(const typename L::Params &) { return typename L::State(); }
  static LF_DEVICE void finish(const typename L::Params &, const lf_launch &, const typename L::State &) {}
};

// Returns the number of a tile, or of a finished block. Each number is given once. After the last one it wraps to zero.
LF_DEVICE u32 lf_take_ticket(u32 *at, u32 all) { return atomicInc(at, all - 1); }

// Groups read only at the end: each block publishes its total, and the last block to finish joins them, in order.
template <class L> struct lf_groups<L, true> {
  typedef typename L::template Level<L::LEVELS> Group;
  typedef typename Group::Part Part;
  static LF_DEVICE typename L::State identities(const typename L::Params &p) {
    typename L::State state = typename L::State();
    Group::of(state) = Group::identity(p);
    return state;
  }
  static LF_DEVICE void finish(const typename L::Params &p, const lf_launch &launch, const typename L::State &state) {
    LF_SHARED_ARRAY(typename Group::Short, room, LF_WARP);
    LF_SHARED(bool, is_last);
    const u64 cells = lf_cells<Part>::count;
    typename L::State mine = state;
    const Part of_block = lf_scan_block<Group, L::THREADS>(p, Group::of(mine), room).all;
    if (threadIdx.x == 0) {
      lf_publish(launch.published[L::LEVELS].cells + blockIdx.x * cells, 2 * launch.number + LF_OWN, of_block);
      is_last = lf_take_ticket(launch.ticket + 1, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    const u32 each = (gridDim.x + L::THREADS - 1) / L::THREADS;
    Part of_blocks = Group::identity(p);
    for (u32 block = threadIdx.x * each; block < (threadIdx.x + 1) * each && block < gridDim.x; ++block) {
      const lf_cell *at = launch.published[L::LEVELS].cells + block * cells;
      lf_heard<Part> heard = lf_listen<Part>(at);
      lf_hear(at, launch.number, heard);
      of_blocks = Group::join(p, of_blocks, heard.value());
    }
    const Part all = lf_scan_block<Group, L::THREADS>(p, of_blocks, room).all;
    if (threadIdx.x == 0) Group::give(launch.result, Group::join(p, Group::start(p), all));
  }
};

// ---------------------------------------------------------------------------------------------------------------------
// Independent steps: only groups read at the end connect them, and their joins commute. Each thread has pieces of
// memory, and neighbours have adjacent ones.

// `N` consecutive elements.
template <u32 N, class T> LF_DEVICE void lf_load_piece(const T *at, T *x) {
  const u32 bytes = N * sizeof(T) < 16 ? N * sizeof(T) : 16, each = bytes / sizeof(T);
  typedef typename lf_piece<bytes>::type Piece;
  LF_UNROLL
  for (u32 k = 0; k < N / each; ++k) {
    const Piece piece = lf_load_constant(reinterpret_cast<const Piece *>(at) + k);
    memcpy(x + k * each, &piece, bytes);
  }
}
template <u32 N, class T> LF_DEVICE void lf_store_piece(T *at, const T *x) {
  const u32 bytes = N * sizeof(T) < 16 ? N * sizeof(T) : 16, each = bytes / sizeof(T);
  typedef typename lf_piece<bytes>::type Piece;
  LF_UNROLL
  for (u32 k = 0; k < N / each; ++k) {
    Piece piece;
    memcpy(&piece, x + k * each, bytes);
    lf_store_whole(reinterpret_cast<Piece *>(at) + k, piece);
  }
}

// Runs a tile that is in bounds of all arrays: all of its pieces are requested before the first step.
template <class L>
LF_DEVICE void lf_pieces(const typename L::Params &p, const lf_launch &launch, u64 begin, typename L::State &state,
                         const typename L::Kept &kept) {
  const u32 piece = L::PIECE, stride = L::THREADS * L::PIECE;
  const u64 mine = launch.first + begin + threadIdx.x * piece;
  typename L::In in[L::ELEMENTS];
  typename L::Out out[L::ELEMENTS];
  L::reads(p, [&](const auto &array, auto of) {
    typedef typename lf_element<decltype(array)>::type T;
    const T *at = array.at + mine;
    const bool is_aligned = lf_is_aligned<lf_widest<piece * sizeof(T)>::bytes>(array.at + launch.first);
    LF_UNROLL
    for (u32 k = 0; k < L::ELEMENTS / piece; ++k) {
      T x[piece];
      if (is_aligned) {
        lf_load_piece<piece>(at + k * stride, x);
      } else {
        LF_UNROLL
        for (u32 e = 0; e < piece; ++e) lf_load_piece<1>(at + k * stride + e, x + e);
      }
      LF_UNROLL
      for (u32 e = 0; e < piece; ++e) in[k * piece + e].*of = x[e];
    }
  });
  LF_UNROLL
  for (u32 e = 0; e < L::ELEMENTS; ++e) {
    L::template step<true>(p, launch, mine + e / piece * stride + e % piece, in[e], state, out[e], kept);
  }
  L::writes(p, [&](const auto &array, auto of) {
    typedef typename lf_element<decltype(array)>::type T;
    T *at = array.at + mine;
    const bool is_aligned = lf_is_aligned<lf_widest<piece * sizeof(T)>::bytes>(array.at + launch.first);
    LF_UNROLL
    for (u32 k = 0; k < L::ELEMENTS / piece; ++k) {
      T x[piece];
      LF_UNROLL
      for (u32 e = 0; e < piece; ++e) x[e] = out[k * piece + e].*of;
      if (is_aligned) {
        lf_store_piece<piece>(at + k * stride, x);
      } else {
        LF_UNROLL
        for (u32 e = 0; e < piece; ++e) at[k * stride + e] = x[e];
      }
    }
  });
}

template <class L> LF_DEVICE void lf_side_by_side(const typename L::Params &p, const lf_launch &launch) {
  typedef lf_groups<L, L::ENDS> Groups;
  typename L::State state = Groups::identities(p);
  const typename L::Kept kept = lf_kept_in_place<L>(p);
  for (u64 begin = blockIdx.x * L::TILE; begin < launch.steps; begin += gridDim.x * L::TILE) {
    if (lf_is_inside<L>(p, launch, begin, L::TILE)) {
      lf_pieces<L>(p, launch, begin, state, kept);
      continue;
    }
    const u64 end = begin + L::TILE < launch.steps ? begin + L::TILE : launch.steps;
    LF_ROLLED
    for (u64 i = begin + threadIdx.x; i < end; i += L::THREADS) {
      lf_step<L, true>(p, launch, launch.first + i, state, kept);
    }
  }
  Groups::finish(p, launch, state);
}

// ---------------------------------------------------------------------------------------------------------------------
// Ordered tiles: each thread has consecutive elements, so that groups are joined in order.
//
// Global memory is still accessed contiguously, through buffers in shared memory. While a tile waits for its prefix,
// the next one is summed up and published, and the elements of the one after that are fetched.

template <class L, u32 COUNT> struct lf_rooms {
  uint4 at[COUNT][(L::TILE * L::BYTES + 15) / 16 + 1];
  LF_DEVICE u8 *side(u32 k) { return reinterpret_cast<u8 *>(at[k]); }
};

template <class T> LF_DEVICE void lf_copy_element(T *to, const T *from) {
  if constexpr (sizeof(T) >= 4) {
    lf_copy_async<sizeof(T)>(to, from);
  } else {
    *to = *from;
  }
}

// Starts the fetch of the elements that a tile's steps read at their counter.
template <class L> LF_DEVICE void lf_fetch(const typename L::Params &p, const lf_launch &launch, u64 begin, u8 *room) {
  if (!lf_is_inside<L>(p, launch, begin, L::TILE)) return;
  L::reads(p, [&](const auto &array, auto) {
    typedef typename lf_element<decltype(array)>::type T;
    const T *from = array.at + launch.first + begin;
    const u32 pieces = L::TILE * sizeof(T) / 16;
    if (lf_is_aligned<16>(from)) {
      LF_UNROLL
      for (u32 k = 0; k < (pieces + L::THREADS - 1) / L::THREADS; ++k) {
        const u32 at = 16 * (k * L::THREADS + threadIdx.x);
        if (pieces % L::THREADS == 0 || at < 16 * pieces) lf_copy_async<16>(room + at, reinterpret_cast<const u8 *>(from) + at);
      }
    } else {
      LF_UNROLL
      for (u32 e = 0; e < L::ELEMENTS; ++e) {
        const u32 at = e * L::THREADS + threadIdx.x;
        lf_copy_element(reinterpret_cast<T *>(room) + at, from + at);
      }
    }
    room += L::TILE * sizeof(T);
  });
}

// Reads a thread's elements of a whole tile from a buffer. Those of each array are consecutive.
template <class L>
LF_DEVICE void lf_take(const typename L::Params &p, const u8 *room, typename L::In *in) {
  L::reads(p, [&](const auto &array, auto of) {
    typedef typename lf_element<decltype(array)>::type T;
    const u32 bytes = L::ELEMENTS * sizeof(T), each = lf_widest<bytes>::bytes;
    typedef typename lf_piece<each>::type Piece;
    T x[L::ELEMENTS];
    LF_UNROLL
    for (u32 k = 0; k < bytes / each; ++k) {
      const Piece piece = reinterpret_cast<const Piece *>(room)[threadIdx.x * (bytes / each) + k];
      memcpy(reinterpret_cast<u8 *>(x) + k * each, &piece, each);
    }
    LF_UNROLL
    for (u32 e = 0; e < L::ELEMENTS; ++e) in[e].*of = x[e];
    room += L::TILE * sizeof(T);
  });
}

// Writes the elements that a whole tile's steps write at their counter, through a buffer without other users.
template <class L>
LF_DEVICE void lf_store(const typename L::Params &p, const lf_launch &launch, u64 tile, u8 *room,
                        const typename L::Out *out) {
  L::writes(p, [&](const auto &array, auto of) {
    typedef typename lf_element<decltype(array)>::type T;
    const u32 bytes = L::ELEMENTS * sizeof(T), each = lf_widest<bytes>::bytes, pieces = L::TILE * sizeof(T) / 16;
    typedef typename lf_piece<each>::type Piece;
    T x[L::ELEMENTS];
    LF_UNROLL
    for (u32 e = 0; e < L::ELEMENTS; ++e) x[e] = out[e].*of;
    LF_UNROLL
    for (u32 k = 0; k < bytes / each; ++k) {
      Piece piece;
      memcpy(&piece, reinterpret_cast<const u8 *>(x) + k * each, each);
      reinterpret_cast<Piece *>(room)[threadIdx.x * (bytes / each) + k] = piece;
    }
    __syncthreads();
    T *to = array.at + launch.first + tile;
    if (lf_is_aligned<16>(to)) {
      LF_UNROLL
      for (u32 k = 0; k < (pieces + L::THREADS - 1) / L::THREADS; ++k) {
        const u32 at = k * L::THREADS + threadIdx.x;
        if (pieces % L::THREADS == 0 || at < pieces) {
          lf_store_whole(reinterpret_cast<uint4 *>(to) + at, reinterpret_cast<const uint4 *>(room)[at]);
        }
      }
    } else {
      LF_UNROLL
      for (u32 e = 0; e < L::ELEMENTS; ++e) {
        const u32 at = e * L::THREADS + threadIdx.x;
        to[at] = reinterpret_cast<const T *>(room)[at];
      }
    }
    // The next array's or tile's elements overwrite the buffer.
    __syncthreads();
  });
}

// Runs a thread's steps in a tile that is not in bounds of all arrays: elements are accessed one by one.
template <class L, bool EMIT>
LF_DEVICE void lf_steps(const typename L::Params &p, const lf_launch &launch, u64 tile, typename L::State &state,
                        const typename L::Kept &kept) {
  const u64 begin = tile + threadIdx.x * L::ELEMENTS;
  const u64 end = begin + L::ELEMENTS < launch.steps ? begin + L::ELEMENTS : launch.steps;
  LF_ROLLED
  for (u64 i = begin; i < end; ++i) lf_step<L, EMIT>(p, launch, launch.first + i, state, kept);
}

// Sums up a thread's steps.
template <class L>
LF_DEVICE void lf_sum(const typename L::Params &p, const lf_launch &launch, u64 tile, const u8 *room,
                      typename L::State &state) {
  if (!lf_is_inside<L>(p, launch, tile, L::TILE)) {
    lf_steps<L, false>(p, launch, tile, state, typename L::Kept());
    return;
  }
  typename L::In in[L::ELEMENTS];
  lf_take<L>(p, room, in);
  const u64 first = launch.first + tile + threadIdx.x * L::ELEMENTS;
  LF_UNROLL
  for (u32 e = 0; e < L::ELEMENTS; ++e) {
    typename L::Out out;
    L::template step<false>(p, launch, first + e, in[e], state, out, typename L::Kept());
  }
}

// Buffers the elements that filters keep of a tile, and copies them to their arrays.
template <class L>
LF_DEVICE typename L::Kept lf_kept_in_room(const typename L::Params &p, const typename L::State &before,
                                          const typename L::State &after, u8 *room) {
  typename L::Kept kept;
  L::keeps(p, before, after, [&](const auto &array, auto of, u64 begin, u64) {
    typedef typename lf_element<decltype(array)>::type T;
    (kept.*of).array = array;
    (kept.*of).room = reinterpret_cast<T *>(room);
    (kept.*of).begin = u32(begin);
    (kept.*of).in_room = true;
    room += L::TILE * sizeof(T);
  });
  return kept;
}
template <class L>
LF_DEVICE void lf_store_kept(const typename L::Params &p, const typename L::State &before,
                             const typename L::State &after, const u8 *room) {
  if (L::KEEPS) __syncthreads();
  L::keeps(p, before, after, [&](const auto &array, auto, u64 begin, u64 end) {
    typedef typename lf_element<decltype(array)>::type T;
    const u64 last = end < array.length ? end : array.length;
    const u32 count = begin < last ? u32(last - begin) : 0;
    // Several reads at once, to hide the latency of shared memory.
    const u32 each = L::ELEMENTS % 5 == 0 ? 5 : L::ELEMENTS % 4 == 0 ? 4 : L::ELEMENTS % 3 == 0 ? 3 : 1;
    const T *from = reinterpret_cast<const T *>(room) + threadIdx.x;
    T *to = array.at + begin + threadIdx.x;
    LF_ROLLED
    for (u32 at = threadIdx.x; at < count; at += each * L::THREADS) {
      T x[each];
      LF_UNROLL
      for (u32 k = 0; k < each; ++k) {
        if (at + k * L::THREADS < count) x[k] = from[k * L::THREADS];
      }
      LF_UNROLL
      for (u32 k = 0; k < each; ++k) {
        if (at + k * L::THREADS < count) to[k * L::THREADS] = x[k];
      }
      from += each * L::THREADS;
      to += each * L::THREADS;
    }
    room += L::TILE * sizeof(T);
  });
  if (L::KEEPS) __syncthreads();
}

// Runs a thread's steps with all writes. The buffer of their inputs serves for their outputs, too.
template <class L>
LF_DEVICE void lf_emit(const typename L::Params &p, const lf_launch &launch, u64 tile, u8 *room, typename L::State &state,
                       const typename L::State &before, const typename L::State &after) {
  const typename L::Kept kept = lf_kept_in_room<L>(p, before, after, room);
  if (!lf_is_inside<L>(p, launch, tile, L::TILE)) {
    if (L::STORES) __syncthreads();
    lf_steps<L, true>(p, launch, tile, state, kept);
    lf_store_kept<L>(p, before, after, room);
    return;
  }
  typename L::In in[L::ELEMENTS];
  typename L::Out out[L::ELEMENTS];
  lf_take<L>(p, room, in);
  if (L::STORES) __syncthreads();
  const u64 first = launch.first + tile + threadIdx.x * L::ELEMENTS;
  LF_UNROLL
  for (u32 e = 0; e < L::ELEMENTS; ++e) L::template step<true>(p, launch, first + e, in[e], state, out[e], kept);
  lf_store_kept<L>(p, before, after, room);
  lf_store<L>(p, launch, tile, room, out);
}

template <class L> LF_DEVICE u64 lf_tiles(const lf_launch &launch) { return (launch.steps + L::TILE - 1) / L::TILE; }

// The next tile of a block. Tiles begin in the order of their tickets, on any block. So all tiles that a tile waits for
// are running.
template <class L> struct lf_next {
  u32 *ticket;  // shared
  u64 tiles;
  u32 taken;

  LF_DEVICE void take(const lf_launch &launch) {
    // Each block takes three more than it has tiles.
    if (threadIdx.x == 0) taken = lf_take_ticket(launch.ticket, u32(tiles) + 3 * gridDim.x);
  }
  // Before a barrier: a ticket has some latency.
  LF_DEVICE void show() {
    if (threadIdx.x == 0) *ticket = taken;
  }
};

// Returns the totals of a tile, and of the earlier threads in it, in the groups of a level. The lower levels must be
// known in `state`. Each thread sums up its elements, and the block scans its threads.
template <class L, u32 K>
LF_DEVICE lf_scanned<typename L::template Level<K>::Part> lf_sum_up(const typename L::Params &p, const lf_launch &launch,
                                                                   u64 tile, const u8 *room,
                                                                   const typename L::State &state) {
  typedef typename L::template Level<K> Group;
  LF_SHARED_ARRAY(typename Group::Short, warps, LF_WARP);
  typename L::State mine = state;
  Group::of(mine) = Group::identity(p);
  lf_sum<L>(p, launch, tile * L::TILE, room, mine);
  const lf_scanned<typename Group::Part> scanned = lf_scan_block<Group, L::THREADS>(p, Group::of(mine), warps);
  if (threadIdx.x == 0) lf_publish_own<Group>(launch.published[K], launch.number, tile, scanned.all);
  return scanned;
}

// Finds the groups of a level and of all higher levels before each thread's first element. It joins the tile's prefix
// and the earlier threads' total.
template <class L, u32 K, bool ANY> struct lf_levels {
  typedef typename L::template Level<K> Group;
  typedef typename Group::Part Part;
  static LF_DEVICE void find(const typename L::Params &p, const lf_launch &launch, u64 tile,
                             const lf_scanned<Part> &scanned, const u8 *room, typename L::State &state,
                             typename L::State &before, typename L::State &after) {
    LF_SHARED(Part, shared);
    if (threadIdx.x < LF_WARP) {
      // The earlier tiles were waited for in the level below.
      const u32 pause = K == 0 ? LF_FIRST : 0;
      const Part found = lf_look_back<Group>(p, launch.published[K], launch.number, tile, pause, scanned.all, Group::start(p));
      if (threadIdx.x == 0) shared = found;
    }
    __syncthreads();
    Group::of(before) = shared;
    Group::of(after) = Group::join(p, Group::of(before), scanned.all);
    Group::of(state) = Group::join(p, Group::of(before), scanned.before);
    if (threadIdx.x == 0 && (tile + 1) * L::TILE >= launch.steps) Group::give(launch.result, Group::of(after));
    lf_levels<L, K + 1, (K + 1 < L::LEVELS)>::above(p, launch, tile, room, state, before, after);
  }
  static LF_DEVICE void above(const typename L::Params &p, const lf_launch &launch, u64 tile, const u8 *room,
                              typename L::State &state, typename L::State &before, typename L::State &after) {
    find(p, launch, tile, lf_sum_up<L, K>(p, launch, tile, room, state), room, state, before, after);
  }
};
template <class L, u32 K> struct lf_levels<L, K, false> {
  static LF_DEVICE void above(const typename L::Params &, const lf_launch &, u64, const u8 *, typename L::State &,
                              typename L::State &, typename L::State &) {}
};

// If groups depend on other groups' values, a tile's total in them depends on the levels below. Then a tile that is
// taken ahead would delay all others. So a block has one tile at a time.
template <class L> LF_DEVICE void lf_level_by_level(const typename L::Params &p, const lf_launch &launch) {
  typedef lf_groups<L, L::ENDS> Groups;
  typedef lf_rooms<L, 1> Rooms;
  LF_SHARED(Rooms, rooms);
  LF_SHARED(u32, ticket);
  const u64 tiles = lf_tiles<L>(launch);
  u8 *room = rooms.side(0);
  typename L::State state = Groups::identities(p);
  for (;;) {
    // Each block takes one more than it has tiles.
    if (threadIdx.x == 0) ticket = lf_take_ticket(launch.ticket, u32(tiles) + gridDim.x);
    __syncthreads();
    const u64 tile = ticket;
    if (tile >= tiles) break;
    lf_fetch<L>(p, launch, tile * L::TILE, room);
    lf_copies_done();
    __syncthreads();
    const lf_scanned<typename L::template Level<0>::Part> scanned = lf_sum_up<L, 0>(p, launch, tile, room, state);
    typename L::State before = state, after = state;
    lf_levels<L, 0, true>::find(p, launch, tile, scanned, room, state, before, after);
    lf_emit<L>(p, launch, tile * L::TILE, room, state, before, after);
    // No thread uses the buffer any more, and all have read the tile's number.
    __syncthreads();
  }
  Groups::finish(p, launch, state);
}

template <class L> LF_DEVICE void lf_in_order(const typename L::Params &p, const lf_launch &launch) {
  typedef lf_groups<L, L::ENDS> Groups;
  typedef lf_rooms<L, 3> Rooms;
  LF_SHARED(Rooms, rooms);
  LF_SHARED_ARRAY(u32, tickets, 2);
  lf_next<L> following = {&tickets[1], lf_tiles<L>(launch), 0};
  following.take(launch);
  if (threadIdx.x == 0) tickets[0] = following.taken;
  following.take(launch);
  following.show();
  __syncthreads();
  u32 tile = tickets[0], next = tickets[1];
  lf_fetch<L>(p, launch, u64(tile) * L::TILE, rooms.side(0));
  lf_copies_done();
  __syncthreads();
  lf_fetch<L>(p, launch, u64(next) * L::TILE, rooms.side(1));
  following.take(launch);
  typename L::State state = Groups::identities(p);
  lf_scanned<typename L::template Level<0>::Part> scanned, scanned_next;
  if (tile < following.tiles) scanned = lf_sum_up<L, 0>(p, launch, tile, rooms.side(0), state);
  for (u32 side = 0; tile < following.tiles; side = (side + 1) % 3) {
    following.show();
    lf_copies_done();
    // The next tile's elements are there, and no thread uses the last one's memory.
    __syncthreads();
    const u32 after_next = tickets[1];
    following.take(launch);
    lf_fetch<L>(p, launch, u64(after_next) * L::TILE, rooms.side((side + 2) % 3));
    if (next < following.tiles) scanned_next = lf_sum_up<L, 0>(p, launch, next, rooms.side((side + 1) % 3), state);
    u8 *room = rooms.side(side);
    typename L::State before = state, after = state;
    lf_levels<L, 0, true>::find(p, launch, tile, scanned, room, state, before, after);
    lf_emit<L>(p, launch, u64(tile) * L::TILE, room, state, before, after);
    tile = next;
    next = after_next;
    scanned = scanned_next;
  }
  Groups::finish(p, launch, state);
}

// Groups read only at the end, whose joins need not commute: each block has consecutive tiles.
template <class L> LF_DEVICE void lf_one_by_one(const typename L::Params &p, const lf_launch &launch) {
  typedef lf_groups<L, true> Groups;
  typedef typename Groups::Group Group;
  typedef typename Groups::Part Part;
  typedef lf_rooms<L, 2> Rooms;
  LF_SHARED(Rooms, rooms);
  LF_SHARED_ARRAY(typename Group::Short, warps, LF_WARP);
  const u64 tiles = lf_tiles<L>(launch), each = (tiles + gridDim.x - 1) / gridDim.x;
  const u64 from = blockIdx.x * each, to = from + each < tiles ? from + each : tiles;
  typename L::State all = Groups::identities(p);
  lf_fetch<L>(p, launch, from * L::TILE, rooms.side(0));
  for (u64 tile = from; tile < to; ++tile) {
    u8 *room = rooms.side(u32(tile - from) % 2);
    lf_copies_done();
    __syncthreads();
    if (tile + 1 < to) lf_fetch<L>(p, launch, (tile + 1) * L::TILE, rooms.side(u32(tile + 1 - from) % 2));
    typename L::State state = Groups::identities(p);
    lf_emit<L>(p, launch, tile * L::TILE, room, state, state, state);
    const Part of_tile = lf_scan_block<Group, L::THREADS>(p, Group::of(state), warps).all;
    Group::of(all) = Group::join(p, Group::of(all), of_tile);
  }
  // The first thread holds the block's total.
  if (threadIdx.x > 0) all = Groups::identities(p);
  lf_copies_done();
  Groups::finish(p, launch, all);
}
