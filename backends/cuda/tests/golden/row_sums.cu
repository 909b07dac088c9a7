struct row_sums_v {
  struct Params {
    alignas(8) u64 h_0;
    alignas(8) u64 w_1;
    lf_array<f64> arr_1;
    lf_array<f64> out_2;
    u64 lf_team;
  };
  struct alignas(8) Part0 {
    f64 acc_2;
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
      return Part{(-0.0), false};
    }
    static LF_DEVICE Part identity(const Params &p) {
      return Part{(-0.0), false};
    }
    static LF_DEVICE Part join(const Params &p, const Part &a, const Part &b) {
      Part ab;
      ab.acc_2 = a.acc_2 + b.acc_2;
      ab.lf_begun = a.lf_begun || b.lf_begun;
      if (b.lf_begun) {
        ab.acc_2 = b.acc_2;
      }
      return ab;
    }
    static LF_DEVICE void give(u64 *to, const Part &x) {
      to[0] = lf_word(x.acc_2);
    }
  };
  static const u32 LEVELS = 1, THREADS = 128, ELEMENTS = 21;
  static const bool PASSES = false;
  static const u64 TILE = THREADS * ELEMENTS;
  static const bool LEAVES = false;
  struct Near { lf_near<f64, false> arr_1; lf_ends<f64> out_2; };
  static const u32 PLACES = 2688, ROOM = lf_room<f64, PLACES, false>::bytes;
  static const bool STORES = true, GAPS = false;
  template <class Each>
  static LF_DEVICE void fetches(const Params &p, Each each) { each(p.arr_1, &Near::arr_1); }
  template <class Each>
  static LF_DEVICE void stores(const Params &p, Each each) { }
  template <class Each>
  static LF_DEVICE void ends(const Params &p, Each each) { each(p.out_2, &Near::out_2, &Near::arr_1); }
  static LF_DEVICE u64 begins(const Params &p, const lf_launch &launch) { return launch.first * p.w_1; }
  static const u32 ENDS = 1;
  static const bool EFFECTS = false, LIGHT = true;
  struct Row {
    u64 lf_begin;
    u64 row_0;
    f64 acc_2;
  };
  static LF_DEVICE Row row(const Params &p, const u64 ix_0, const u64 lf_before, const State &old) {
    const u64 row_0 = ix_0 * p.w_1;
    u64 ix_1 = 0ull;
    f64 acc_2 = 0.0;
    Row row;
    row.lf_begin = ix_1;
    row.row_0 = row_0;
    row.acc_2 = acc_2;
    return row;
  }
  static LF_DEVICE void begin(const Row &row, State &state) {
    state.level0.acc_2 = row.acc_2;
    state.level0.lf_begun = true;
  }
  template <u32 LEVEL>
  static LF_DEVICE void element(const Params &p, const lf_launch &launch, const u64 ix_0, const Row &row, const u64 ix_1, const Near &near, const u32 lf_k, State &state) {
    const bool EMIT = LEVEL == LEVELS;
    const State old = state;
    const bool more_1 = ix_1 < p.w_1;
    const u64 at_1 = row.row_0 + ix_1;
    const f64 elt_1 = lf_take(near.arr_1, lf_k);
    const f64 new_2 = old.level0.acc_2 + elt_1;
    state.level0.acc_2 = new_2;
    const u64 nix_1 = ix_1 + 1ull;
  }
  template <u32 LEVEL>
  static LF_DEVICE void end(const Params &p, const lf_launch &launch, const u64 ix_0, const u64 lf_before, const u64 lf_length, const Near &near, const u32 lf_k, State &state) {
    const bool EMIT = LEVEL == LEVELS;
    const State old = state;
    const bool more_0 = ix_0 < p.h_0;
    const u64 row_0 = ix_0 * p.w_1;
    u64 ix_1 = 0ull;
    ix_1 += lf_length;
    const f64 elt_2 = state.level0.acc_2;
    if (EMIT) lf_give(near.out_2, lf_k, elt_2);
    const u64 nix_0 = ix_0 + 1ull;
  }
  static const bool UNIFORM = true;
  static LF_DEVICE u64 length(const Params &p) { return p.w_1; }
};
LF_KERNEL(128, 7) row_sums_v_kernel(const row_sums_v::Params p, const lf_launch launch) {
  lf_along_path<row_sums_v>(p, launch);
}
struct row_sums_v_rows {
  typedef row_sums_v::Params Params;
  struct State {
  };
  template <u32 K, class Unused = void> struct Level;
  static const u32 LEVELS = 0, THREADS = 128, ELEMENTS = 1;
  static const bool PASSES = false;
  static const u64 TILE = THREADS * ELEMENTS;
  static const bool LEAVES = false;
  struct Near { lf_near<f64, true> arr_1; };
  static const u32 PLACES = 2048, ROOM = lf_room<f64, PLACES, true>::bytes;
  static const bool STORES = false, GAPS = true;
  template <class Each>
  static LF_DEVICE void fetches(const Params &p, Each each) { each(p.arr_1, &Near::arr_1); }
  template <class Each>
  static LF_DEVICE void stores(const Params &p, Each each) { }
  static LF_DEVICE u64 begins(const Params &p, const lf_launch &launch) { return launch.first * p.w_1; }
  static LF_DEVICE u64 length(const Params &p) { return p.w_1; }
  struct alignas(8) Fold1 {
    f64 acc_2;
    static LF_DEVICE Fold1 identity(const Params &p) { return Fold1{(-0.0)}; }
    static LF_DEVICE Fold1 join(const Params &p, const Fold1 &a, const Fold1 &b) {
      Fold1 ab;
      ab.acc_2 = a.acc_2 + b.acc_2;
      return ab;
    }
  };
  template <u32 LEVEL>
  static LF_DEVICE void step(const Params &p, const lf_launch &launch, const u64 ix_0, const u32 lf_lane, const u32 lf_team, const bool lf_there, const Near &near, State &state) {
    const bool EMIT = LEVEL == LEVELS && lf_there && lf_lane == 0;
    const State old = state;
    bool lf_ok = lf_there;
    const bool more_0 = ix_0 < p.h_0;
    const u64 row_0 = ix_0 * p.w_1;
    u64 ix_1 = 0ull;
    f64 acc_2 = 0.0;
    {
      const Fold1 lf_before = Fold1{acc_2};
      const Fold1 lf_none = Fold1::identity(p);
      acc_2 = lf_none.acc_2;
      const u64 lf_end = lf_max(ix_1, p.w_1);
      const auto lf_turn = [&](const u64 ix_1) {
        const bool EMIT = LEVEL == LEVELS;
        const f64 old_acc_2 = acc_2;
        const bool more_1 = ix_1 < p.w_1;
        const u64 at_1 = row_0 + ix_1;
        const f64 elt_1 = lf_read(near.arr_1, at_1);
        const f64 new_2 = old_acc_2 + elt_1;
        acc_2 = new_2;
        const u64 nix_1 = ix_1 + 1ull;
      };
      lf_turns<true>(ix_1, lf_end, lf_lane, lf_team, lf_ok, lf_turn);
      ix_1 = lf_end;
      const Fold1 lf_all = Fold1::join(p, lf_before, lf_of_team(p, Fold1{acc_2}, lf_team));
      acc_2 = lf_all.acc_2;
    }
    const f64 elt_2 = acc_2;
    if (EMIT) lf_write(p.out_2, ix_0, elt_2);
    const u64 nix_0 = ix_0 + 1ull;
  }
};
LF_KERNEL(128, 7) row_sums_v_rows_kernel(const row_sums_v_rows::Params p, const lf_launch launch) {
  lf_by_teams<row_sums_v_rows>(p, launch);
}
