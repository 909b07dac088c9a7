/* Loop segmented */
/*   0: manifest at r0 */
/*   1: manifest at r1 */
/*   2: fold_s at r0 */
/*   3: scan_s at r1 */
static void segmented_emit_join_acc_2(u64 *trapped, f64 *restrict lf_out_0, const f64 *restrict lf_from_0) {
  f64 lf_lane_0[16];
  for (u64 l = 0; l < 16; l++) {
    lf_lane_0[l] = lf_from_0[l] + lf_from_0[l + 16];
  }
  for (u64 l = 0; l < 8; l++) {
    lf_lane_0[l] = lf_lane_0[l] + lf_lane_0[l + 8];
  }
  for (u64 l = 0; l < 4; l++) {
    lf_lane_0[l] = lf_lane_0[l] + lf_lane_0[l + 4];
  }
  for (u64 l = 0; l < 2; l++) {
    lf_lane_0[l] = lf_lane_0[l] + lf_lane_0[l + 2];
  }
  for (u64 l = 0; l < 1; l++) {
    lf_lane_0[l] = lf_lane_0[l] + lf_lane_0[l + 1];
  }
  (*lf_out_0) = (*lf_out_0) + lf_lane_0[0];
}

/* Rate r1 */
static __attribute__((noinline)) u64
segmented_emit_tile_1_r1(const u64 from, const u64 end, const f64 *restrict arr_1, f64 *restrict out_3, f64 *restrict lf_acc_3_now, const f64 acc_3, f64 *restrict lf_acc_3_total, f64 *restrict lf_acc_3_last, f64 *restrict acc_2_lane) {
  u64 trapped = 0;
  f64 acc_3_now = *lf_acc_3_now;
  f64 acc_3_total = *lf_acc_3_total;
  f64 acc_3_last = *lf_acc_3_last;
  lf_v8f64 acc_2_lanes[4];
  lf_v8f64 acc_3_total_all;
  lf_v8f64 acc_3_last_all;
  lf_v8f64 acc_3_all;
  #pragma GCC unroll 4
  for (u64 lane = 0ul; lane < 32ul; lane += 8) {
    /* 1: manifest */
    const lf_v8f64 some = *(const lf_v8f64_at *)(acc_2_lane + lane);
    acc_2_lanes[lane / 8] = some;
  }
  acc_3_total_all = lf_v8f64_all(acc_3_total);
  acc_3_last_all = lf_v8f64_all(acc_3_last);
  acc_3_all = lf_v8f64_all(acc_3_now);
  for (u64 strip = from; strip < end; strip += 32) {
    #pragma GCC unroll 4
    for (u64 lane_2 = 0ul; lane_2 < 32ul; lane_2 += 8) {
      const u64 ix_1 = (u64)(strip + lane_2);
      const lf_v8f64 acc_2 = acc_2_lanes[lane_2 / 8];
      lf_v8f64 elt_1 = *(const lf_v8f64_at *)(arr_1 + ix_1);
      __asm__("" : "+v"(elt_1));
      /* 3: scan_s */
      lf_v8f64 acc_3_sum = lf_v8f64_scan_add(elt_1);
      const lf_v8f64 chunk = acc_3_total_all + acc_3_sum;
      const lf_v8f64 elt_3 = lf_v8f64_all(acc_3) + chunk;
      const lf_v8f64 end_2 = LF_SHUFFLE(lf_v8i64, acc_3_sum, acc_3_sum, 7, 7, 7, 7, 7, 7, 7, 7);
      const lf_v8f64 total = acc_3_total_all + end_2;
      acc_3_total_all = total;
      acc_3_last_all = chunk;
      acc_3_all = elt_3;
      *(lf_v8f64_at *)(out_3 + ix_1) = elt_3;
      /* 2: fold_s */
      const lf_v8f64 new_2 = acc_2 + elt_1;
      acc_2_lanes[lane_2 / 8] = new_2;
    }
  }
  #pragma GCC unroll 4
  for (u64 lane_3 = 0ul; lane_3 < 32ul; lane_3 += 8) {
    /* 1: manifest */
    const lf_v8f64 some_2 = acc_2_lanes[lane_3 / 8];
    { lf_v8f64 x = some_2; __asm__("" : "+v"(x)); *(lf_v8f64_at *)(acc_2_lane + lane_3) = x; }
  }
  const f64 end_3 = acc_3_total_all[7];
  acc_3_total = end_3;
  const f64 end_4 = acc_3_last_all[7];
  acc_3_last = end_4;
  const f64 end_5 = acc_3_all[7];
  acc_3_now = end_5;
  *lf_acc_3_now = acc_3_now;
  *lf_acc_3_total = acc_3_total;
  *lf_acc_3_last = acc_3_last;
  return trapped;
}

/* Rate r0 */
static __attribute__((noinline)) u64
segmented_emit_tile_0_r0(const u64 from, u64 *restrict lf_left, u64 *restrict lf_rest, const u64 *restrict arr_0, const f64 *restrict arr_1, const u64 n_arr_1, f64 *restrict out_3, const u64 n_out_3, f64 *restrict out_2, const u64 len_1, const f64 start_2, const f64 start_3, u64 *restrict lf_ix_1) {
  u64 trapped = 0;
  const u64 end = *lf_left;
  u64 rest = *lf_rest;
  u64 lf_least_0 = n_arr_1;
  lf_least_0 = lf_least(lf_least_0, n_out_3);
  u64 ix_1 = *lf_ix_1;
  f64 acc_2_start;
  f64 acc_3_prefix;
  f64 acc_3_total;
  lf_v8f64 acc_3_total_all;
  lf_v8f64 acc_2_lanes[2];
  lf_v8f64 acc_2_lanes_2[4];
  for (u64 ix_0 = from; ix_0 < end; ix_0 += 1) {
    u64 after = rest - 1;
    const u64 lf_old_ix_1 = ix_1;
    /* 0: manifest */
    const u64 elt_0 = *(arr_0 + ix_0);
    /* 1: manifest */
    const u64 room_1 = (u64)(len_1 - ix_1);
    const bool fits_1 = elt_0 <= room_1;
    trapped |= !fits_1;
    const u64 end_1 = (u64)(ix_1 + elt_0);
    /* 2: fold_s */
    acc_2_start = start_2;
    /* 3: scan_s */
    acc_3_prefix = start_3;
    acc_3_total = (-0.0);
    /* 1: manifest */
    acc_3_total_all = lf_v8f64_all(acc_3_total);
    const u64 size_2 = (u64)(end_1 - ix_1);
    const bool few = size_2 <= 16ul;
    if (few) {
      acc_2_lanes[0] = lf_v8f64_all((-0.0));
      acc_2_lanes[1] = lf_v8f64_all((-0.0));
      if (ix_1 < end_1) {
        const u64 first = ix_1, size = end_1 - first;
        if (size >= after || lf_capacity(lf_least_0, ix_1) < size) {
          ix_1 = lf_old_ix_1;
          *lf_left = ix_0;
          goto left;
        }
        after -= size;
        lf_ahead((u64)arr_1 + ix_1 * 8ul);
        for (u64 ix_1_2 = first & ~15ul; ix_1_2 < first + size; ix_1_2 += 16) {
          const u64 left = (u64)(end_1 - ix_1_2);
          const u64 begin = lf_max_u64(ix_1, ix_1_2);
          const u64 before = (u64)(begin - ix_1_2);
          #pragma GCC unroll 2
          for (u64 lane = 0ul; lane < 16ul; lane += 8) {
            const bool some = lane < left;
            if (some) {
              const u64 ix_1_3 = (u64)(ix_1_2 + lane);
              const u8 here = lf_lt_lf_v8i64((lf_v8i64_all((i64)(lane)) + lf_v8i64_positions()), lf_v8i64_all((i64)lf_least(left, 16384)));
              const u8 out = lf_lt_lf_v8i64((lf_v8i64_all((i64)(lane)) + lf_v8i64_positions()), lf_v8i64_all((i64)lf_least(before, 16384)));
              const u8 inside = (u8)(~out & 0xff);
              const u8 both = (u8)(here & inside);
              const lf_v8f64 acc_2 = acc_2_lanes[lane / 8];
              const lf_v8f64 elt_1 = lf_some_lf_v8f64_8((const f64 *)((u64)arr_1 + (ix_1_3) * 8ul), lf_bits_of_u8(both));
              /* 3: scan_s */
              const lf_v8f64 kept = lf_pick_lf_v8f64_8(both, elt_1, lf_v8f64_all((-0.0)));
              lf_v8f64 acc_3_sum = lf_v8f64_scan_add(kept);
              const lf_v8f64 chunk = acc_3_total_all + acc_3_sum;
              const lf_v8f64 elt_3 = lf_v8f64_all(acc_3_prefix) + chunk;
              const lf_v8f64 end_2 = LF_SHUFFLE(lf_v8i64, acc_3_sum, acc_3_sum, 7, 7, 7, 7, 7, 7, 7, 7);
              const lf_v8f64 total = acc_3_total_all + end_2;
              acc_3_total_all = total;
              { const u64 l = lf_bits_of_u8(both); const lf_v8f64 x = elt_3; f64 *const p = (f64 *)((u64)out_3 + (ix_1_3) * 8ul); if (l == 0xff) *(lf_v8f64_at *)p = x; else for (u64 k = 0; k < 8; k++) if (l >> k & 1) p[k] = x[k]; }
              /* 2: fold_s */
              const lf_v8f64 new_2 = acc_2 + elt_1;
              const lf_v8f64 kept_2 = lf_pick_lf_v8f64_8(both, new_2, acc_2);
              acc_2_lanes[lane / 8] = kept_2;
            }
          }
        }
      } else if (after == 0) {
        ix_1 = lf_old_ix_1;
        *lf_left = ix_0;
        goto left;
      }
      /* 1: manifest */
      const lf_v8f64 halves_1_0 = acc_2_lanes[0] + acc_2_lanes[1];
      const f64 halves = lf_v8f64_halves_add(halves_1_0);
      const f64 acc_2_2 = acc_2_start + halves;
      acc_2_start = acc_2_2;
    } else {
      acc_2_lanes_2[0] = lf_v8f64_all((-0.0));
      acc_2_lanes_2[1] = lf_v8f64_all((-0.0));
      acc_2_lanes_2[2] = lf_v8f64_all((-0.0));
      acc_2_lanes_2[3] = lf_v8f64_all((-0.0));
      if (ix_1 < end_1) {
        const u64 first = ix_1, size = end_1 - first;
        if (size >= after || lf_capacity(lf_least_0, ix_1) < size) {
          ix_1 = lf_old_ix_1;
          *lf_left = ix_0;
          goto left;
        }
        after -= size;
        lf_ahead((u64)arr_1 + ix_1 * 8ul);
        for (u64 ix_1_4 = first & ~31ul; ix_1_4 < first + size; ix_1_4 += 32) {
          if (ix_1_4 >= first && first + size - ix_1_4 > 32) {
            #pragma GCC unroll 4
            for (u64 lane_2 = 0ul; lane_2 < 32ul; lane_2 += 8) {
              const u64 ix_1_5 = (u64)(ix_1_4 + lane_2);
              const lf_v8f64 acc_2_3 = acc_2_lanes_2[lane_2 / 8];
              const lf_v8f64 elt_1_2 = *(const lf_v8f64_at *)(arr_1 + ix_1_5);
              /* 3: scan_s */
              lf_v8f64 acc_3_sum_2 = lf_v8f64_scan_add(elt_1_2);
              const lf_v8f64 chunk_2 = acc_3_total_all + acc_3_sum_2;
              const lf_v8f64 elt_3_2 = lf_v8f64_all(acc_3_prefix) + chunk_2;
              const lf_v8f64 end_3 = LF_SHUFFLE(lf_v8i64, acc_3_sum_2, acc_3_sum_2, 7, 7, 7, 7, 7, 7, 7, 7);
              const lf_v8f64 total_2 = acc_3_total_all + end_3;
              acc_3_total_all = total_2;
              *(lf_v8f64_at *)(out_3 + ix_1_5) = elt_3_2;
              /* 2: fold_s */
              const lf_v8f64 new_2_2 = acc_2_3 + elt_1_2;
              acc_2_lanes_2[lane_2 / 8] = new_2_2;
            }
          } else {
            /* 0: manifest */
            const u64 left_2 = (u64)(end_1 - ix_1_4);
            const u64 begin_2 = lf_max_u64(ix_1, ix_1_4);
            const u64 before_2 = (u64)(begin_2 - ix_1_4);
            #pragma GCC unroll 4
            for (u64 lane_3 = 0ul; lane_3 < 32ul; lane_3 += 8) {
              /* 1: manifest */
              const bool some_2 = lane_3 < left_2;
              if (some_2) {
                /* 0: manifest */
                const u64 ix_1_6 = (u64)(ix_1_4 + lane_3);
                const u8 here_2 = lf_lt_lf_v8i64((lf_v8i64_all((i64)(lane_3)) + lf_v8i64_positions()), lf_v8i64_all((i64)lf_least(left_2, 16384)));
                const u8 out_4 = lf_lt_lf_v8i64((lf_v8i64_all((i64)(lane_3)) + lf_v8i64_positions()), lf_v8i64_all((i64)lf_least(before_2, 16384)));
                const u8 inside_2 = (u8)(~out_4 & 0xff);
                const u8 both_2 = (u8)(here_2 & inside_2);
                const lf_v8f64 acc_2_4 = acc_2_lanes_2[lane_3 / 8];
                /* 1: manifest */
                const lf_v8f64 elt_1_3 = lf_some_lf_v8f64_8((const f64 *)((u64)arr_1 + (ix_1_6) * 8ul), lf_bits_of_u8(both_2));
                /* 3: scan_s */
                const lf_v8f64 kept_3 = lf_pick_lf_v8f64_8(both_2, elt_1_3, lf_v8f64_all((-0.0)));
                lf_v8f64 acc_3_sum_3 = lf_v8f64_scan_add(kept_3);
                const lf_v8f64 chunk_3 = acc_3_total_all + acc_3_sum_3;
                const lf_v8f64 elt_3_3 = lf_v8f64_all(acc_3_prefix) + chunk_3;
                const lf_v8f64 end_4 = LF_SHUFFLE(lf_v8i64, acc_3_sum_3, acc_3_sum_3, 7, 7, 7, 7, 7, 7, 7, 7);
                const lf_v8f64 total_3 = acc_3_total_all + end_4;
                acc_3_total_all = total_3;
                { const u64 l = lf_bits_of_u8(both_2); const lf_v8f64 x = elt_3_3; f64 *const p = (f64 *)((u64)out_3 + (ix_1_6) * 8ul); if (l == 0xff) *(lf_v8f64_at *)p = x; else for (u64 k = 0; k < 8; k++) if (l >> k & 1) p[k] = x[k]; }
                /* 2: fold_s */
                const lf_v8f64 new_2_3 = acc_2_4 + elt_1_3;
                const lf_v8f64 kept_4 = lf_pick_lf_v8f64_8(both_2, new_2_3, acc_2_4);
                acc_2_lanes_2[lane_3 / 8] = kept_4;
              }
            }
          }
        }
      } else if (after == 0) {
        ix_1 = lf_old_ix_1;
        *lf_left = ix_0;
        goto left;
      }
      /* 1: manifest */
      const lf_v8f64 halves_2_2_0 = acc_2_lanes_2[0] + acc_2_lanes_2[2];
      const lf_v8f64 halves_2_2_1 = acc_2_lanes_2[1] + acc_2_lanes_2[3];
      const lf_v8f64 halves_2_1_0 = halves_2_2_0 + halves_2_2_1;
      const f64 halves_2 = lf_v8f64_halves_add(halves_2_1_0);
      const f64 acc_2_5 = acc_2_start + halves_2;
      acc_2_start = acc_2_5;
    }
    const f64 end_5 = acc_3_total_all[7];
    acc_3_total = end_5;
    const u64 end_8 = lf_max_u64(ix_1, end_1);
    ix_1 = end_8;
    /* 2: fold_s */
    const f64 elt_2 = acc_2_start;
    *(out_2 + ix_0) = elt_2;
    rest = after;
  }
left:;
  *lf_ix_1 = ix_1;
  *lf_rest = rest;
  return trapped;
}

LF_COLD
i32 segmented_emit(lf_run *run) {
  const u64 *const arr_0 = run->inputs[0].data;
  const u64 n_arr_0 = run->inputs[0].length;
  const f64 *const arr_1 = run->inputs[1].data;
  const u64 n_arr_1 = run->inputs[1].length;
  const f64 start_2 = lf_f64_of_u64(run->scalars[2]);
  const f64 start_3 = lf_f64_of_u64(run->scalars[3]);
  f64 *out_2 = run->made[0].data;
  u64 n_out_2 = run->made[0].length;
  f64 *out_3 = run->made[1].data;
  u64 n_out_3 = run->made[1].length;
  bool more_0 = 0, fits_1 = 0, more_1 = 0, all_1 = 0;
  u64 len_0 = 0, len_1 = 0, ix_0 = 0, ix_1 = 0, elt_0 = 0, room_1 = 0, end_1 = 0, nix_1 = 0;
  u64 nix_0 = 0;
  f64 acc_2 = 0, acc_3 = 0, elt_1 = 0, elt_3 = 0, new_2 = 0, elt_2 = 0;
  f64 acc_2_lane[32] __attribute__((aligned(64)));
  f64 acc_2_joined = 0;
  f64 acc_3_now = 0, acc_3_total = 0, acc_3_last = 0;
  f64 acc_3_tree[3];
  len_0 = run->words[2];
  len_1 = run->words[3];
  ix_0 = run->words[4];
  ix_1 = run->words[5];
  end_1 = run->words[6];
  acc_2 = lf_f64_of_u64(run->words[7]);
  acc_3 = lf_f64_of_u64(run->words[8]);
  __builtin_memcpy(acc_2_lane, run->words + 9, 256);
  acc_3_now = lf_f64_of_u64(run->words[41]);
  acc_3_total = lf_f64_of_u64(run->words[42]);
  acc_3_last = lf_f64_of_u64(run->words[43]);
  acc_3_tree[0] = lf_f64_of_u64(run->words[44]);
  acc_3_tree[1] = lf_f64_of_u64(run->words[45]);
  acc_3_tree[2] = lf_f64_of_u64(run->words[46]);
  u64 position = run->words[0];
  u64 steps = run->words[1];
  const u64 limit = steps + run->budget;
  u64 event = 0; /* the step at which to stop and look */
  u64 trapped = 0;
  i32 outcome = LF_DONE;
  goto resume;

init_0:; /* init_1, init_2, init_3 */
  /* 0: manifest */
  len_0 = n_arr_0;
  /* 1: manifest */
  len_1 = n_arr_1;
  /* 2: fold_s */
  if (!run->new_array(run, 0, len_0, 2)) goto no_memory;
  out_2 = run->made[0].data;
  n_out_2 = run->made[0].length;
  /* 3: scan_s */
  if (!run->new_array(run, 1, len_1, 3)) goto no_memory;
  out_3 = run->made[1].data;
  n_out_3 = run->made[1].length;
  /* 0: manifest */
  ix_0 = 0ul;
  /* 1: manifest */
  ix_1 = 0ul;
  goto guard_0;

guard_0:; /* guard_2 */
  if (steps >= event || trapped) { position = 1; goto event; }
  if (ix_0 < len_0) {
    u64 count = lf_least(len_0 - ix_0 - 1, event - steps);
    count = lf_least(count, lf_capacity(n_arr_0, ix_0));
    count = lf_least(count, lf_capacity(n_out_2, ix_0));
    if (count != 0) {
      u64 left = ix_0 + count;
      u64 rest = event - steps;
      trapped |= segmented_emit_tile_0_r0(ix_0, &left, &rest, arr_0, arr_1, n_arr_1, out_3, n_out_3, out_2, len_1, start_2, start_3, &ix_1);
      count = left - ix_0;
      if (count != 0) {
        ix_0 += count;
        steps = event - rest;
        goto guard_0;
      }
    }
  }
  /* 0: manifest */
  more_0 = ix_0 < len_0;
  if (!more_0) {
    goto done_0;
  }
  steps += 1;
  goto body_0;

body_0:;
  /* 0: manifest */
  elt_0 = ix_0 < n_arr_0 ? arr_0[ix_0] : 0;
  goto yield_0;

yield_0:;
  goto nest_1;

nest_1:; /* nest_3 */
  /* 1: manifest */
  room_1 = (u64)(len_1 - ix_1);
  fits_1 = elt_0 <= room_1;
  trapped |= !fits_1;
  end_1 = (u64)(ix_1 + elt_0);
  /* 2: fold_s */
  acc_2 = start_2;
  lf_fill_32_f64(acc_2_lane, (-0.0));
  /* 3: scan_s */
  acc_3 = start_3;
  acc_3_now = acc_3;
  acc_3_total = acc_3_last = (-0.0);
  for (u64 k = 0; k < 3; k++) acc_3_tree[k] = (-0.0);
  goto guard_1;

guard_1:; /* guard_3 */
  if (steps >= event || trapped) { position = 2; goto event; }
  if (ix_1 < end_1) {
    u64 count = lf_least(end_1 - ix_1, event - steps);
    count = lf_least(count, lf_capacity(n_arr_1, ix_1));
    count = lf_least(count, lf_capacity(n_out_3, ix_1));
    count &= ~31ul;
    if (ix_1 & 31) count = 0;
    if (count != 0) {
      trapped |= segmented_emit_tile_1_r1(ix_1, ix_1 + count, arr_1, out_3, &acc_3_now, acc_3, &acc_3_total, &acc_3_last, acc_2_lane);
      ix_1 += count;
      steps += count;
      goto guard_1;
    }
  }
  /* 1: manifest */
  more_1 = ix_1 < end_1;
  if (!more_1) {
    goto done_1;
  }
  steps += 1;
  goto body_1;

body_1:; /* body_3 */
  /* 1: manifest */
  elt_1 = ix_1 < n_arr_1 ? arr_1[ix_1] : 0;
  /* 3: scan_s */
  {
    f64 lf_sum_0 = elt_1;
    u64 lf_at = ix_1 & 7;
    for (u64 k = 0; k < 3; k++) {
      if (lf_at >> k & 1) {
        lf_sum_0 = acc_3_tree[k] + lf_sum_0;
      } else {
        acc_3_tree[k] = lf_sum_0;
      }
    }
    acc_3_last = acc_3_total + lf_sum_0;
    elt_3 = acc_3 + acc_3_last;
    acc_3_now = elt_3;
    if (lf_at == 7) acc_3_total = acc_3_last;
  }
  goto yield_1;

yield_1:; /* yield_3 */
  /* 3: scan_s */
  if (ix_1 < n_out_3) out_3[ix_1] = elt_3;
  /* 2: fold_s */
  new_2 = acc_2_lane[ix_1 & 31] + elt_1;
  acc_2_lane[ix_1 & 31] = new_2;
  goto bottom_1;

bottom_1:; /* bottom_3 */
  /* 1: manifest */
  nix_1 = (u64)(ix_1 + 1ul);
  ix_1 = nix_1;
  goto guard_1;

done_1:; /* done_3 */
  goto body_2;

body_2:;
  acc_2_joined = acc_2;
  { u64 lf_flag = 0; segmented_emit_join_acc_2(&lf_flag, &acc_2_joined, acc_2_lane); trapped |= lf_flag; }
  /* 2: fold_s */
  elt_2 = acc_2_joined;
  goto yield_2;

yield_2:;
  /* 2: fold_s */
  if (ix_0 < n_out_2) out_2[ix_0] = elt_2;
  goto bottom_0;

bottom_0:; /* bottom_2 */
  /* 0: manifest */
  nix_0 = (u64)(ix_0 + 1ul);
  ix_0 = nix_0;
  goto guard_0;

done_0:; /* done_2 */
  if (trapped) goto event;
  position = LF_END;
  /* 1: manifest */
  all_1 = ix_1 == len_1;
  trapped |= !all_1;
  if (trapped) goto event;
  run->results[0] = n_out_2;
  run->results[1] = n_out_3;
  goto out;

event:
  if (trapped) { outcome = LF_TRAPPED; goto out; }
  if (steps != 0 && steps % 16384 == 0) {
    acc_2_joined = acc_2;
    { u64 lf_flag = 0; segmented_emit_join_acc_2(&lf_flag, &acc_2_joined, acc_2_lane); trapped |= lf_flag; }
    acc_2 = acc_2_joined;
    lf_fill_32_f64(acc_2_lane, (-0.0));
    acc_3 = acc_3 + acc_3_last;
    acc_3_total = acc_3_last = (-0.0);
    for (u64 k = 0; k < 3; k++) acc_3_tree[k] = (-0.0);
  }
  if (steps == limit) { outcome = LF_PAUSED; goto out; }
  event = lf_least(limit, (steps / 16384 + 1) * 16384);

resume:
  switch (position) {
    case 1: goto guard_0;
    case 2: goto guard_1;
    default: goto init_0;
  }

no_memory: __attribute__((unused));
  outcome = trapped ? LF_TRAPPED : LF_NO_MEMORY;
out:
  run->words[0] = position;
  run->words[1] = steps;
  run->words[2] = len_0;
  run->words[3] = len_1;
  run->words[4] = ix_0;
  run->words[5] = ix_1;
  run->words[6] = end_1;
  run->words[7] = lf_u64_of_f64(acc_2);
  run->words[8] = lf_u64_of_f64(acc_3);
  __builtin_memcpy(run->words + 9, acc_2_lane, 256);
  run->words[41] = lf_u64_of_f64(acc_3_now);
  run->words[42] = lf_u64_of_f64(acc_3_total);
  run->words[43] = lf_u64_of_f64(acc_3_last);
  run->words[44] = lf_u64_of_f64(acc_3_tree[0]);
  run->words[45] = lf_u64_of_f64(acc_3_tree[1]);
  run->words[46] = lf_u64_of_f64(acc_3_tree[2]);
  run->made[0].length = n_out_2;
  run->made[1].length = n_out_3;
  __builtin_ia32_vzeroupper();
  return outcome;
}

