
// ---------------------------------------------------------------------------------------------------------------------
// Loops in loops

// The tiles of a block, one by one: they begin in the order of tickets, where they wait for those before them. Whoever asks for the
// next one is done with what the block shares.
template <class L> struct lf_tiles_of_block {
  u64 tiles, turn;
  LF_DEVICE u64 next(const lf_launch &launch) {
    LF_SHARED(u32, ticket);
    __syncthreads();
    if (L::LEVELS == 0) return blockIdx.x + turn++ * gridDim.x;
    if (threadIdx.x == 0) ticket = lf_take_ticket(launch.ticket, u32(tiles) + gridDim.x);
    __syncthreads();
    return ticket;
  }
};

// What all tiles before this one, and the threads before this one in it, come to in a level of groups. One warp looks back; the
// others have something to do meanwhile, or not.
template <class L, u32 K, class Work>
LF_DEVICE typename L::template Level<K>::Part lf_before(const typename L::Params &p, const lf_launch &launch, u64 tile,
                                                        bool is_last, const Work &work,
                                                        const typename L::template Level<K>::Part &own) {
  typedef typename L::template Level<K> Group;
  typedef typename Group::Part Part;
  LF_SHARED_ARRAY(typename Group::Short, room, LF_WARP);
  LF_SHARED(Part, through);
  const lf_scanned<Part> scanned = lf_scan_block<Group, L::THREADS>(p, own, room);
  if (threadIdx.x < LF_WARP) {
    if (threadIdx.x == 0) lf_tell_own<Group>(launch.told[K], launch.number, tile, scanned.all);
    const u32 pause = K == 0 ? LF_FIRST : 0;
    const Part found = lf_look_back<Group>(p, launch.told[K], launch.number, tile, pause, scanned.all, Group::start(p));
    if (threadIdx.x == 0) through = found;
  } else {
    work.meanwhile(p);
  }
  __syncthreads();
  const Part before = through;
  if (threadIdx.x == 0 && is_last) Group::give(launch.result, Group::join(p, before, scanned.all));
  return Group::join(p, before, scanned.before);
}

// The groups of a level, and of those above it. `work` is what a thread has of a tile: it is summed up for each level, with
// what is known from the levels below.
template <class L, class Work, u32 K, bool ANY> struct lf_found {
  static LF_DEVICE void find(const typename L::Params &p, const lf_launch &launch, u64 tile, bool is_last,
                             const Work &work, typename L::State &state) {
    typedef typename L::template Level<K> Group;
    typename L::State mine = state;
    Group::of(mine) = Group::identity(p);
    work.template run<K>(p, launch, mine);
    typedef typename Group::Part Part;
    const Part own = work.speaks() ? Group::of(mine) : Group::identity(p);
    const Part before = lf_before<L, K>(p, launch, tile, is_last, work, own);
    Group::of(state) = work.told(before);
    lf_found<L, Work, K + 1, (K + 1 < L::LEVELS)>::find(p, launch, tile, is_last, work, state);
  }
};
template <class L, class Work, u32 K> struct lf_found<L, Work, K, false> {
  static LF_DEVICE void find(const typename L::Params &, const lf_launch &, u64, bool, const Work &, typename L::State &) {}
};

// Rows that follow each other.
template <class L> struct lf_rows {
  u64 begin, from, to;  // the tile's first one, and a thread's
  typename L::Near near;
  // Whether what a thread sums up counts, and what it has of what comes before.
  LF_DEVICE void meanwhile(const typename L::Params &) const {}
  LF_DEVICE bool speaks() const { return true; }
  template <class Part> LF_DEVICE Part told(const Part &before) const { return before; }
  template <u32 K>
  LF_DEVICE void run(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    for (u64 i = from; i < to; ++i) L::template step<K>(p, launch, launch.first + i, near, u32(i - begin), state);
  }
};

// A thread runs iterations of the root with all that is nested in them. Where nobody waits for others, tiles are those of the
// blocks.
template <class L> LF_DEVICE void lf_row_by_row(const typename L::Params &p, const lf_launch &launch) {
  lf_tiles_of_block<L> tiles = {(launch.steps + L::TILE - 1) / L::TILE, 0};
  for (u64 tile = tiles.next(launch); tile < tiles.tiles; tile = tiles.next(launch)) {
    lf_rows<L> rows;
    rows.begin = tile * L::TILE;
    if constexpr (L::ROOM > 0) {
      const u64 left = launch.steps - rows.begin;
      const u32 count = left < L::TILE ? u32(left) : u32(L::TILE);
      rows.near = lf_bring_near<L>(p, launch.first + rows.begin, rows.begin, count);
    }
    const u64 from = rows.begin + u64(threadIdx.x) * L::ELEMENTS;
    rows.from = from < launch.steps ? from : launch.steps;
    rows.to = rows.from + L::ELEMENTS < launch.steps ? rows.from + L::ELEMENTS : launch.steps;
    typename L::State state = typename L::State();
    lf_found<L, lf_rows<L>, 0, (0 < L::LEVELS)>::find(p, launch, tile, tile + 1 == tiles.tiles, rows, state);
    rows.template run<L::LEVELS>(p, launch, state);
    lf_take_out<L>(p, rows.near);
  }
}

// What a team's first thread has, for all of it. A team is a power of two of neighbours in a warp, or whole warps: then all of
// the block come here.
template <class T> LF_DEVICE T lf_from_first(const T &x, u32 team) {
  if (team <= LF_WARP) return lf_from_lane(x, threadIdx.x % LF_WARP / team * team);
  LF_SHARED_ARRAY(T, firsts, LF_WARP);
  if (threadIdx.x % team == 0) firsts[threadIdx.x / team] = x;
  __syncthreads();
  const T first = firsts[threadIdx.x / team];
  __syncthreads();
  return first;
}

// What the threads of a team come to, in any order.
template <class Fold, class Params> LF_DEVICE Fold lf_of_team(const Params &p, Fold own, u32 team) {
  const u32 lane = threadIdx.x % LF_WARP, part = team < LF_WARP ? team : LF_WARP;
  for (u32 reach = part / 2; reach > 0; reach /= 2) {
    const Fold other = lf_from_lane(own, lane % part < reach ? lane + reach : lane);
    if (lane % part < reach) own = Fold::join(p, own, other);
  }
  if (team > LF_WARP) {
    LF_SHARED_ARRAY(Fold, warps, LF_WARP);
    const u32 warp = threadIdx.x / LF_WARP, count = team / LF_WARP;
    if (lane == 0) warps[warp] = own;
    __syncthreads();
    for (u32 k = 1; warp % count == 0 && k < count; ++k) own = Fold::join(p, own, warps[warp + k]);
    __syncthreads();
  }
  return lf_from_first(own, team);
}

// The turns of a pass over a row, those of a team's thread. As long as there are several, their reads need not wait for each
// other, where that is what there is to wait for.
template <bool LIGHT, class Turn>
LF_DEVICE void lf_turns(u64 begin, u64 end, u32 lane, u32 team, const bool &goes_on, const Turn &turn) {
  u64 left = end - begin > lane ? (end - begin - lane + team - 1) / team : 0, i = begin + lane;
  for (; LIGHT && goes_on && left >= 4; left -= 4, i += 4 * u64(team)) {
    turn(i);
    turn(i + team);
    turn(i + 2 * u64(team));
    turn(i + 3 * u64(team));
  }
  for (; goes_on && left > 0; --left, i += team) turn(i);
}

// The row of a team.
template <class L> struct lf_team {
  u64 at;
  u32 threads, lane;
  bool is_there;
  typename L::Near near;
  // One thread speaks for all.
  LF_DEVICE void meanwhile(const typename L::Params &) const {}
  LF_DEVICE bool speaks() const { return is_there && lane == 0; }
  template <class Part> LF_DEVICE Part told(const Part &before) const {
    return lf_from_first(before, threads);
  }
  template <u32 K>
  LF_DEVICE void run(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    L::template step<K>(p, launch, launch.first + at, lane, threads, is_there, near, state);
  }
};

// What is near of the rows of a tile. The threads of a warp have elements side by side, and need no room.
template <class L>
LF_DEVICE typename L::Near lf_near_rows(const typename L::Params &p, const lf_launch &launch, u64 from, u64 teams, u32 team) {
  if constexpr (L::ROOM == 0) {
    return typename L::Near();
  } else {
    const u64 length = L::length(p), left = launch.steps - from, rows = left < teams ? left : teams;
    const bool fits = team < LF_WARP && length <= L::PLACES && rows * length <= L::PLACES;
    const u64 first = L::begins(p, launch) + from * length;
    return lf_bring_near<L>(p, first, first, fits ? u32(rows * length) : 0);
  }
}

// A team runs an iteration of the root with all that is nested in it. Teams without a row do, too, but for what that does:
// whoever is in a block takes part in what it exchanges.
template <class L> LF_DEVICE void lf_by_teams(const typename L::Params &p, const lf_launch &launch) {
  lf_team<L> team;
  team.threads = u32(p.lf_team);
  team.lane = threadIdx.x % team.threads;
  const u64 teams = L::THREADS / team.threads;
  lf_tiles_of_block<L> tiles = {(launch.steps + teams - 1) / teams, 0};
  for (u64 tile = tiles.next(launch); tile < tiles.tiles; tile = tiles.next(launch)) {
    team.at = tile * teams + threadIdx.x / team.threads;
    team.is_there = team.at < launch.steps;
    team.near = lf_near_rows<L>(p, launch, tile * teams, teams, team.threads);
    typename L::State state = typename L::State();
    lf_found<L, lf_team<L>, 0, (0 < L::LEVELS)>::find(p, launch, tile, tile + 1 == tiles.tiles, team, state);
    team.template run<L::LEVELS>(p, launch, state);
  }
}

// Most numbers have no more than 32 bits, in which a device divides several times as fast.
LF_DEVICE u64 lf_quotient(u64 x, u64 y) { return ((x | y) >> 32) == 0 ? u64(u32(x) / u32(y)) : x / y; }

// The first row in which a step is, of so many rows: each has a step more than elements if it has an end. A whole warp calls it.
// Each time it is left with a part of the rows, and a look at memory takes much longer than all else.
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

// Steps of a path that follow each other, those of a tile, and where its rows lie: a number says it of those that are equally long.
template <class L, bool UNIFORM> struct lf_places {
  u64 begin, first, length;  // the first step, its row, how many elements each row has
  u32 steps;
  LF_DEVICE lf_places(const typename L::Params &p, u64 begin, u32 steps, const u64 *)
      : begin(begin), first(0), length(L::length(p)), steps(steps) {
    first = lf_quotient(begin, length + L::ENDS);
  }
  static LF_DEVICE void find_rows(const typename L::Params &, u64, u64, u64 *) {}
  // The row of a step of the tile.
  LF_DEVICE u64 find(u32 at) const { return lf_quotient(begin + at, length + L::ENDS); }
  // The step of the tile that is behind a row; it has one more than it has steps where the row goes on behind it.
  LF_DEVICE u32 stop(u64 row) const { return u32(lf_min((row + 1) * (length + L::ENDS) - begin, u64(steps) + 1)); }
  // That of the row behind the one whose step is known.
  LF_DEVICE u32 next(u64, u32 stop) const { return u32(lf_min(stop + length + L::ENDS, u64(steps) + 1)); }
  // How many of its steps are elements.
  LF_DEVICE u32 elements() const {
    const u64 behind = find(steps - 1);
    return steps - u32(behind - first) * L::ENDS - (stop(behind) == steps ? L::ENDS : 0);
  }
};

// Of others it is read once, and kept near. Where rows have an end, no more of them are in a tile than steps.
template <class L> struct lf_places<L, false> {
  const u64 *far;
  u64 begin, first, behind;
  u16 *stops;
  u32 steps;
  // The rows of its first and last step are known; the others see where they lie behind a barrier.
  LF_DEVICE lf_places(const typename L::Params &p, u64 begin, u32 steps, const u64 *rows)
      : far(L::places(p).at), begin(begin), first(rows[0]), behind(rows[1]), steps(steps) {
    LF_SHARED_ARRAY(u16, kept, L::ENDS > 0 ? L::TILE : 1);
    stops = kept;
    for (u32 k = threadIdx.x; L::ENDS > 0 && k <= behind - first; k += L::THREADS) kept[k] = u16(far_stop(first + k));
  }
  // Finds these rows: two warps do, beside the first one if there are as many.
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

// How many steps a path has. Where rows are not equally long, the kernel before has found out, and the launch says how many there
// may be: if that was wrong, or something trapped, there is nothing to do.
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

// The tile that a block has next, and the rows of its first and its last step. A ticket takes a while to come, and rows take longer
// to be found: where there is one level, that goes on while the tile before it does. With more of them, a tile that is taken ahead
// would keep all others waiting.
template <class L> struct lf_ahead {
  static const bool GOES = L::LEVELS == 1 && L::THREADS > 2 * LF_WARP;
  u64 all, tiles;  // steps, and tiles
  u64 tile;
  u64 rows[2];
  LF_DEVICE u32 take(const lf_launch &launch) const {
    // Each block takes one more than it has tiles.
    return threadIdx.x == 0 ? lf_take_ticket(launch.ticket, u32(tiles) + gridDim.x) : 0;
  }
  LF_DEVICE void find_rows(const typename L::Params &p) {
    if (tile < tiles) lf_places<L, L::UNIFORM>::find_rows(p, tile, all, rows);
  }
  // Takes the next one, and waits for it.
  LF_DEVICE void wait(const typename L::Params &p, const lf_launch &launch) {
    __syncthreads();
    const u32 taken = take(launch);
    if (threadIdx.x == 0) tile = taken;
    __syncthreads();
    find_rows(p);
  }
};

// Steps of a tile that follow each other, a thread's: elements of rows, and ends of rows.
template <class L> struct lf_share {
  lf_places<L, L::UNIFORM> places;
  typename L::Near near;
  u64 row;
  u32 from, to;
  lf_ahead<L> *ahead;
  // Whether what a thread sums up counts, and what it has of what comes before.
  LF_DEVICE bool speaks() const { return true; }
  template <class Part> LF_DEVICE Part told(const Part &before) const { return before; }
  LF_DEVICE void meanwhile(const typename L::Params &p) const {
    if (lf_ahead<L>::GOES) ahead->find_rows(p);
  }
  // How many elements there are before a row, of which a step is in the tile.
  LF_DEVICE u64 before(const typename L::Params &p, u64 i) const {
    if (i > places.first) return places.begin + places.stop(i - 1) - i * L::ENDS;
    if constexpr (L::UNIFORM) {
      return i * places.length;
    } else {
      return i > 0 ? lf_load_constant(places.far + i - 1) : 0;
    }
  }
  // The first of them, where none needs to know of another.
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
    u64 i = row, first = before(p, i), at = places.begin + from - i * L::ENDS - first;
    u32 stop = places.stop(i), k = from - u32(i - places.first) * L::ENDS;
    // Where no row ends among them, nothing comes of elements that only fold.
    const bool is_within = stop >= to + L::ENDS;
    if (K == L::LEVELS && is_within && !L::ACTS) return;
    typename L::Row head = L::row(p, launch.first + i, first, state);
    if (at == 0) L::begin(head, state);
    if (L::LIGHT && is_within) {
      LF_BY_SEVEN
      for (u32 e = 0; e < to - from; ++e) {
        L::template element<K>(p, launch, launch.first + i, head, head.lf_begin + at + e, near, k + e, state);
      }
      return;
    }
    LF_ROLLED
    for (u32 step = from;;) {
      const bool is_end = L::ENDS > 0 && step + 1 == stop;
      if constexpr (L::ENDS > 0) {
        if (is_end) L::template end<K>(p, launch, launch.first + i, first, at, near, u32(i - places.first), state);
      }
      if (!is_end) {
        L::template element<K>(p, launch, launch.first + i, head, head.lf_begin + at, near, k, state);
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
  }
};

// Steps of equally long rows in squares: what is near in a column is in the caches for a block, as what is near in a row is. A
// warp has neighbours of a row, and so much of it that what is the same for all of a row is worth computing; where arrays are turned
// around, a square has as many rows as columns.
template <class L> LF_DEVICE void lf_in_squares(const typename L::Params &p, const lf_launch &launch, u64 length) {
  LF_SHARED_ARRAY(uint4, rooms, L::ROOM > 0 ? L::ROOM / 16 : 1);
  const u32 wide = L::ROOM > 0 ? LF_WARP : 4 * LF_WARP;
  const typename L::Near near = lf_turned_of<L>(p, reinterpret_cast<u8 *>(rooms));
  const u64 width = length + L::ENDS, rows = lf_quotient(launch.steps, width);
  const u64 across = (width + wide - 1) / wide, below = (rows + LF_WARP - 1) / LF_WARP;
  // From one square of a block to its next one, without a division for each.
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

// Where no step needs to know of another: neighbours have neighbouring steps.
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

// Threads have equal numbers of steps, wherever rows begin.
template <class L> LF_DEVICE void lf_along_path(const typename L::Params &p, const lf_launch &launch) {
  typedef lf_ahead<L> Ahead;
  LF_SHARED(Ahead, ahead);
  const u64 all = lf_path_steps<L>(p, launch), tiles = (all + L::TILE - 1) / L::TILE;
  if (all == 0) return;
  if (threadIdx.x == 0) {
    ahead.all = all;
    ahead.tiles = tiles;
  }
  ahead.wait(p, launch);
  for (u64 tile = ahead.tile; tile < tiles; tile = ahead.tile) {
    // The tile's rows are there, and nobody has the rooms of the one before it.
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
    // The others see it when they have summed up.
    if (Ahead::GOES && threadIdx.x == 0) ahead.tile = taken;
    const u32 to = from + L::ELEMENTS < steps ? from + L::ELEMENTS : steps;
    const lf_share<L> share = {places, near, from < steps ? places.find(from) : 0, from, to, &ahead};
    typename L::State state = typename L::State();
    lf_found<L, lf_share<L>, 0, (0 < L::LEVELS)>::find(p, launch, tile, left <= L::TILE, share, state);
    share.template run<L::LEVELS>(p, launch, state);
    lf_take_out<L>(p, near);
    lf_take_ends_out<L>(p, near);
    if (!Ahead::GOES) ahead.wait(p, launch);
  }
}
