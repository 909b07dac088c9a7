
// ---------------------------------------------------------------------------------------------------------------------
// Groups too wide for look-back: each tile would publish many words, and read those of many tiles.
//
// Such a kernel is launched several times. For each level, one launch sums up consecutive tiles for each block, and
// another scans the blocks' totals in one block. A last launch runs the steps from their prefix. A part does not fit
// into shared memory, so warps exchange parts through global memory of their block.

// The memory of a block for a level.
template <class Group, u32 THREADS> struct lf_passing {
  typedef typename Group::Part Part;
  Part *blocks;  // each block's total, and after the scan its prefix
  Part *before;  // the prefix of this block's next tile
  Part *warps;   // its warps' totals
  LF_DEVICE lf_passing(const lf_launch &launch, u32 level) {
    blocks = reinterpret_cast<Part *>(launch.published[level].cells);
    before = blocks + launch.blocks + blockIdx.x;
    warps = blocks + 2 * launch.blocks + blockIdx.x * u64(THREADS / LF_WARP);
  }
};

// Returns the prefix of a thread in a tile, including the tile's prefix.
template <class Group, u32 THREADS, class Params>
LF_DEVICE typename Group::Part lf_pass_on(const Params &p, const lf_launch &launch, u32 level,
                                          const typename Group::Part &own) {
  typedef typename Group::Part Part;
  const lf_passing<Group, THREADS> room(launch, level);
  const lf_scanned<Part> scanned = lf_scan_block<Group, THREADS>(p, own, room.warps);
  const Part before = *room.before;
  // All threads have read it, and the sums of the warps.
  __syncthreads();
  if (threadIdx.x == 0) *room.before = Group::join(p, before, scanned.all);
  return Group::join(p, before, scanned.before);
}

// Scans the blocks' totals in one block, in order.
template <class Group, u32 THREADS, class Params>
LF_DEVICE void lf_scan_blocks(const Params &p, const lf_launch &launch, u32 level) {
  typedef typename Group::Part Part;
  const lf_passing<Group, THREADS> room(launch, level);
  const u64 each = (launch.blocks + THREADS - 1) / THREADS, begin = threadIdx.x * each;
  const u64 from = begin < launch.blocks ? begin : launch.blocks;
  const u64 to = from + each < launch.blocks ? from + each : launch.blocks;
  Part own = Group::identity(p);
  LF_ROLLED
  for (u64 k = from; k < to; ++k) own = Group::join(p, own, room.blocks[k]);
  const lf_scanned<Part> scanned = lf_scan_block<Group, THREADS>(p, own, room.warps);
  Part before = Group::join(p, Group::start(p), scanned.before);
  LF_ROLLED
  for (u64 k = from; k < to; ++k) {
    const Part part = room.blocks[k];
    room.blocks[k] = before;
    before = Group::join(p, before, part);
  }
  if (threadIdx.x == THREADS - 1) Group::give(launch.result, before);
}

// The work of a pass for each level, before and after its tiles.
template <class L, u32 K, bool ANY> struct lf_pass_levels {
  typedef typename L::template Level<K> Group;
  typedef lf_pass_levels<L, K + 1, (K + 1 < L::LEVELS)> Above;
  static LF_DEVICE void scan(const typename L::Params &p, const lf_launch &launch) {
    if (launch.pass == 2 * K + 1) {
      lf_scan_blocks<Group, L::THREADS>(p, launch, K);
    } else {
      Above::scan(p, launch);
    }
  }
  static LF_DEVICE void begin(const typename L::Params &p, const lf_launch &launch) {
    const lf_passing<Group, L::THREADS> room(launch, K);
    if (launch.pass > 2 * K) {
      *room.before = room.blocks[blockIdx.x];
      Above::begin(p, launch);
    } else {
      *room.before = Group::identity(p);
    }
  }
  static LF_DEVICE void end(const lf_launch &launch) {
    const lf_passing<Group, L::THREADS> room(launch, K);
    if (launch.pass == 2 * K) room.blocks[blockIdx.x] = *room.before;
    Above::end(launch);
  }
};
template <class L, u32 K> struct lf_pass_levels<L, K, false> {
  static LF_DEVICE void scan(const typename L::Params &, const lf_launch &) {}
  static LF_DEVICE void begin(const typename L::Params &, const lf_launch &) {}
  static LF_DEVICE void end(const lf_launch &) {}
};

// Returns whether a pass has tiles. Its first thread sets the prefix. The others see it after the first barrier.
template <class L> LF_DEVICE bool lf_pass_begins(const typename L::Params &p, const lf_launch &launch) {
  if (launch.pass < 2 * L::LEVELS && launch.pass % 2 == 1) {
    lf_pass_levels<L, 0, true>::scan(p, launch);
    return false;
  }
  if (threadIdx.x == 0) lf_pass_levels<L, 0, true>::begin(p, launch);
  return true;
}
template <class L> LF_DEVICE void lf_pass_ends(const lf_launch &launch) {
  if (threadIdx.x == 0) lf_pass_levels<L, 0, true>::end(launch);
}
