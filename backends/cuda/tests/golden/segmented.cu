struct segmented_v {
  struct Params {
    alignas(8) u64 len_0;
    lf_array<u64> arr_0;
    alignas(8) u64 len_1;
    alignas(8) f64 start_2_v;
    alignas(8) f64 start_3_v;
    lf_array<f64> arr_1;
    lf_array<f64> out_3;
    lf_array<f64> out_2;
    alignas(8) u64 start_ix_1;
    lf_array<u64> lf_places;
  };
  struct alignas(8) Part0 {
    f64 acc_2;
    f64 acc_3;
    bool lf_begun;
  };
  struct State {
    Part0 level0;
  };
  template <u32 K, class Unused = void> struct Level;
  template <class Unused> struct Level<0, Unused> : lf_as_it_is<Part0> {
    typedef Part0 Part;
    static LF_DEVICE bool absorbs(const Part &x) { return x.lf_begun; }
    static LF_DEVICE Part &of(State &state) { return state.level0; }
    static LF_DEVICE Part start(const Params &p) {
      return Part{(-0.0), (-0.0), false};
    }
    static LF_DEVICE Part identity(const Params &p) {
      return Part{(-0.0), (-0.0), false};
    }
    static LF_DEVICE Part join(const Params &p, const Part &a, const Part &b) {
      Part ab;
      ab.acc_2 = a.acc_2 + b.acc_2;
      ab.acc_3 = a.acc_3 + b.acc_3;
      ab.lf_begun = a.lf_begun || b.lf_begun;
      if (b.lf_begun) {
        ab.acc_2 = b.acc_2;
        ab.acc_3 = b.acc_3;
      }
      return ab;
    }
    static LF_DEVICE void give(u64 *to, const Part &x) {
      to[0] = lf_word(x.acc_2);
      to[1] = lf_word(x.acc_3);
    }
  };
  static const u32 LEVELS = 1, THREADS = 128, ELEMENTS = 11;
  static const bool PASSES = false;
  static const u64 TILE = THREADS * ELEMENTS;
  static const bool LEAVES = false;
  struct Near { lf_near<f64, false> arr_1; lf_near<f64, false> out_3; lf_ends<f64> out_2; };
  static const u32 PLACES = 1408, ROOM = lf_room<f64, PLACES, false>::bytes + lf_room<f64, PLACES, false>::bytes;
  static const bool STORES = true, GAPS = false;
  template <class Each>
  static LF_DEVICE void fetches(const Params &p, Each each) { each(p.arr_1, &Near::arr_1); }
  template <class Each>
  static LF_DEVICE void stores(const Params &p, Each each) { each(p.out_3, &Near::out_3); }
  template <class Each>
  static LF_DEVICE void ends(const Params &p, Each each) { each(p.out_2, &Near::out_2, &Near::arr_1); }
  static LF_DEVICE u64 begins(const Params &p, const lf_launch &launch) { return p.start_ix_1; }
  static const u32 ENDS = 1;
  static const bool EFFECTS = true, LIGHT = true;
  struct Row {
    u64 lf_begin;
    u64 end_1;
    f64 acc_2;
    f64 acc_3;
  };
  static LF_DEVICE Row row(const Params &p, const u64 ix_0, const u64 lf_before, const State &old) {
    const u64 ix_1 = p.start_ix_1 + lf_before;
    const u64 elt_0 = lf_read(p.arr_0, ix_0);
    const u64 end_1 = ix_1 + elt_0;
    f64 acc_2 = p.start_2_v;
    f64 acc_3 = p.start_3_v;
    Row row;
    row.lf_begin = ix_1;
    row.end_1 = end_1;
    row.acc_2 = acc_2;
    row.acc_3 = acc_3;
    return row;
  }
  static LF_DEVICE void begin(const Row &row, State &state) {
    state.level0.acc_2 = row.acc_2;
    state.level0.acc_3 = row.acc_3;
    state.level0.lf_begun = true;
  }
  template <u32 LEVEL>
  static LF_DEVICE void element(const Params &p, const lf_launch &launch, const u64 ix_0, const Row &row, const u64 ix_1, const Near &near, const u32 lf_k, State &state) {
    const bool EMIT = LEVEL == LEVELS;
    const State old = state;
    bool lf_ok = true;
    const bool more_1 = ix_1 < row.end_1;
    const f64 elt_1 = lf_take(near.arr_1, lf_k);
    const f64 elt_3 = old.level0.acc_3 + elt_1;
    state.level0.acc_3 = elt_3;
    if (EMIT) lf_give(near.out_3, lf_k, elt_3);
    const f64 new_2 = old.level0.acc_2 + elt_1;
    state.level0.acc_2 = new_2;
    const u64 nix_1 = ix_1 + 1ull;
  }
  template <u32 LEVEL>
  static LF_DEVICE void end(const Params &p, const lf_launch &launch, const u64 ix_0, const u64 lf_before, const u64 lf_length, const Near &near, const u32 lf_k, State &state) {
    const bool EMIT = LEVEL == LEVELS;
    const State old = state;
    bool lf_ok = true;
    u64 ix_1 = p.start_ix_1 + lf_before;
    const bool more_0 = ix_0 < p.len_0;
    const u64 elt_0 = lf_read(p.arr_0, ix_0);
    const u64 room_1 = p.len_1 - ix_1;
    const bool fits_1 = elt_0 <= room_1;
    const u64 end_1 = ix_1 + elt_0;
    ix_1 += lf_length;
    const f64 elt_2 = state.level0.acc_2;
    if (EMIT) lf_give(near.out_2, lf_k, elt_2);
    const u64 nix_0 = ix_0 + 1ull;
  }
  static const bool UNIFORM = false;
  static LF_DEVICE lf_array<u64> places(const Params &p) { return p.lf_places; }
};
LF_KERNEL(128, 7) segmented_v_kernel(const segmented_v::Params p, const lf_launch launch) {
  lf_along_path<segmented_v>(p, launch);
}
struct segmented_v_places {
  typedef segmented_v::Params Params;
  struct alignas(8) Part0 {
    u64 ix_1;
  };
  struct State {
    Part0 level0;
  };
  template <u32 K, class Unused = void> struct Level;
  template <class Unused> struct Level<0, Unused> : lf_as_it_is<Part0> {
    typedef Part0 Part;
    static LF_DEVICE Part &of(State &state) { return state.level0; }
    static LF_DEVICE Part start(const Params &p) {
      return Part{p.start_ix_1};
    }
    static LF_DEVICE Part identity(const Params &p) {
      return Part{0ull};
    }
    static LF_DEVICE Part join(const Params &p, const Part &a, const Part &b) {
      Part ab;
      ab.ix_1 = a.ix_1 + b.ix_1;
      return ab;
    }
    static LF_DEVICE void give(u64 *to, const Part &x) {
      to[0] = lf_word(x.ix_1);
    }
  };
  static const u32 LEVELS = 1, THREADS = 128, ELEMENTS = 11;
  static const bool PASSES = false;
  static const u64 TILE = THREADS * ELEMENTS;
  static const bool LEAVES = false;
  struct Near { lf_near<u64, false> arr_0; lf_near<u64, false> lf_places; };
  static const u32 PLACES = 1408, ROOM = lf_room<u64, PLACES, false>::bytes + lf_room<u64, PLACES, false>::bytes;
  static const bool STORES = true, GAPS = false;
  template <class Each>
  static LF_DEVICE void fetches(const Params &p, Each each) { each(p.arr_0, &Near::arr_0); }
  template <class Each>
  static LF_DEVICE void stores(const Params &p, Each each) { each(p.lf_places, &Near::lf_places); }
  template <u32 LEVEL>
  static LF_DEVICE void step(const Params &p, const lf_launch &launch, const u64 ix_0, const Near &near, const u32 lf_k, State &state) {
    const bool EMIT = LEVEL == LEVELS;
    const State old = state;
    bool lf_ok = true;
    const u64 elt_0 = lf_take(near.arr_0, lf_k);
    const u64 room_1 = p.len_1 - state.level0.ix_1;
    const bool fits_1 = elt_0 <= room_1;
    if (LEVEL >= 1 && !(fits_1)) { lf_ok = false; if (EMIT) *launch.trapped = 1; }
    const u64 end_1 = state.level0.ix_1 + elt_0;
    const u64 lf_length = lf_max(state.level0.ix_1, end_1) - state.level0.ix_1;
    state.level0.ix_1 += lf_length;
    if (EMIT) {
      if (state.level0.ix_1 - p.start_ix_1 < lf_length) *launch.trapped = 1;
      lf_give(near.lf_places, lf_k, state.level0.ix_1 - p.start_ix_1);
    }
    const u64 nix_0 = ix_0 + 1ull;
  }
};
LF_KERNEL(128, 7) segmented_v_places_kernel(const segmented_v_places::Params p, const lf_launch launch) {
  lf_row_by_row<segmented_v_places>(p, launch);
}
