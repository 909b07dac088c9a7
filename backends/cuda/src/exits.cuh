
// ---------------------------------------------------------------------------------------------------------------------
// Loops with early exits: steps after the exit have no effect. Until its position is known, they are summed up like
// earlier steps. This is safe, since no earlier step depends on them.

// The results of a step.
const u32 LF_GOES_ON = 0;
const u32 LF_LEFT_BEFORE = 1;  // the step is not begun
const u32 LF_LEFT_WITHIN = 2;  // the step does not complete

const u64 LF_NOWHERE = ~u64(0);

// The exit of a thread: its position in the launch, the iteration of the root, and the kind of exit.
struct lf_exit {
  u64 at, iteration;
  u32 how;
};
LF_DEVICE lf_exit lf_nowhere() { return lf_exit{LF_NOWHERE, LF_NOWHERE, LF_GOES_ON}; }

// The exits of threads, as a group after all others: the first position wins.
struct alignas(8) lf_place {
  u64 at;
};
template <class L> struct lf_leaving : lf_as_it_is<lf_place> {
  typedef lf_place Part;
  static LF_DEVICE Part start(const typename L::Params &) { return Part{LF_NOWHERE}; }
  static LF_DEVICE Part identity(const typename L::Params &) { return Part{LF_NOWHERE}; }
  static LF_DEVICE Part join(const typename L::Params &, const Part &a, const Part &b) { return Part{lf_min(a.at, b.at)}; }
  static LF_DEVICE void give(u64 *, const Part &) {}
};

// Stores the groups at the exit, level by level.
template <class L, u32 K, bool ANY> struct lf_left_with {
  static LF_DEVICE void give(const lf_launch &launch, typename L::State &state) {
    typedef typename L::template Level<K> Group;
    Group::give(launch.result, Group::of(state));
    lf_left_with<L, K + 1, (K + 1 < L::LEVELS)>::give(launch, state);
  }
};
template <class L, u32 K> struct lf_left_with<L, K, false> {
  static LF_DEVICE void give(const lf_launch &, typename L::State &) {}
};

// Runs a thread's work in a tile, up to the exit. The thread that exits, or has the last step, stores the groups and
// its position. A cell after those of the tiles tells other blocks of the exit. A tile that begins afterwards has no
// work, but still publishes its totals, since later tiles wait for these.
template <class L, class Work>
LF_DEVICE void lf_until_left(const typename L::Params &p, const lf_launch &launch, u64 tile, const lf_tiles_of_block<L> &tiles,
                             Work work) {
  typedef lf_leaving<L> Leaving;
  if (tiles.is_left) work.end();
  typename L::State state = typename L::State();
  lf_found<L, Work, 0, (0 < L::LEVELS)>::find(p, launch, tile, false, work, state);
  typename L::State trial = state;
  const typename Leaving::Part own = {work.template until_left<false>(p, launch, trial).at};
  const bool speaks = work.speaks();
  const u64 earlier =
      work.told(lf_before<Leaving, L>(p, launch, L::LEVELS, tile, false, work, speaks ? own : Leaving::identity(p))).at;
  if (earlier != LF_NOWHERE) work.end();
  const lf_exit exit = work.template until_left<true>(p, launch, state);
  if (!speaks || (exit.how == LF_GOES_ON && !work.has_last(launch))) return;
  lf_left_with<L, 0, (0 < L::LEVELS)>::give(launch, state);
  launch.result[L::WORDS] = exit.iteration;
  launch.result[L::WORDS + 1] = exit.how == LF_LEFT_WITHIN;
  lf_store_cell(launch.published[L::LEVELS].cells + tiles.tiles, 1, 2 * launch.number);
}

// Runs a step that accesses memory itself.
template <class L, bool EMIT, bool LEAVES>
LF_DEVICE u32 lf_step_of(const typename L::Params &p, const lf_launch &launch, u64 i, typename L::State &state) {
  typename L::Out out;
  return L::template step<EMIT, LEAVES>(p, launch, launch.first + i, typename L::In(), state, out, typename L::Kept());
}

// Consecutive steps.
template <class L> struct lf_span {
  u64 from, to;
  LF_DEVICE void meanwhile(const typename L::Params &) const {}
  LF_DEVICE bool speaks() const { return true; }
  template <class Part> LF_DEVICE Part told(const Part &before) const { return before; }
  LF_DEVICE void end() { to = from; }
  LF_DEVICE bool has_last(const lf_launch &launch) const { return from < to && to == launch.steps; }
  template <u32 K>
  LF_DEVICE void run(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    for (u64 i = from; i < to; ++i) lf_step_of<L, false, false>(p, launch, i, state);
  }
  template <bool EMIT>
  LF_DEVICE lf_exit until_left(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    for (u64 i = from; i < to; ++i) {
      const u32 how = lf_step_of<L, EMIT, true>(p, launch, i, state);
      if (how != LF_GOES_ON) return lf_exit{i, i, how};
    }
    return lf_nowhere();
  }
};

// As `lf_in_order`.
template <class L> LF_DEVICE void lf_steps_until_left(const typename L::Params &p, const lf_launch &launch) {
  lf_tiles_of_block<L> tiles = {(launch.steps + L::TILE - 1) / L::TILE, 0};
  for (u64 tile = tiles.next(launch); tile < tiles.tiles; tile = tiles.next(launch)) {
    const u64 begin = tile * L::TILE + u64(threadIdx.x) * L::ELEMENTS;
    lf_span<L> steps;
    steps.from = begin < launch.steps ? begin : launch.steps;
    steps.to = steps.from + L::ELEMENTS < launch.steps ? steps.from + L::ELEMENTS : launch.steps;
    lf_until_left<L>(p, launch, tile, tiles, steps);
  }
}
