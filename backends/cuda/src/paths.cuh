
// ---------------------------------------------------------------------------------------------------------------------
// Paths: threads share the steps of elements of rows, and of rows' ends

// Most numbers fit in 32 bits, which a device divides several times as fast.
LF_DEVICE u64 lf_quotient(u64 x, u64 y) { return ((x | y) >> 32) == 0 ? u64(u32(x) / u32(y)) : x / y; }

// Returns the first row with a step, out of `rows` rows. A row with an end has a step more than elements. All threads
// of a warp must call it. Each round narrows the range by the warp's width: reads of memory dominate the time.
LF_DEVICE u64 lf_find(const u64 *through, u64 ends, u64 step, u64 rows) {
  u64 low = 0;
  for (u64 left = rows; left > 1;) {
    const u64 each = (left + LF_WARP - 1) / LF_WARP, last = (threadIdx.x % LF_WARP + 1) * each - 1;
    const bool is_rest = last >= left - 1;
    const bool is_behind = is_rest || lf_load_constant(through + low + last) + (low + last + 1) * ends > step;
    const u64 part = u64(__ffs(i32(__ballot_sync(LF_ALL, is_behind))) - 1) * each;
    low += part;
    left = left - part < each ? left - part : each;
  }
  return low;
}

// Consecutive steps of a path, those of a tile, with the positions of its rows. For equally long rows a division gives
// these.
template <class L, bool UNIFORM> struct lf_places {
  u64 begin, first, length;  // the first step, its row, the length of each row
  u32 steps;
  LF_DEVICE lf_places(const typename L::Params &p, u64 begin, u32 steps, const u64 *)
      : begin(begin), first(0), length(L::length(p)), steps(steps) {
    first = lf_quotient(begin, length + L::ENDS);
  }
  static LF_DEVICE void find_rows(const typename L::Params &, u64, u64, u64 *) {}
  // Returns the row of a step of the tile.
  LF_DEVICE u64 find(u32 at) const { return lf_quotient(begin + at, length + L::ENDS); }
  // Returns the step of the tile after a row. It is the number of steps plus one if the row continues beyond the tile.
  LF_DEVICE u32 stop(u64 row) const { return u32(lf_min((row + 1) * (length + L::ENDS) - begin, u64(steps) + 1)); }
  // Returns that of the next row, given that of a row.
  LF_DEVICE u32 next(u64, u32 stop) const { return u32(lf_min(stop + length + L::ENDS, u64(steps) + 1)); }
  // Returns the number of steps that are elements.
  LF_DEVICE u32 elements() const {
    const u64 behind = find(steps - 1);
    return steps - u32(behind - first) * L::ENDS - (stop(behind) == steps ? L::ENDS : 0);
  }
};

// Other rows are read once, and staged. If rows have ends, a tile has at most as many rows as steps.
template <class L> struct lf_places<L, false> {
  const u64 *far;
  u64 begin, first, behind;
  u16 *stops;
  u32 steps;
  // The rows of the first and last step are known. The other threads see the positions after a barrier.
  LF_DEVICE lf_places(const typename L::Params &p, u64 begin, u32 steps, const u64 *rows)
      : far(L::places(p).at), begin(begin), first(rows[0]), behind(rows[1]), steps(steps) {
    LF_SHARED_ARRAY(u16, kept, L::ENDS > 0 ? L::TILE : 1);
    stops = kept;
    for (u32 k = threadIdx.x; L::ENDS > 0 && k <= behind - first; k += L::THREADS) kept[k] = u16(far_stop(first + k));
  }
  // Finds these rows, in two warps other than the first if there are enough.
  static LF_DEVICE void find_rows(const typename L::Params &p, u64 tile, u64 all, u64 *rows) {
    const u64 behind = (tile + 1) * L::TILE;
    for (u32 k = 0; k < 2; ++k) {
      if (threadIdx.x / LF_WARP != (k + 1) % (L::THREADS / LF_WARP)) continue;
      const u64 step = k == 0 ? tile * L::TILE : (behind < all ? behind : all) - 1;
      const u64 row = lf_find(L::places(p).at, L::ENDS, step, L::places(p).length);
      if (threadIdx.x % LF_WARP == 0) rows[k] = row;
    }
  }
  LF_DEVICE u32 far_stop(u64 row) const {
    return u32(lf_min(lf_load_constant(far + row) + (row + 1) * L::ENDS - begin, u64(steps) + 1));
  }
  LF_DEVICE u64 find(u32 at) const {
    u64 low = first, high = behind;
    while (low < high) {
      const u64 middle = low + (high - low) / 2;
      if (stop(middle) > at) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
  LF_DEVICE u32 stop(u64 row) const { return L::ENDS > 0 ? stops[row - first] : far_stop(row); }
  LF_DEVICE u32 next(u64 row, u32) const { return stop(row); }
  LF_DEVICE u32 elements() const {
    return steps - u32(behind - first) * L::ENDS - (far_stop(behind) == steps ? L::ENDS : 0);
  }
};

// Returns the number of steps of a path. If rows are not equally long, the kernel before has computed it, and the
// launch has a bound. If the bound is too small, or a trap occurred, the kernel does nothing.
template <class L> LF_DEVICE u64 lf_path_steps(const typename L::Params &p, const lf_launch &launch) {
  if constexpr (L::UNIFORM) {
    return launch.steps;
  } else {
    LF_SHARED(u64, all);
    if (threadIdx.x == 0) {
      const lf_array<u64> places = L::places(p);
      all = places.at[places.length - 1] + places.length * L::ENDS;
      if (all > launch.steps || (launch.stopped != nullptr && *launch.stopped != 0)) all = 0;
    }
    __syncthreads();
    return all;
  }
}

// The next tile of a block, with the rows of its first and last step. Tickets have some latency, and row searches have
// more. With one level they overlap with the previous tile. With several levels, a tile that is taken ahead would delay
// all others.
template <class L> struct lf_ahead {
  static const bool GOES = L::LEVELS == 1 && !L::LEAVES && !L::PASSES && L::THREADS > 2 * LF_WARP;
  u64 all, tiles;  // steps, and tiles
  u64 tile, turn;  // in passes, a block has consecutive tiles
  u64 rows[2];
  LF_DEVICE u32 take(const lf_launch &launch) const {
    // Each block takes one more than it has tiles.
    return threadIdx.x == 0 ? lf_take_ticket(launch.ticket, u32(tiles) + gridDim.x) : 0;
  }
  LF_DEVICE void find_rows(const typename L::Params &p) {
    if (tile < tiles) lf_places<L, L::UNIFORM>::find_rows(p, tile, all, rows);
  }
  // Takes the next tile, and waits for it.
  LF_DEVICE void wait(const typename L::Params &p, const lf_launch &launch) {
    __syncthreads();
    if (L::PASSES) {
      const u64 each = (tiles + gridDim.x - 1) / gridDim.x;
      if (threadIdx.x == 0) tile = turn < each ? blockIdx.x * each + turn++ : tiles;
    } else {
      const u32 taken = take(launch);
      if (threadIdx.x == 0) tile = taken;
    }
    __syncthreads();
    find_rows(p);
  }
};

// Consecutive steps of a tile for one thread: elements of rows, and ends of rows.
template <class L> struct lf_share {
  lf_places<L, L::UNIFORM> places;
  typename L::Near near;
  u64 row;
  u32 from, to;
  lf_ahead<L> *ahead;
  // Every thread's total counts, and each has its own prefix.
  LF_DEVICE bool speaks() const { return true; }
  template <class Part> LF_DEVICE Part told(const Part &before) const { return before; }
  LF_DEVICE void meanwhile(const typename L::Params &p) const {
    if (lf_ahead<L>::GOES) ahead->find_rows(p);
  }
  // Returns the number of elements before a row with a step in the tile.
  LF_DEVICE u64 before(const typename L::Params &p, u64 i) const {
    if (i > places.first) return places.begin + places.stop(i - 1) - i * L::ENDS;
    if constexpr (L::UNIFORM) {
      return i * places.length;
    } else {
      return i > 0 ? lf_load_constant(places.far + i - 1) : 0;
    }
  }
  // Runs the first step alone, if steps are independent.
  LF_DEVICE void alone(const typename L::Params &p, const lf_launch &launch) const {
    typename L::State state = typename L::State();
    const u64 first = before(p, row), at = places.begin + from - row * L::ENDS - first;
    const typename L::Row head = L::row(p, launch.first + row, first, state);
    if (L::ENDS == 0 || from + 1 != places.stop(row)) {
      L::template element<0>(p, launch, launch.first + row, head, head.lf_begin + at, near, 0, state);
    } else if constexpr (L::ENDS > 0) {
      L::template end<0>(p, launch, launch.first + row, first, at, near, 0, state);
    }
  }
  template <u32 K>
  LF_DEVICE void run(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    if (from >= to) return;
    // Elements that only fold have no effect if no row ends among them.
    const bool is_within = places.stop(row) >= to + L::ENDS;
    if (K == L::LEVELS && is_within && !L::EFFECTS) return;
    if (L::LIGHT && is_within) {
      const u64 first = before(p, row), at = places.begin + from - row * L::ENDS - first;
      const u32 k = from - u32(row - places.first) * L::ENDS;
      const typename L::Row head = L::row(p, launch.first + row, first, state);
      if (at == 0) L::begin(head, state);
      LF_BY_SEVEN
      for (u32 e = 0; e < to - from; ++e) {
        L::template element<K>(p, launch, launch.first + row, head, head.lf_begin + at + e, near, k + e, state);
      }
      return;
    }
    each(p, launch, state, [&](u64 i, const typename L::Row &head, u64 first, u64 at, u32 k, bool is_end) {
      if constexpr (L::ENDS > 0) {
        if (is_end) L::template end<K>(p, launch, launch.first + i, first, at, near, u32(i - places.first), state);
      }
      if (!is_end) L::template element<K>(p, launch, launch.first + i, head, head.lf_begin + at, near, k, state);
      return LF_GOES_ON;
    });
  }
  LF_DEVICE void end() { to = from; }
  LF_DEVICE bool has_last(const lf_launch &) const { return from < to && places.begin + to == ahead->all; }
  // The first step of a row decides whether the row begins. If the loop may exit there, each row has such a step.
  template <bool EMIT>
  LF_DEVICE lf_exit until_left(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    if (from >= to) return lf_nowhere();
    return each(p, launch, state, [&](u64 i, const typename L::Row &head, u64 first, u64 at, u32 k, bool is_end) {
      if (at == 0 && !L::enters(p, launch.first + i, state)) return LF_LEFT_BEFORE;
      if (!is_end) {
        return L::template element<L::LEVELS, EMIT, true>(p, launch, launch.first + i, head, head.lf_begin + at, near, k, state);
      }
      return L::template end<L::LEVELS, EMIT, true>(p, launch, launch.first + i, first, at, near, u32(i - places.first), state);
    });
  }
  // Calls `act` for each step, until one exits the loop.
  template <class Act>
  LF_DEVICE lf_exit each(const typename L::Params &p, const lf_launch &launch, typename L::State &state, const Act &act) const {
    u64 i = row, first = before(p, i), at = places.begin + from - i * L::ENDS - first;
    u32 stop = places.stop(i), k = from - u32(i - places.first) * L::ENDS;
    typename L::Row head = L::row(p, launch.first + i, first, state);
    if (at == 0) L::begin(head, state);
    LF_ROLLED
    for (u32 step = from;;) {
      const bool is_end = L::ENDS > 0 && step + 1 == stop;
      const u32 how = act(i, head, first, at, k, is_end);
      if (how != LF_GOES_ON) return lf_exit{places.begin + step, i, how};
      if (!is_end) {
        at += 1;
        k += 1;
      }
      step += 1;
      if (step == to) break;
      if (L::ENDS > 0 ? !is_end : step < stop) continue;
      do {
        i += 1;
        stop = places.next(i, stop);
      } while (L::ENDS == 0 && stop == step);
      first += at;
      at = 0;
      head = L::row(p, launch.first + i, first, state);
      L::begin(head, state);
    }
    return lf_nowhere();
  }
};

// Runs the steps of equally long rows in squares, so that caches hold neighbours in a column as well as in a row. A
// warp has neighbours of a row, long enough to compute row invariants once. If arrays are transposed, a square has as
// many rows as columns.
template <class L> LF_DEVICE void lf_in_squares(const typename L::Params &p, const lf_launch &launch, u64 length) {
  LF_SHARED_ARRAY(uint4, rooms, L::ROOM > 0 ? L::ROOM / 16 : 1);
  const u32 wide = L::ROOM > 0 ? LF_WARP : 4 * LF_WARP;
  const typename L::Near near = lf_turned_of<L>(p, reinterpret_cast<u8 *>(rooms));
  const u64 width = length + L::ENDS, rows = lf_quotient(launch.steps, width);
  const u64 across = (width + wide - 1) / wide, below = (rows + LF_WARP - 1) / LF_WARP;
  // The distance between a block's squares, computed without a division for each.
  const u64 jump = lf_quotient(gridDim.x, across), aside = gridDim.x - jump * across;
  u64 down = lf_quotient(blockIdx.x, across), side = blockIdx.x - down * across;
  const u32 lane = threadIdx.x % LF_WARP;
  while (down < below) {
    const u64 row = down * LF_WARP, from = side * wide;
    const u32 high = u32(lf_min(rows - row, u64(LF_WARP))), far = u32(lf_min(width - from, u64(wide)));
    const u32 count = from < length ? u32(lf_min(length - from, u64(wide))) : 0;
    lf_turn_in<L>(p, launch, lf_corner{row, from, high, count}, near);
    LF_ROLLED
    for (u32 k = threadIdx.x / LF_WARP; k < high; k += L::THREADS / LF_WARP) {
      const u64 i = row + k;
      const typename L::Row head = L::row(p, launch.first + i, i * length, typename L::State());
      for (u32 at = lane; at < far; at += LF_WARP) {
        typename L::State state = typename L::State();
        if (L::ENDS == 0 || at < count) {
          L::template element<0>(p, launch, launch.first + i, head, head.lf_begin + from + at, near, at * LF_LINE + k, state);
        } else if constexpr (L::ENDS > 0) {
          L::template end<0>(p, launch, launch.first + i, i * length, length, near, 0, state);
        }
      }
    }
    down += jump;
    side += aside;
    if (side >= across) {
      side -= across;
      down += 1;
    }
  }
}

// Runs independent steps: neighbours have neighbouring steps.
template <class L> LF_DEVICE void lf_apart(const typename L::Params &p, const lf_launch &launch) {
  if constexpr (L::UNIFORM) {
    const u64 length = L::length(p);
    if (length + L::ENDS >= LF_WARP) return lf_in_squares<L>(p, launch, length);
  }
  LF_SHARED_ARRAY(u64, rows, 2);
  const u64 all = lf_path_steps<L>(p, launch);
  lf_tiles_of_block<L> tiles = {(all + L::TILE - 1) / L::TILE, 0};
  for (u64 tile = tiles.next(launch); tile < tiles.tiles; tile = tiles.next(launch)) {
    const u64 begin = tile * L::TILE, left = all - begin;
    lf_places<L, L::UNIFORM>::find_rows(p, tile, all, rows);
    __syncthreads();
    const lf_places<L, L::UNIFORM> places(p, begin, left < L::TILE ? u32(left) : u32(L::TILE), rows);
    __syncthreads();
    for (u32 at = threadIdx.x; at < places.steps; at += L::THREADS) {
      const lf_share<L> share = {places, lf_turned_of<L>(p, nullptr), places.find(at), at, at + 1, nullptr};
      share.alone(p, launch);
    }
  }
}

// Runs equal numbers of steps in each thread, independent of row starts.
template <class L> LF_DEVICE void lf_along_path(const typename L::Params &p, const lf_launch &launch) {
  typedef lf_ahead<L> Ahead;
  LF_SHARED(Ahead, ahead);
  const u64 all = lf_path_steps<L>(p, launch), tiles = (all + L::TILE - 1) / L::TILE;
  if (all == 0) return;
  if (threadIdx.x == 0) {
    ahead.all = all;
    ahead.tiles = tiles;
    ahead.turn = 0;
  }
  if constexpr (L::LEAVES) {
    lf_tiles_of_block<L> block = {tiles, 0};
    for (u64 tile = block.next(launch); tile < tiles; tile = block.next(launch)) {
      lf_places<L, L::UNIFORM>::find_rows(p, tile, all, ahead.rows);
      __syncthreads();
      const u64 begin = tile * L::TILE, left = all - begin;
      const u32 steps = left < L::TILE ? u32(left) : u32(L::TILE), from = lf_min(threadIdx.x * L::ELEMENTS, steps);
      const lf_places<L, L::UNIFORM> places(p, begin, steps, ahead.rows);
      __syncthreads();
      const u32 to = lf_min(from + L::ELEMENTS, steps);
      const lf_share<L> share = {places, typename L::Near(), from < steps ? places.find(from) : 0, from, to, &ahead};
      lf_do<L>(p, launch, tile, block, share);
    }
    return;
  }
  ahead.wait(p, launch);
  for (u64 tile = ahead.tile; tile < tiles; tile = ahead.tile) {
    // The tile's rows are known, and no thread uses the buffers of the previous tile.
    __syncthreads();
    const u64 begin = tile * L::TILE, left = all - begin;
    const u32 steps = left < L::TILE ? u32(left) : u32(L::TILE), from = threadIdx.x * L::ELEMENTS;
    const u32 taken = Ahead::GOES ? ahead.take(launch) : 0;
    const lf_places<L, L::UNIFORM> places(p, begin, steps, ahead.rows);
    typename L::Near near;
    if constexpr (L::ROOM > 0) {
      const u64 first = L::begins(p, launch) + begin - places.first * L::ENDS;
      const u32 elements = places.elements();
      near = lf_bring_near<L>(p, first, first, elements);
      lf_end_near<L>(p, near, launch.first + places.first, steps - elements);
    } else {
      __syncthreads();
    }
    // The others see it after summing up.
    if (Ahead::GOES && threadIdx.x == 0) ahead.tile = taken;
    const u32 to = from + L::ELEMENTS < steps ? from + L::ELEMENTS : steps;
    const lf_share<L> share = {places, near, from < steps ? places.find(from) : 0, from, to, &ahead};
    typename L::State state = typename L::State();
    typedef lf_found<L, lf_share<L>, 0, (0 < L::LEVELS)> Found;
    if (Found::find(p, launch, tile, left <= L::TILE, share, state)) {
      share.template run<L::LEVELS>(p, launch, state);
      lf_take_out<L>(p, near);
      lf_take_ends_out<L>(p, near);
    }
    if (!Ahead::GOES) ahead.wait(p, launch);
  }
}
