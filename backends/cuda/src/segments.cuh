
// ---------------------------------------------------------------------------------------------------------------------
// Loops in loops

// Consecutive rows.
template <class L> struct lf_rows {
  u64 begin, from, to;  // the tile's first row, and a thread's rows
  typename L::Near near;
  // Every thread's total counts, and each has its own prefix.
  LF_DEVICE void meanwhile(const typename L::Params &) const {}
  LF_DEVICE bool speaks() const { return true; }
  template <class Part> LF_DEVICE Part told(const Part &before) const { return before; }
  template <u32 K>
  LF_DEVICE void run(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    for (u64 i = from; i < to; ++i) L::template step<K>(p, launch, launch.first + i, near, u32(i - begin), state);
  }
  LF_DEVICE void end() { to = from; }
  LF_DEVICE bool has_last(const lf_launch &launch) const { return from < to && to == launch.steps; }
  template <bool EMIT>
  LF_DEVICE lf_exit until_left(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    for (u64 i = from; i < to; ++i) {
      const u32 how = L::template step<L::LEVELS, EMIT, true>(p, launch, launch.first + i, near, u32(i - begin), state);
      if (how != LF_GOES_ON) return lf_exit{i, i, how};
    }
    return lf_nowhere();
  }
};

// Runs the tile's work to its end or up to an exit. Returns whether it ran: a pass may only sum it up.
template <class L, class Work>
LF_DEVICE bool lf_do(const typename L::Params &p, const lf_launch &launch, u64 tile, const lf_tiles_of_block<L> &tiles,
                     const Work &work) {
  if constexpr (L::LEAVES) {
    lf_until_left<L>(p, launch, tile, tiles, work);
    return true;
  } else {
    typename L::State state = typename L::State();
    typedef lf_found<L, Work, 0, (0 < L::LEVELS)> Found;
    const bool is_known = Found::find(p, launch, tile, tile + 1 == tiles.tiles, work, state);
    if (is_known) work.template run<L::LEVELS>(p, launch, state);
    return is_known;
  }
}

// Runs iterations of the root, with all nested loops, one thread each. If no tile waits for others, the block number
// decides its tiles.
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
    if (lf_do<L>(p, launch, tile, tiles, rows)) lf_take_out<L>(p, rows.near);
  }
}

// Returns a value of the team's first thread to all of the team. A team is a power of two of neighbours in a warp, or
// whole warps. In that case all threads of the block must call it.
template <class T> LF_DEVICE T lf_from_first(const T &x, u32 team) {
  if (team <= LF_WARP) return lf_from_lane(x, threadIdx.x % LF_WARP / team * team);
  LF_SHARED_ARRAY(T, firsts, LF_WARP);
  if (threadIdx.x % team == 0) firsts[threadIdx.x / team] = x;
  __syncthreads();
  const T first = firsts[threadIdx.x / team];
  __syncthreads();
  return first;
}

// Joins the folds of a team's threads, from the first to the last.
template <class Fold, class Params> LF_DEVICE Fold lf_of_team(const Params &p, Fold own, u32 team) {
  const u32 lane = threadIdx.x % LF_WARP, part = team < LF_WARP ? team : LF_WARP;
  for (u32 reach = 1; reach < part; reach *= 2) {
    const bool joins = lane % (2 * reach) == 0;
    const Fold other = lf_from_lane(own, joins ? lane + reach : lane);
    if (joins) own = Fold::join(p, own, other);
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

// Runs a thread's iterations of a team's pass over a row. Four at a time, if memory latency dominates, so that their
// reads overlap.
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

// Does the same with a consecutive piece of the row for each thread, so that results are joined from left to right.
template <class Turn>
LF_DEVICE void lf_turns_in_order(u64 begin, u64 end, u32 lane, u32 team, const bool &goes_on, const Turn &turn) {
  const u64 count = end - begin, size = count / team + (count % team != 0);
  const u64 first = size * lane < count ? size * lane : count;
  const u64 last = size < count - first ? first + size : count;
  for (u64 i = begin + first; goes_on && i < begin + last; ++i) turn(i);
}

// The row of a team.
template <class L> struct lf_team {
  u64 at;
  u32 threads, lane;
  bool is_there;
  typename L::Near near;
  // One thread counts for the team.
  LF_DEVICE void meanwhile(const typename L::Params &) const {}
  LF_DEVICE bool speaks() const { return is_there && lane == 0; }
  template <class Part> LF_DEVICE Part told(const Part &before) const {
    return lf_from_first(before, threads);
  }
  template <u32 K>
  LF_DEVICE void run(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    L::template step<K>(p, launch, launch.first + at, lane, threads, is_there, near, state);
  }
  LF_DEVICE void end() { is_there = false; }
  LF_DEVICE bool has_last(const lf_launch &launch) const { return is_there && at + 1 == launch.steps; }
  template <bool EMIT>
  LF_DEVICE lf_exit until_left(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    const u32 how = L::template step<L::LEVELS, EMIT, true>(p, launch, launch.first + at, lane, threads, is_there, near, state);
    return how == LF_GOES_ON || !is_there ? lf_nowhere() : lf_exit{at, at, how};
  }
};

// Stages the rows of a tile. The threads of a warp have contiguous elements, which need no buffer.
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

// Runs an iteration of the root, with all nested loops, by a team. Teams without a row run it, too, but without
// effects: all threads of a block must take part in its communication.
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
    lf_do<L>(p, launch, tile, tiles, team);
  }
}
