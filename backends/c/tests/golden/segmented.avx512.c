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

/* Rate r1: ix_1 from `from` to `end`. */
static __attribute__((noinline)) u64
segmented_emit_loop_1_r1_0(const u64 from, const u64 end, const f64 *restrict arr_1, f64 *restrict out_3, const u64 end_1, f64 *restrict acc_2_lane, const f64 acc_3, f64 *restrict lf_acc_3_now, f64 *restrict lf_acc_3_total, f64 *restrict lf_acc_3_last, f64 *restrict acc_3_tree) {
  u64 trapped = 0;
  f64 acc_3_now = *lf_acc_3_now;
  f64 acc_3_total = *lf_acc_3_total;
  f64 acc_3_last = *lf_acc_3_last;
  for (u64 strip = from; strip < end; strip += 8) {
    #pragma GCC unroll 8
    for (u64 lane = 0; lane < 8; lane++) {
      const u64 ix_1 = strip + lane;
      f64 acc_2 = acc_2_lane[(strip & 31) + lane];
      /* 1: manifest */
      bool more_1 = 1;
      f64 elt_1 = arr_1[ix_1];
      /* 3: scan_s */
      f64 elt_3;
      {
        f64 lf_sum_0 = elt_1;
        u64 lf_at = lane;
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
      out_3[ix_1] = elt_3;
      /* 2: fold_s */
      f64 new_2 = acc_2 + elt_1;
      acc_2 = new_2;
      /* 1: manifest */
      u64 nix_1 = (u64)(ix_1 + 1ul);
      acc_2_lane[(strip & 31) + lane] = acc_2;
    }
  }
  *lf_acc_3_now = acc_3_now;
  *lf_acc_3_total = acc_3_total;
  *lf_acc_3_last = acc_3_last;
  return trapped;
}

/* Rate r0 with its inner loops: ix_0 up to `end`. */
static __attribute__((noinline)) u64
segmented_emit_nest_0_r0(u64 *restrict from, const u64 end, u64 *restrict left_at, const u64 *restrict arr_0, const f64 *restrict arr_1, const u64 n_arr_1, f64 *restrict out_2, f64 *restrict out_3, const u64 n_out_3, const f64 start_2, const f64 start_3, const u64 len_0, const u64 len_1, u64 *restrict lf_ix_1) {
  u64 trapped = 0, left = *left_at, ix_0 = *from;
  u64 ix_1 = *lf_ix_1;
  f64 acc_2 = 0;
  f64 acc_3 = 0, acc_3_now = 0, acc_3_total = 0, acc_3_last = 0, acc_3_tree[3];
  for (; ix_0 < end; ix_0++) {
    if (left < 2) break;
    u64 rest = left - 1;
    const u64 lf_old_ix_1 = ix_1;
    /* 0: manifest */
    bool more_0 = ix_0 < len_0;
    u64 elt_0 = arr_0[ix_0];
    /* 1: manifest */
    u64 room_1 = (u64)(len_1 - ix_1);
    bool fits_1 = elt_0 <= room_1;
    trapped |= !fits_1;
    u64 end_1 = (u64)(ix_1 + elt_0);
    /* 2: fold_s */
    acc_2 = start_2;
    /* 3: scan_s */
    acc_3 = start_3;
    acc_3_now = acc_3;
    acc_3_total = acc_3_last = (-0.0);
    for (u64 k = 0; k < 3; k++) acc_3_tree[k] = (-0.0);
    if (ix_1 < end_1) {
      const u64 size = end_1 - ix_1, first = ix_1;
      if (size >= rest || lf_room(n_arr_1, ix_1) < size || lf_room(n_out_3, ix_1) < size) goto undo;
      rest -= size;
      f64 acc_2_lane[32];
      for (u64 lane = 0; lane < 32; lane++) acc_2_lane[lane] = (-0.0);
      for (; ix_1 < end_1; ix_1++) {
        f64 acc_2 = acc_2_lane[ix_1 & 31];
        /* 1: manifest */
        bool more_1 = ix_1 < end_1;
        f64 elt_1 = arr_1[ix_1];
        /* 3: scan_s */
        f64 elt_3;
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
        out_3[ix_1] = elt_3;
        /* 2: fold_s */
        f64 new_2 = acc_2 + elt_1;
        acc_2 = new_2;
        /* 1: manifest */
        u64 nix_1 = (u64)(ix_1 + 1ul);
        acc_2_lane[ix_1 & 31] = acc_2;
      }
      for (u64 l = 0; l < 16; l++) {
        acc_2_lane[l] = acc_2_lane[l] + acc_2_lane[l + 16];
      }
      for (u64 l = 0; l < 8; l++) {
        acc_2_lane[l] = acc_2_lane[l] + acc_2_lane[l + 8];
      }
      for (u64 l = 0; l < 4; l++) {
        acc_2_lane[l] = acc_2_lane[l] + acc_2_lane[l + 4];
      }
      for (u64 l = 0; l < 2; l++) {
        acc_2_lane[l] = acc_2_lane[l] + acc_2_lane[l + 2];
      }
      for (u64 l = 0; l < 1; l++) {
        acc_2_lane[l] = acc_2_lane[l] + acc_2_lane[l + 1];
      }
      acc_2 = acc_2 + acc_2_lane[0];
    }
    /* 2: fold_s */
    f64 elt_2 = acc_2;
    out_2[ix_0] = elt_2;
    /* 0: manifest */
    u64 nix_0 = (u64)(ix_0 + 1ul);
    left = rest;
    continue;
  undo:
    ix_1 = lf_old_ix_1;
    break;
  }
  *lf_ix_1 = ix_1;
  *from = ix_0, *left_at = left;
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
  if (ix_0 < len_0 && event - steps > 1) {
    u64 count = len_0 - ix_0 - 1;
    count = lf_least(count, lf_room(n_arr_0, ix_0));
    count = lf_least(count, lf_room(n_out_2, ix_0));
    u64 from = ix_0, left = event - steps;
    trapped |= segmented_emit_nest_0_r0(&from, ix_0 + count, &left, arr_0, arr_1, n_arr_1, out_2, out_3, n_out_3, start_2, start_3, len_0, len_1, &ix_1);
    if (ix_0 != from) {
      ix_0 = from;
      steps = event - left;
      goto guard_0;
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
    count = lf_least(count, lf_room(n_arr_1, ix_1));
    count = lf_least(count, lf_room(n_out_3, ix_1));
    count = (ix_1 & 7) == 0 ? count & ~7ul : 0;
    if (count != 0) {
      trapped |= segmented_emit_loop_1_r1_0(ix_1, ix_1 + count, arr_1, out_3, end_1, acc_2_lane, acc_3, &acc_3_now, &acc_3_total, &acc_3_last, acc_3_tree);
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
  return outcome;
}

