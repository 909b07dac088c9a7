
// ---------------------------------------------------------------------------------------------------------------------
// Loops that may be left before their bound: what lies behind the step that leaves is as if it had never been. Until it is known
// where that is, all of it is summed up like what lies before, since nothing before hangs on it.

// What becomes of a step.
const u32 LF_GOES_ON = 0;
const u32 LF_LEFT_BEFORE = 1;  // it is not begun
const u32 LF_LEFT_WITHIN = 2;  // it is not done to its end

const u64 LF_NOWHERE = ~u64(0);

// Where threads leave, as a group behind all others: the first place counts.
struct alignas(8) lf_place {
  u64 at;
};
template <class L> struct lf_leaving : lf_as_it_is<lf_place> {
  typedef lf_place Part;
  static LF_DEVICE Part start(const typename L::Params &) { return Part{LF_NOWHERE}; }
  static LF_DEVICE Part identity(const typename L::Params &) { return Part{LF_NOWHERE}; }
  static LF_DEVICE Part join(const typename L::Params &, const Part &a, const Part &b) { return Part{lf_min(a.at, b.at)}; }
};

// What a group comes to before this thread's steps, of what each thread comes to.
template <class Group, class L>
LF_DEVICE typename Group::Part lf_before_thread(const typename L::Params &p, const lf_launch &launch, u32 level, u64 tile,
                                               typename Group::Part own) {
  typedef typename Group::Part Part;
  LF_SHARED_ARRAY(typename Group::Short, room, LF_WARP);
  LF_SHARED(Part, before);
  const lf_scanned<Part> scanned = lf_scan_block<Group, L::THREADS>(p, own, room);
  if (threadIdx.x < LF_WARP) {
    if (threadIdx.x == 0) lf_tell_own<Group>(launch.told[level], launch.number, tile, scanned.all);
    const Part found = lf_look_back<Group>(p, launch.told[level], launch.number, tile, LF_FIRST, scanned.all, Group::start(p));
    if (threadIdx.x == 0) before = found;
  }
  __syncthreads();
  return Group::join(p, before, scanned.before);
}

// A step, which reads and writes memory itself.
template <class L, bool EMIT, bool LEAVES>
LF_DEVICE u32 lf_step_of(const typename L::Params &p, const lf_launch &launch, u64 i, typename L::State &state) {
  typename L::Out out;
  return L::template step<EMIT, LEAVES>(p, launch, launch.first + i, typename L::In(), state, out, typename L::Kept());
}

// As in `lf_levels`: level by level, what groups are before a thread's first step; and what they are behind the last one.
template <class L, u32 K, bool ANY> struct lf_groups_before {
  typedef typename L::template Level<K> Group;
  static LF_DEVICE void find(const typename L::Params &p, const lf_launch &launch, u64 tile, u64 from, u64 to,
                             typename L::State &state) {
    typename L::State mine = state;
    Group::of(mine) = Group::identity(p);
    for (u64 i = from; i < to; ++i) lf_step_of<L, false, false>(p, launch, i, mine);
    Group::of(state) = lf_before_thread<Group, L>(p, launch, K, tile, Group::of(mine));
    lf_groups_before<L, K + 1, (K + 1 < L::LEVELS)>::find(p, launch, tile, from, to, state);
  }
  static LF_DEVICE void give(const lf_launch &launch, typename L::State &state) {
    Group::give(launch.result, Group::of(state));
    lf_groups_before<L, K + 1, (K + 1 < L::LEVELS)>::give(launch, state);
  }
};
template <class L, u32 K> struct lf_groups_before<L, K, false> {
  static LF_DEVICE void find(const typename L::Params &, const lf_launch &, u64, u64, u64, typename L::State &) {}
  static LF_DEVICE void give(const lf_launch &, typename L::State &) {}
};

// Whoever leaves, or has the last step, gives what groups are then, and where it left. A cell behind those of the tiles says to other
// blocks that it did.
template <class L> LF_DEVICE void lf_tile_until_left(const typename L::Params &p, const lf_launch &launch, u64 tile, u64 end) {
  typedef lf_leaving<L> Leaving;
  lf_cell *left = launch.told[L::LEVELS].cells + (launch.steps + L::TILE - 1) / L::TILE;
  const u64 begin = tile * L::TILE + u64(threadIdx.x) * L::ELEMENTS;
  const u64 from = begin < end ? begin : end;
  const u64 to = from + L::ELEMENTS < end ? from + L::ELEMENTS : end;
  typename L::State state = typename L::State();
  lf_groups_before<L, 0, (0 < L::LEVELS)>::find(p, launch, tile, from, to, state);
  typename Leaving::Part own = Leaving::identity(p);
  typename L::State trial = state;
  for (u64 i = from; i < to && own.at == LF_NOWHERE; ++i) {
    if (lf_step_of<L, false, true>(p, launch, i, trial) != LF_GOES_ON) own.at = i;
  }
  const u64 earlier = lf_before_thread<Leaving, L>(p, launch, L::LEVELS, tile, own).at;
  if (earlier != LF_NOWHERE) return;
  u32 how = LF_GOES_ON;
  u64 i = from;
  for (; i < to; ++i) {
    how = lf_step_of<L, true, true>(p, launch, i, state);
    if (how != LF_GOES_ON) break;
  }
  if (how == LF_GOES_ON && (from == to || to < launch.steps)) return;
  lf_groups_before<L, 0, (0 < L::LEVELS)>::give(launch, state);
  launch.result[L::WORDS] = how == LF_GOES_ON ? LF_NOWHERE : i;
  launch.result[L::WORDS + 1] = how == LF_LEFT_WITHIN;
  lf_store_cell(left, 1, 2 * launch.number);
}

// As `lf_in_order`. A tile that begins when the loop has been left has no elements: those behind it wait for its word.
template <class L> LF_DEVICE void lf_until_left(const typename L::Params &p, const lf_launch &launch) {
  LF_SHARED(u32, ticket);
  LF_SHARED(bool, is_left);
  const u64 tiles = (launch.steps + L::TILE - 1) / L::TILE;
  for (;;) {
    if (threadIdx.x == 0) {
      ticket = lf_take_ticket(launch.ticket, u32(tiles) + gridDim.x);
      is_left = lf_load_cell(launch.told[L::LEVELS].cells + tiles).tag == 2 * launch.number;
    }
    __syncthreads();
    const u64 tile = ticket;
    if (tile >= tiles) return;
    lf_tile_until_left<L>(p, launch, tile, is_left ? 0 : launch.steps);
    __syncthreads();
  }
}
