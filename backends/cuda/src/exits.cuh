
// ---------------------------------------------------------------------------------------------------------------------
// Loops that may be left before their bound: what lies behind the step that leaves is as if it had never been. Until it is known
// where that is, all of it is summed up like what lies before, since nothing before hangs on it.

// What becomes of a step.
const u32 LF_GOES_ON = 0;
const u32 LF_LEFT_BEFORE = 1;  // it is not begun
const u32 LF_LEFT_WITHIN = 2;  // it is not done to its end

const u64 LF_NOWHERE = ~u64(0);

// Where threads leave, as a group behind all others: the first place counts.
template <class L> struct lf_leaving {
  struct Part {
    u64 at;
  };
  static LF_DEVICE Part start(const typename L::Params &) { return Part{LF_NOWHERE}; }
  static LF_DEVICE Part identity(const typename L::Params &) { return Part{LF_NOWHERE}; }
  static LF_DEVICE Part join(const typename L::Params &, const Part &a, const Part &b) { return Part{lf_min(a.at, b.at)}; }
};

template <class L, u32 K, bool ANY> struct lf_given {
  static LF_DEVICE void give(const lf_launch &launch, typename L::State &state) {
    typedef typename L::template Level<K> Group;
    memcpy(launch.result + Group::WORD, &Group::of(state), sizeof(typename Group::Part));
    lf_given<L, K + 1, (K + 1 < L::LEVELS)>::give(launch, state);
  }
};
template <class L, u32 K> struct lf_given<L, K, false> {
  static LF_DEVICE void give(const lf_launch &, typename L::State &) {}
};

// Behind the words of the groups: where it was left, whether within that step, and whether it is known that it is left.
template <class L> LF_DEVICE bool lf_is_left(const lf_launch &launch) {
  LF_SHARED(bool, is_left);
  if (threadIdx.x == 0) is_left = lf_load_relaxed(launch.result + L::WORDS + 2) != 0;
  __syncthreads();
  return is_left;
}

// As `lf_in_order`. A tile that begins when the loop has been left has no elements: those behind it wait for its word.
template <class L> LF_DEVICE void lf_until_left(const typename L::Params &p, const lf_launch &launch) {
  typedef lf_leaving<L> Leaving;
  typedef typename Leaving::Part Part;
  const u64 tile = lf_next_tile(launch);
  const u64 end = lf_is_left<L>(launch) ? 0 : launch.steps;
  const u64 begin = tile * L::TILE + u64(threadIdx.x) * L::ELEMENTS;
  const u64 from = begin < end ? begin : end;
  const u64 to = from + L::ELEMENTS < end ? from + L::ELEMENTS : end;
  typename L::State state = typename L::State();
  // What all tiles come to is of no interest.
  lf_launch endless = launch;
  endless.steps = LF_NOWHERE;
  lf_levels<L, 0, (0 < L::LEVELS)>::find(p, endless, tile, from, to, state);
  Part own = Leaving::identity(p);
  typename L::State trial = state;
  for (u64 i = from; i < to && own.at == LF_NOWHERE; ++i) {
    if (L::template step<false, true>(p, launch, launch.first + i, trial) != LF_GOES_ON) own.at = i;
  }
  LF_SHARED_ARRAY(Part, room, LF_WARP);
  LF_SHARED(Part, before);
  const lf_scanned<Leaving, typename L::Params> scanned = lf_scan_block<Leaving, L::THREADS>(p, own, room);
  if (threadIdx.x < LF_WARP) {
    const Part found = lf_look_back<Leaving>(p, launch.told[L::LEVELS], tile, scanned.all, Leaving::start(p));
    if (threadIdx.x == 0) before = found;
  }
  __syncthreads();
  if (Leaving::join(p, before, scanned.before).at != LF_NOWHERE) return;
  u32 left = LF_GOES_ON;
  u64 i = from;
  for (; i < to; ++i) {
    left = L::template step<true, true>(p, launch, launch.first + i, state);
    if (left != LF_GOES_ON) break;
  }
  if (left == LF_GOES_ON && (from == to || to < launch.steps)) return;
  lf_given<L, 0, (0 < L::LEVELS)>::give(launch, state);
  launch.result[L::WORDS] = left == LF_GOES_ON ? LF_NOWHERE : i;
  launch.result[L::WORDS + 1] = left == LF_LEFT_WITHIN;
  lf_store_relaxed(launch.result + L::WORDS + 2, 1);
}
