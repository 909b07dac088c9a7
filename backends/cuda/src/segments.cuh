
// ---------------------------------------------------------------------------------------------------------------------
// Loops in loops

// Rows that follow each other.
template <class L> struct lf_rows {
  u64 from, to;
  // Whether what a thread sums up counts, and what it has of what comes before.
  LF_DEVICE bool speaks() const { return true; }
  template <class Part> LF_DEVICE Part told(const Part &before) const { return before; }
  template <u32 K>
  LF_DEVICE void run(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    for (u64 i = from; i < to; ++i) L::template step<K>(p, launch, launch.first + i, state);
  }
  LF_DEVICE void end() { to = from; }
  LF_DEVICE bool has_last(const lf_launch &launch) const { return from < to && to == launch.steps; }
  template <bool EMIT>
  LF_DEVICE lf_exit until_left(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    for (u64 i = from; i < to; ++i) {
      const u32 how = L::template step<L::LEVELS, EMIT, true>(p, launch, launch.first + i, state);
      if (how != LF_GOES_ON) return lf_exit{i, i, how};
    }
    return lf_nowhere();
  }
};

// Whoever has work of a tile does it: to its end, or until the loop is left.
template <class L, class Work>
LF_DEVICE void lf_do(const typename L::Params &p, const lf_launch &launch, u64 tile, const lf_tiles_of_block<L> &tiles,
                     const Work &work) {
  if constexpr (L::LEAVES) {
    lf_until_left<L>(p, launch, tile, tiles, work);
  } else {
    typename L::State state = typename L::State();
    typedef lf_found<L, Work, 0, (0 < L::LEVELS)> Found;
    if (Found::find(p, launch, tile, tile + 1 == tiles.tiles, work, state)) work.template run<L::LEVELS>(p, launch, state);
  }
}

// A thread runs iterations of the root with all that is nested in them. Where nobody waits for others, tiles are those of the
// blocks.
template <class L> LF_DEVICE void lf_row_by_row(const typename L::Params &p, const lf_launch &launch) {
  lf_tiles_of_block<L> tiles = {(launch.steps + L::TILE - 1) / L::TILE, 0};
  for (u64 tile = tiles.next(launch); tile < tiles.tiles; tile = tiles.next(launch)) {
    const u64 begin = tile * L::TILE + u64(threadIdx.x) * L::ELEMENTS;
    lf_rows<L> rows;
    rows.from = begin < launch.steps ? begin : launch.steps;
    rows.to = rows.from + L::ELEMENTS < launch.steps ? rows.from + L::ELEMENTS : launch.steps;
    lf_do<L>(p, launch, tile, tiles, rows);
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
  // One thread speaks for all.
  LF_DEVICE bool speaks() const { return is_there && lane == 0; }
  template <class Part> LF_DEVICE Part told(const Part &before) const {
    return lf_from_first(before, threads);
  }
  template <u32 K>
  LF_DEVICE void run(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    L::template step<K>(p, launch, launch.first + at, lane, threads, is_there, state);
  }
  LF_DEVICE void end() { is_there = false; }
  LF_DEVICE bool has_last(const lf_launch &launch) const { return is_there && at + 1 == launch.steps; }
  template <bool EMIT>
  LF_DEVICE lf_exit until_left(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    const u32 how = L::template step<L::LEVELS, EMIT, true>(p, launch, launch.first + at, lane, threads, is_there, state);
    return how == LF_GOES_ON || !is_there ? lf_nowhere() : lf_exit{at, at, how};
  }
};

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
    lf_do<L>(p, launch, tile, tiles, team);
  }
}

// Most numbers have no more than 32 bits, in which a device divides several times as fast.
LF_DEVICE u64 lf_quotient(u64 x, u64 y) { return ((x | y) >> 32) == 0 ? u64(u32(x) / u32(y)) : x / y; }

// The first row, from `low` on and at most `high`, in which a step is: each has a step more than elements if it has an end.
LF_DEVICE u64 lf_find(const u64 *through, u64 ends, u64 step, u64 low, u64 high) {
  while (low < high) {
    const u64 middle = low + (high - low) / 2;
    if (through[middle] + (middle + 1) * ends > step) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Where the rows of a tile lie, whose steps are from `begin` to `end`: a number says it of those that are equally long.
template <class L, bool UNIFORM> struct lf_places {
  u64 length;
  LF_DEVICE lf_places(const typename L::Params &p, u64, u64) : length(L::length(p)) {}
  // The row of a step.
  LF_DEVICE u64 find(u64 step) const { return lf_quotient(step, length + L::ENDS); }
  // How many elements there are in the rows up to one, itself included.
  LF_DEVICE u64 through(u64 row) const { return (row + 1) * length; }
};

// Of others it is read once, and kept near. Where rows have an end, no more of them are in a tile than steps.
template <class L> struct lf_places<L, false> {
  const u64 *far;
  const u64 *near;
  u64 first, last;
  LF_DEVICE lf_places(const typename L::Params &p, u64 begin, u64 end) : far(L::places(p).at) {
    LF_SHARED_ARRAY(u64, rows, 2);
    LF_SHARED_ARRAY(u64, kept, L::ENDS > 0 ? L::TILE : 1);
    if (threadIdx.x < 2) {
      rows[threadIdx.x] = lf_find(far, L::ENDS, threadIdx.x == 0 ? begin : end - 1, 0, L::places(p).length - 1);
    }
    __syncthreads();
    first = rows[0];
    last = rows[1];
    near = kept;
    for (u64 k = threadIdx.x; L::ENDS > 0 && k <= last - first; k += L::THREADS) kept[k] = far[first + k];
    __syncthreads();
  }
  LF_DEVICE u64 find(u64 step) const {
    return L::ENDS > 0 ? first + lf_find(near, L::ENDS, step - first * L::ENDS, 0, last - first)
                       : lf_find(far, L::ENDS, step, first, last);
  }
  LF_DEVICE u64 through(u64 row) const { return L::ENDS > 0 && row >= first ? near[row - first] : far[row]; }
};

// Steps of a path that follow each other: elements of rows, and ends of rows.
template <class L> struct lf_share {
  lf_places<L, L::UNIFORM> places;
  u64 from, row;
  u32 count;
  // Whether what a thread sums up counts, and what it has of what comes before.
  LF_DEVICE bool speaks() const { return true; }
  template <class Part> LF_DEVICE Part told(const Part &before) const { return before; }
  LF_DEVICE void end() { count = 0; }
  LF_DEVICE bool has_last(const lf_launch &launch) const { return count > 0 && from + count == launch.steps; }
  template <u32 K>
  LF_DEVICE void run(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    each(p, launch, state, [&](u64 i, const typename L::Row &head, u64 before, u64 at, u64 length) {
      if (at < length) {
        L::template element<K>(p, launch, launch.first + i, head, head.lf_begin + at, state);
      } else if constexpr (L::ENDS > 0) {
        L::template end<K>(p, launch, launch.first + i, before, length, state);
      }
      return LF_GOES_ON;
    });
  }
  // The first step of a row says whether it begins at all: where the loop may be left there, each row has one.
  template <bool EMIT>
  LF_DEVICE lf_exit until_left(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    return each(p, launch, state, [&](u64 i, const typename L::Row &head, u64 before, u64 at, u64 length) {
      if (at == 0 && !L::enters(p, launch.first + i, state)) return LF_LEFT_BEFORE;
      if (at < length) {
        return L::template element<L::LEVELS, EMIT, true>(p, launch, launch.first + i, head, head.lf_begin + at, state);
      }
      return L::template end<L::LEVELS, EMIT, true>(p, launch, launch.first + i, before, length, state);
    });
  }
  // Calls `step` with each of them, until one leaves the loop.
  template <class Step>
  LF_DEVICE lf_exit each(const typename L::Params &p, const lf_launch &launch, typename L::State &state, const Step &step) const {
    if (count == 0) return lf_nowhere();
    u64 i = row, before = i > 0 ? places.through(i - 1) : 0;
    u64 at = from - before - i * L::ENDS, length = places.through(i) - before;
    typename L::Row head = L::row(p, launch.first + i, before, state);
    if (at == 0) L::begin(head, state);
    for (u32 left = count;;) {
      const u32 how = step(i, head, before, at, length);
      if (how != LF_GOES_ON) return lf_exit{from + (count - left), i, how};
      at += 1;
      left -= 1;
      if (left == 0) break;
      if (at < length + L::ENDS) continue;
      before += length;
      do {
        i += 1;
        length = places.through(i) - before;
      } while (length + L::ENDS == 0);
      at = 0;
      head = L::row(p, launch.first + i, before, state);
      L::begin(head, state);
    }
    return lf_nowhere();
  }
};

// A step of a row, where none needs to know of another.
template <class L>
LF_DEVICE void lf_step_apart(const typename L::Params &p, const lf_launch &launch, u64 i, u64 before, u64 at, u64 length) {
  typename L::State state = typename L::State();
  const typename L::Row head = L::row(p, launch.first + i, before, state);
  if (at < length) {
    L::template element<0>(p, launch, launch.first + i, head, head.lf_begin + at, state);
  } else if constexpr (L::ENDS > 0) {
    L::template end<0>(p, launch, launch.first + i, before, length, state);
  }
}

// Steps of equally long rows in squares: what is near in a column is in the caches for a block, as what is near in a row is. A
// warp has neighbours of a row.
template <class L> LF_DEVICE void lf_in_squares(const typename L::Params &p, const lf_launch &launch, u64 length) {
  const u64 width = length + L::ENDS, rows = lf_quotient(launch.steps, width);
  const u64 across = (width + LF_WARP - 1) / LF_WARP, squares = across * ((rows + LF_WARP - 1) / LF_WARP);
  for (u64 square = blockIdx.x; square < squares; square += gridDim.x) {
    const u64 down = lf_quotient(square, across), at = (square - down * across) * LF_WARP + threadIdx.x % LF_WARP;
    for (u32 k = threadIdx.x / LF_WARP; k < LF_WARP; k += L::THREADS / LF_WARP) {
      const u64 i = down * LF_WARP + k;
      if (i < rows && at < width) lf_step_apart<L>(p, launch, i, i * length, at, length);
    }
  }
}

// Where no step needs to know of another: neighbours have neighbouring steps.
template <class L> LF_DEVICE void lf_apart(const typename L::Params &p, const lf_launch &launch) {
  if constexpr (L::UNIFORM) {
    const u64 length = L::length(p);
    if (length + L::ENDS >= LF_WARP) return lf_in_squares<L>(p, launch, length);
  }
  lf_tiles_of_block<L> tiles = {(launch.steps + L::TILE - 1) / L::TILE, 0};
  for (u64 tile = tiles.next(launch); tile < tiles.tiles; tile = tiles.next(launch)) {
    const u64 begin = tile * L::TILE, end = begin + L::TILE < launch.steps ? begin + L::TILE : launch.steps;
    const lf_places<L, L::UNIFORM> places(p, begin, end);
    for (u64 step = begin + threadIdx.x; step < end; step += L::THREADS) {
      const u64 i = places.find(step), before = i > 0 ? places.through(i - 1) : 0;
      lf_step_apart<L>(p, launch, i, before, step - before - i * L::ENDS, places.through(i) - before);
    }
  }
}

// Threads have equal numbers of steps, wherever rows begin.
template <class L> LF_DEVICE void lf_along_path(const typename L::Params &p, const lf_launch &launch) {
  lf_tiles_of_block<L> tiles = {(launch.steps + L::TILE - 1) / L::TILE, 0};
  for (u64 tile = tiles.next(launch); tile < tiles.tiles; tile = tiles.next(launch)) {
    const u64 begin = tile * L::TILE, end = begin + L::TILE < launch.steps ? begin + L::TILE : launch.steps;
    const u64 from = begin + threadIdx.x * L::ELEMENTS;
    const u32 count = from >= end ? 0 : end - from < L::ELEMENTS ? u32(end - from) : L::ELEMENTS;
    const lf_places<L, L::UNIFORM> places(p, begin, end);
    const lf_share<L> share = {places, from, count > 0 ? places.find(from) : 0, count};
    lf_do<L>(p, launch, tile, tiles, share);
  }
}
