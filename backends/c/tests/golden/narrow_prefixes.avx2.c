/* Loop narrow_prefixes */
/*   0: manifest at r0 */
/*   1: scan at r0 */
/* Rate r0: ix_0 from `from` to `end`. */
static __attribute__((noinline)) u64
narrow_prefixes_emit_loop_0_r0_0(const u64 from, const u64 end, const f64 *restrict arr_0, f32 *restrict out_1, const f32 start_1, const u64 len_0, const f32 acc_1, f32 *restrict lf_acc_1_now, f32 *restrict lf_acc_1_total, f32 *restrict lf_acc_1_last, f32 *restrict acc_1_tree) {
  u64 trapped = 0;
  f32 acc_1_now = *lf_acc_1_now;
  f32 acc_1_total = *lf_acc_1_total;
  f32 acc_1_last = *lf_acc_1_last;
  lf_f32x8 lf_id_acc_1 = { (-0.0f), (-0.0f), (-0.0f), (-0.0f), (-0.0f), (-0.0f), (-0.0f), (-0.0f) };
  lf_f32x8 lf_start_acc_1 = { acc_1, acc_1, acc_1, acc_1, acc_1, acc_1, acc_1, acc_1 };
  lf_f32x8 lf_total_acc_1 = { acc_1_total, acc_1_total, acc_1_total, acc_1_total, acc_1_total, acc_1_total, acc_1_total, acc_1_total };
  lf_f32x8 lf_last_acc_1 = { acc_1_last, acc_1_last, acc_1_last, acc_1_last, acc_1_last, acc_1_last, acc_1_last, acc_1_last };
  lf_f32x8 lf_now_acc_1 = { acc_1_now, acc_1_now, acc_1_now, acc_1_now, acc_1_now, acc_1_now, acc_1_now, acc_1_now };
  lf_f32x8 lf_tree_0_acc_1, lf_tree_1_acc_1, lf_tree_2_acc_1, lf_tree_3_acc_1;
  for (u64 strip = from; strip < end; strip += 16) {
    f32 lf_new_1[16];
    f32 lf_half_1[16];
    for (u64 lane = 0; lane < 16; lane++) {
      const u64 ix_0 = strip + lane;
      /* 0: manifest */
      bool more_0 = 1;
      f64 elt_0 = arr_0[ix_0];
      /* 1: scan */
      f32 narrow_1 = (f32)elt_0;
      f32 half_1 = narrow_1 * start_1;
      lf_half_1[lane] = half_1;
    }
    union { f32 cell[16]; lf_f32x8 all[2]; } lf_sum_acc_1;
    for (u64 lane = 0; lane < 16; lane++) {
      const u64 ix_0 = strip + lane;
      const f32 half_1 = lf_half_1[lane];
      lf_sum_acc_1.cell[lane] = half_1;
    }
    {
      lf_f32x8 a = lf_sum_acc_1.all[0], b = lf_sum_acc_1.all[1];
      lf_tree_0_acc_1 = b;
      a = LF_SHUFFLE(lf_i32x8, a, lf_id_acc_1, 8, 0, 10, 2, 12, 4, 14, 6) + a;
      b = LF_SHUFFLE(lf_i32x8, b, lf_id_acc_1, 8, 0, 10, 2, 12, 4, 14, 6) + b;
      lf_tree_1_acc_1 = b;
      a = LF_SHUFFLE(lf_i32x8, a, lf_id_acc_1, 8, 9, 1, 1, 12, 13, 5, 5) + a;
      b = LF_SHUFFLE(lf_i32x8, b, lf_id_acc_1, 8, 9, 1, 1, 12, 13, 5, 5) + b;
      lf_tree_2_acc_1 = b;
      a = LF_SHUFFLE(lf_i32x8, a, lf_id_acc_1, 8, 9, 10, 11, 3, 3, 3, 3) + a;
      b = LF_SHUFFLE(lf_i32x8, b, lf_id_acc_1, 8, 9, 10, 11, 3, 3, 3, 3) + b;
      lf_tree_3_acc_1 = a;
      b = LF_SHUFFLE(lf_i32x8, a, a, 7, 7, 7, 7, 7, 7, 7, 7) + b;
      a = lf_total_acc_1 + a;
      lf_last_acc_1 = lf_total_acc_1 + b;
      lf_total_acc_1 = lf_total_acc_1 + LF_SHUFFLE(lf_i32x8, b, b, 7, 7, 7, 7, 7, 7, 7, 7);
      lf_sum_acc_1.all[0] = lf_start_acc_1 + a;
      lf_sum_acc_1.all[1] = lf_start_acc_1 + lf_last_acc_1;
    }
    lf_now_acc_1 = lf_sum_acc_1.all[1];
    for (u64 lane = 0; lane < 16; lane++) lf_new_1[lane] = lf_sum_acc_1.cell[lane];
    for (u64 lane = 0; lane < 16; lane++) {
      const u64 ix_0 = strip + lane;
      const f32 new_1 = lf_new_1[lane];
      out_1[ix_0] = new_1;
      /* 0: manifest */
      u64 nix_0 = (u64)(ix_0 + 1ul);
    }
  }
  acc_1_now = lf_now_acc_1[7];
  acc_1_total = lf_total_acc_1[7];
  acc_1_last = lf_last_acc_1[7];
  acc_1_tree[0] = lf_tree_0_acc_1[6];
  acc_1_tree[1] = lf_tree_1_acc_1[5];
  acc_1_tree[2] = lf_tree_2_acc_1[3];
  acc_1_tree[3] = lf_tree_3_acc_1[7];
  *lf_acc_1_now = acc_1_now;
  *lf_acc_1_total = acc_1_total;
  *lf_acc_1_last = acc_1_last;
  return trapped;
}

LF_COLD
i32 narrow_prefixes_emit(lf_run *run) {
  const f64 *const arr_0 = run->inputs[0].data;
  const u64 n_arr_0 = run->inputs[0].length;
  const f32 start_1 = lf_f32_of_u32((u32)run->scalars[1]);
  f32 *out_1 = run->made[0].data;
  u64 n_out_1 = run->made[0].length;
  bool more_0 = 0;
  u64 len_0 = 0, ix_0 = 0, nix_0 = 0;
  f32 acc_1 = 0, narrow_1 = 0, half_1 = 0, new_1 = 0;
  f64 elt_0 = 0;
  f32 acc_1_now = 0, acc_1_total = 0, acc_1_last = 0;
  f32 acc_1_tree[4];
  len_0 = run->words[2];
  ix_0 = run->words[3];
  acc_1 = lf_f32_of_u32((u32)run->words[4]);
  acc_1_now = lf_f32_of_u32((u32)run->words[5]);
  acc_1_total = lf_f32_of_u32((u32)run->words[6]);
  acc_1_last = lf_f32_of_u32((u32)run->words[7]);
  acc_1_tree[0] = lf_f32_of_u32((u32)run->words[8]);
  acc_1_tree[1] = lf_f32_of_u32((u32)run->words[9]);
  acc_1_tree[2] = lf_f32_of_u32((u32)run->words[10]);
  acc_1_tree[3] = lf_f32_of_u32((u32)run->words[11]);
  u64 position = run->words[0];
  u64 steps = run->words[1];
  const u64 limit = steps + run->budget;
  u64 event = 0; /* the step at which to stop and look */
  u64 trapped = 0;
  i32 outcome = LF_DONE;
  goto resume;

init_0:; /* init_1 */
  /* 0: manifest */
  len_0 = n_arr_0;
  /* 1: scan */
  if (!run->new_array(run, 0, len_0, 1)) goto no_memory;
  out_1 = run->made[0].data;
  n_out_1 = run->made[0].length;
  /* 0: manifest */
  ix_0 = 0ul;
  /* 1: scan */
  acc_1 = start_1;
  acc_1_now = acc_1;
  acc_1_total = acc_1_last = (-0.0f);
  for (u64 k = 0; k < 4; k++) acc_1_tree[k] = (-0.0f);
  goto guard_0;

guard_0:; /* guard_1 */
  if (steps >= event || trapped) { position = 1; goto event; }
  if (ix_0 < len_0) {
    u64 count = lf_least(len_0 - ix_0, event - steps);
    count = lf_least(count, lf_room(n_arr_0, ix_0));
    count = lf_least(count, lf_room(n_out_1, ix_0));
    count = (ix_0 & 15) == 0 ? count & ~15ul : 0;
    if (count != 0) {
      if (len_0 >= 349525) {
        u8 lf_tile_6[1024 + 32] __attribute__((aligned(32)));
        for (u64 left = count, n; left != 0; left -= n) {
          n = lf_least(left, 256);
          const u64 lf_at_6 = ix_0;
          trapped |= narrow_prefixes_emit_loop_0_r0_0(ix_0, ix_0 + n, arr_0, (f32 *)((u64)lf_tile_6 - lf_at_6 * 4), start_1, len_0, acc_1, &acc_1_now, &acc_1_total, &acc_1_last, acc_1_tree);
          ix_0 += n;
          lf_stream((u8 *)(out_1 + lf_at_6), lf_tile_6, n * 4);
        }
        lf_fence();
      }
      else {
        trapped |= narrow_prefixes_emit_loop_0_r0_0(ix_0, ix_0 + count, arr_0, out_1, start_1, len_0, acc_1, &acc_1_now, &acc_1_total, &acc_1_last, acc_1_tree);
        ix_0 += count;
      }
      steps += count;
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

body_0:; /* body_1 */
  /* 0: manifest */
  elt_0 = ix_0 < n_arr_0 ? arr_0[ix_0] : 0;
  /* 1: scan */
  narrow_1 = (f32)elt_0;
  half_1 = narrow_1 * start_1;
  {
    f32 lf_sum_0 = half_1;
    u64 lf_at = ix_0 & 15;
    for (u64 k = 0; k < 4; k++) {
      if (lf_at >> k & 1) {
        lf_sum_0 = acc_1_tree[k] + lf_sum_0;
      } else {
        acc_1_tree[k] = lf_sum_0;
      }
    }
    acc_1_last = acc_1_total + lf_sum_0;
    new_1 = acc_1 + acc_1_last;
    acc_1_now = new_1;
    if (lf_at == 15) acc_1_total = acc_1_last;
  }
  goto yield_0;

yield_0:; /* yield_1 */
  /* 1: scan */
  if (ix_0 < n_out_1) out_1[ix_0] = new_1;
  goto bottom_0;

bottom_0:; /* bottom_1 */
  /* 0: manifest */
  nix_0 = (u64)(ix_0 + 1ul);
  ix_0 = nix_0;
  goto guard_0;

done_0:; /* done_1 */
  if (trapped) goto event;
  position = LF_END;
  if (trapped) goto event;
  run->results[0] = n_out_1;
  run->results[1] = lf_u32_of_f32(acc_1_now);
  goto out;

event:
  if (trapped) { outcome = LF_TRAPPED; goto out; }
  if (steps != 0 && steps % 16384 == 0) {
    acc_1 = acc_1 + acc_1_last;
    acc_1_total = acc_1_last = (-0.0f);
    for (u64 k = 0; k < 4; k++) acc_1_tree[k] = (-0.0f);
  }
  if (steps == limit) { outcome = LF_PAUSED; goto out; }
  event = lf_least(limit, (steps / 16384 + 1) * 16384);

resume:
  switch (position) {
    case 1: goto guard_0;
    default: goto init_0;
  }

no_memory: __attribute__((unused));
  outcome = trapped ? LF_TRAPPED : LF_NO_MEMORY;
out:
  run->words[0] = position;
  run->words[1] = steps;
  run->words[2] = len_0;
  run->words[3] = ix_0;
  run->words[4] = lf_u32_of_f32(acc_1);
  run->words[5] = lf_u32_of_f32(acc_1_now);
  run->words[6] = lf_u32_of_f32(acc_1_total);
  run->words[7] = lf_u32_of_f32(acc_1_last);
  run->words[8] = lf_u32_of_f32(acc_1_tree[0]);
  run->words[9] = lf_u32_of_f32(acc_1_tree[1]);
  run->words[10] = lf_u32_of_f32(acc_1_tree[2]);
  run->words[11] = lf_u32_of_f32(acc_1_tree[3]);
  run->made[0].length = n_out_1;
  return outcome;
}

