
// ---------------------------------------------------------------------------------------------------------------------
// Loops in loops

// What all tiles before this one, and the threads before this one in it, come to in a level of groups.
template <class L, u32 K>
LF_DEVICE typename L::template Level<K>::Part lf_before(const typename L::Params &p, const lf_launch &launch, u64 tile,
                                                        bool is_last, const typename L::template Level<K>::Part &own) {
  typedef typename L::template Level<K> Group;
  typedef typename Group::Part Part;
  LF_SHARED_ARRAY(Part, room, LF_WARP);
  LF_SHARED(Part, through);
  const lf_scanned<Group, typename L::Params> scanned = lf_scan_block<Group, L::THREADS>(p, own, room);
  if (threadIdx.x < LF_WARP) {
    const Part found = lf_look_back<Group>(p, launch.told[K], tile, scanned.all, Group::start(p));
    if (threadIdx.x == 0) through = found;
  }
  __syncthreads();
  const Part before = through;
  if (threadIdx.x == 0 && is_last) {
    const Part all = Group::join(p, before, scanned.all);
    memcpy(launch.result + Group::WORD, &all, sizeof all);
  }
  __syncthreads();
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
    Group::of(state) = lf_before<L, K>(p, launch, tile, is_last, Group::of(mine));
    lf_found<L, Work, K + 1, (K + 1 < L::LEVELS)>::find(p, launch, tile, is_last, work, state);
  }
};
template <class L, class Work, u32 K> struct lf_found<L, Work, K, false> {
  static LF_DEVICE void find(const typename L::Params &, const lf_launch &, u64, bool, const Work &, typename L::State &) {}
};

// A row of each thread, or none.
template <class L> struct lf_row {
  u64 at;
  bool is_there;
  template <u32 K>
  LF_DEVICE void run(const typename L::Params &p, const lf_launch &launch, typename L::State &state) const {
    if (is_there) L::template step<K>(p, launch, launch.first + at, state);
  }
};

// A thread runs an iteration of the root with all that is nested in it: where threads need not wait for each other, neighbours
// have neighbouring rows; else the rows of a tile are one after the other.
template <class L> LF_DEVICE void lf_row_by_row(const typename L::Params &p, const lf_launch &launch) {
  const u64 tile = L::LEVELS > 0 ? lf_next_tile(launch) : blockIdx.x;
  lf_row<L> row;
  row.at = tile * L::THREADS + threadIdx.x;
  row.is_there = row.at < launch.steps;
  typename L::State state = typename L::State();
  const bool is_last = (tile + 1) * L::THREADS >= launch.steps;
  lf_found<L, lf_row<L>, 0, (0 < L::LEVELS)>::find(p, launch, tile, is_last, row, state);
  row.template run<L::LEVELS>(p, launch, state);
}
