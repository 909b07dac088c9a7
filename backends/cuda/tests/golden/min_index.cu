struct min_index_v {
  struct Params {
    alignas(8) u64 len_0;
    lf_array<f32> arr_0;
    alignas(8) bool start_seen_1;
    alignas(8) f32 start_best_1;
    alignas(8) u64 start_at_1;
  };
  struct alignas(8) Part0 {
    bool seen_1;
    f32 best_1;
    u64 at_1;
  };
  struct State {
    Part0 level0;
  };
  template <u32 K, class Unused = void> struct Level;
  struct In { f32 arr_0; };
  struct Out { };
  struct Kept { };
  template <class Each>
  static LF_DEVICE void reads(const Params &p, Each each) { each(p.arr_0, &In::arr_0); }
  template <class Each>
  static LF_DEVICE void writes(const Params &p, Each each) { }
  template <class Each>
  static LF_DEVICE void keeps(const Params &p, const State &before, const State &after, Each each) {
   
  }
  template <class Unused> struct Level<0, Unused> : lf_as_it_is<Part0> {
    typedef Part0 Part;
    static LF_DEVICE Part &of(State &state) { return state.level0; }
    static LF_DEVICE Part start(const Params &p) {
      return Part{p.start_seen_1, p.start_best_1, p.start_at_1};
    }
    static LF_DEVICE Part identity(const Params &p) {
      return Part{false, lf_bitcast<f32>(0x7f800000u), 0ull};
    }
    static LF_DEVICE Part join(const Params &p, const Part &a, const Part &b) {
      Part ab;
      {
        const bool ls_1 = a.seen_1;
        const f32 lb_1 = a.best_1;
        const u64 la_1 = a.at_1;
        const bool rs_1 = b.seen_1;
        const f32 rb_1 = b.best_1;
        const u64 ra_1 = b.at_1;
        const bool any_1 = ls_1 || rs_1;
        const bool less_1 = rb_1 < lb_1;
        const bool take_1 = rs_1 && less_1;
        const bool none_1 = lf_not(ls_1);
        const bool right_1 = take_1 || none_1;
        f32 jb_1;
        u64 ja_1;
        if (right_1) {
          const u64 one_1 = 1ull;
          jb_1 = rb_1;
          ja_1 = ra_1;
        } else {
          jb_1 = lb_1;
          ja_1 = la_1;
        }
        ab.seen_1 = any_1;
        ab.best_1 = jb_1;
        ab.at_1 = ja_1;
      }
      return ab;
    }
    static LF_DEVICE void give(u64 *to, const Part &x) {
      to[0] = lf_word(x.seen_1);
      to[1] = lf_word(x.best_1);
      to[2] = lf_word(x.at_1);
    }
  };
  static const u32 LEVELS = 0, THREADS = 128, ELEMENTS = 20, PIECE = 1;
  static const u64 TILE = THREADS * ELEMENTS;
  // Of an element in a room.
  static const u32 BYTES = 4;
  static const bool KEEPS = false, STORES = false, ENDS = true;
  template <bool EMIT>
  static LF_DEVICE void step(const Params &p, const lf_launch &launch, const u64 ix_0, const In &in,
                             State &state, Out &out, const Kept &kept) {
    const State old = state;
    const bool more_0 = ix_0 < p.len_0;
    const f32 elt_0 = in.arr_0;
    const bool below_1 = elt_0 < old.level0.best_1;
    const bool first_1 = lf_not(old.level0.seen_1);
    const bool new_1 = below_1 || first_1;
    const f32 nbest_1 = new_1 ? elt_0 : old.level0.best_1;
    const u64 nat_1 = new_1 ? ix_0 : old.level0.at_1;
    state.level0.seen_1 = true;
    state.level0.best_1 = nbest_1;
    state.level0.at_1 = nat_1;
    const u64 nix_0 = ix_0 + 1ull;
  }
};
LF_KERNEL(128, 6) min_index_v_kernel(const min_index_v::Params p, const lf_launch launch) {
  lf_one_by_one<min_index_v>(p, launch);
}
