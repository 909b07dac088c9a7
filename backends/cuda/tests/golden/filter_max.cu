struct filter_max_v {
  struct Params {
    alignas(8) u64 len_0;
    lf_array<i64> arr_0;
    alignas(8) i64 one_1;
    lf_array<i64> out_4;
    alignas(8) i64 zero_2;
    lf_array<i64> out_2;
    alignas(8) u64 start_ix_2;
    alignas(8) i64 start_acc_4;
    alignas(8) i64 start_acc_3;
  };
  struct alignas(8) Part0 {
    u64 ix_2;
    i64 acc_4;
  };
  struct alignas(8) Part1 {
    i64 acc_3;
  };
  struct State {
    Part0 level0;
    Part1 level1;
  };
  template <u32 K, class Unused = void> struct Level;
  struct In { i64 arr_0; };
  struct Out { i64 out_4; };
  struct Kept { lf_kept<i64> out_2; };
  template <class Each>
  static LF_DEVICE void reads(const Params &p, Each each) { each(p.arr_0, &In::arr_0); }
  template <class Each>
  static LF_DEVICE void writes(const Params &p, Each each) { each(p.out_4, &Out::out_4); }
  template <class Each>
  static LF_DEVICE void keeps(const Params &p, const State &before, const State &after, Each each) {
    each(p.out_2, &Kept::out_2, before.level0.ix_2, after.level0.ix_2);
  }
  template <class Unused> struct Level<0, Unused> {
    typedef Part0 Part;
    struct alignas(8) Short { u32 ix_2; i64 acc_4; };
    static LF_DEVICE Short shorten(const Part &x) { return Short{u32(x.ix_2), i64(x.acc_4)}; }
    static LF_DEVICE Part lengthen(const Short &x) { return Part{x.ix_2, x.acc_4}; }
    static LF_DEVICE bool absorbs(const Part &x) { return false; }
    static LF_DEVICE Part &of(State &state) { return state.level0; }
    static LF_DEVICE Part start(const Params &p) {
      return Part{p.start_ix_2, p.start_acc_4};
    }
    static LF_DEVICE Part identity(const Params &p) {
      return Part{0ull, i64(9223372036854775808ull)};
    }
    static LF_DEVICE Part join(const Params &p, const Part &a, const Part &b) {
      Part ab;
      ab.ix_2 = a.ix_2 + b.ix_2;
      ab.acc_4 = lf_max(a.acc_4, b.acc_4);
      return ab;
    }
    static LF_DEVICE void give(u64 *to, const Part &x) {
      to[0] = lf_word(x.ix_2);
      to[1] = lf_word(x.acc_4);
    }
  };
  template <class Unused> struct Level<1, Unused> : lf_as_it_is<Part1> {
    typedef Part1 Part;
    static LF_DEVICE Part &of(State &state) { return state.level1; }
    static LF_DEVICE Part start(const Params &p) {
      return Part{p.start_acc_3};
    }
    static LF_DEVICE Part identity(const Params &p) {
      return Part{i64(9223372036854775808ull)};
    }
    static LF_DEVICE Part join(const Params &p, const Part &a, const Part &b) {
      Part ab;
      ab.acc_3 = lf_max(a.acc_3, b.acc_3);
      return ab;
    }
    static LF_DEVICE void give(u64 *to, const Part &x) {
      to[2] = lf_word(x.acc_3);
    }
  };
  static const u32 LEVELS = 1, THREADS = 128, ELEMENTS = 10, PIECE = 1;
  static const u64 TILE = THREADS * ELEMENTS;
  // Of an element in a room.
  static const u32 BYTES = 8;
  static const bool KEEPS = true, STORES = true, ENDS = true;
  template <bool EMIT>
  static LF_DEVICE void step(const Params &p, const lf_launch &launch, const u64 ix_0, const In &in,
                             State &state, Out &out, const Kept &kept) {
    const State old = state;
    const bool more_0 = ix_0 < p.len_0;
    const i64 elt_0 = in.arr_0;
    const i64 elt_1 = lf_add(elt_0, p.one_1);
    const i64 elt_4 = lf_max(old.level0.acc_4, elt_1);
    state.level0.acc_4 = elt_4;
    if (EMIT) out.out_4 = elt_4;
    const bool p_2 = elt_1 > p.zero_2;
    if (p_2) {
      const i64 new_3 = lf_max(old.level1.acc_3, elt_1);
      if (EMIT) lf_keep(kept.out_2, old.level0.ix_2, elt_1);
      const u64 nix_2 = old.level0.ix_2 + 1ull;
      state.level0.ix_2 = nix_2;
      state.level1.acc_3 = new_3;
    }
    const u64 nix_0 = ix_0 + 1ull;
  }
};
LF_KERNEL(128, 6) filter_max_v_kernel(const filter_max_v::Params p, const lf_launch launch) {
  lf_in_order<filter_max_v>(p, launch);
}
