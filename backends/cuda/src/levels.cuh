
// ---------------------------------------------------------------------------------------------------------------------
// The prefix of a thread's work, level by level of the groups, and the tiles of blocks

// The tiles of a block, one by one. They begin in the order of tickets if they wait for earlier ones, and are
// consecutive in passes. A thread that requests the next tile no longer uses shared memory.
template <class L> struct lf_tiles_of_block {
  u64 tiles, turn;
  // Whether the loop had exited when the last tile began.
  bool is_left;
  LF_DEVICE u64 next(const lf_launch &launch) {
    LF_SHARED(u32, ticket);
    LF_SHARED(bool, left);
    __syncthreads();
    if (L::LEVELS == 0 && !L::LEAVES) return blockIdx.x + turn++ * gridDim.x;
    if (L::PASSES) {
      const u64 each = (tiles + gridDim.x - 1) / gridDim.x;
      return turn < each ? blockIdx.x * each + turn++ : tiles;
    }
    if (threadIdx.x == 0) {
      ticket = lf_take_ticket(launch.ticket, u32(tiles) + gridDim.x);
      if (L::LEAVES) left = lf_load_cell(launch.published[L::LEVELS].cells + tiles).tag == 2 * launch.number;
    }
    __syncthreads();
    is_left = L::LEAVES && left;
    return ticket;
  }
};

// Returns the total of all earlier tiles, and of the earlier threads in this one, in a group. One warp looks back. The
// others may do other work meanwhile.
template <class Group, class L, class Work>
LF_DEVICE typename Group::Part lf_before(const typename L::Params &p, const lf_launch &launch, u32 level, u64 tile, bool is_last,
                                         const Work &work, const typename Group::Part &own) {
  typedef typename Group::Part Part;
  if constexpr (L::PASSES) {
    return lf_pass_on<Group, L::THREADS>(p, launch, level, own);
  } else {
    LF_SHARED_ARRAY(typename Group::Short, room, LF_WARP);
    LF_SHARED(Part, through);
    const lf_scanned<Part> scanned = lf_scan_block<Group, L::THREADS>(p, own, room);
    if (threadIdx.x < LF_WARP) {
      if (threadIdx.x == 0) lf_publish_own<Group>(launch.published[level], launch.number, tile, scanned.all);
      const u32 pause = level == 0 ? LF_FIRST : 0;
      const Part found = lf_look_back<Group>(p, launch.published[level], launch.number, tile, pause, scanned.all, Group::start(p));
      if (threadIdx.x == 0) through = found;
    } else {
      work.meanwhile(p);
    }
    __syncthreads();
    const Part before = through;
    if (threadIdx.x == 0 && is_last) Group::give(launch.result, Group::join(p, before, scanned.all));
    return Group::join(p, before, scanned.before);
  }
}

// Finds the groups of a level and of all higher levels. `work` is a thread's part of a tile: it is summed up for each
// level, given the levels below. Returns whether all levels are known: a pass ends after its level.
template <class L, class Work, u32 K, bool ANY> struct lf_found {
  static LF_DEVICE bool find(const typename L::Params &p, const lf_launch &launch, u64 tile, bool is_last,
                             const Work &work, typename L::State &state) {
    typedef typename L::template Level<K> Group;
    typename L::State mine = state;
    Group::of(mine) = Group::identity(p);
    work.template run<K>(p, launch, mine);
    typedef typename Group::Part Part;
    const Part own = work.speaks() ? Group::of(mine) : Group::identity(p);
    const Part before = lf_before<Group, L>(p, launch, K, tile, is_last, work, own);
    if (L::PASSES && launch.pass == 2 * K) return false;
    Group::of(state) = work.told(before);
    return lf_found<L, Work, K + 1, (K + 1 < L::LEVELS)>::find(p, launch, tile, is_last, work, state);
  }
};
template <class L, class Work, u32 K> struct lf_found<L, Work, K, false> {
  static LF_DEVICE bool find(const typename L::Params &, const lf_launch &, u64, bool, const Work &, typename L::State &) {
    return true;
  }
};
