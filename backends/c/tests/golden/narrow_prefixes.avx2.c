/* Loop narrow_prefixes */
/*   0: manifest at r0 */
/*   1: scan at r0 */
/* Rate r0 */
static __attribute__((noinline)) u64
narrow_prefixes_emit_tile_0_r0(const u64 from, const u64 end, const f64 *restrict arr_0, f32 *restrict out_1, const f32 start_1, f32 *restrict lf_acc_1_now, const f32 acc_1, f32 *restrict lf_acc_1_total, f32 *restrict lf_acc_1_last) {
  u64 trapped = 0;
  f32 acc_1_now = *lf_acc_1_now;
  f32 acc_1_total = *lf_acc_1_total;
  f32 acc_1_last = *lf_acc_1_last;
  lf_v4f32 acc_1_total_all[4];
  lf_v4f32 acc_1_last_all[4];
  lf_v4f32 acc_1_all[4];
  /* 0: manifest */
  acc_1_total_all[0] = lf_v4f32_all(acc_1_total);
  acc_1_total_all[1] = lf_v4f32_all(acc_1_total);
  acc_1_total_all[2] = lf_v4f32_all(acc_1_total);
  acc_1_total_all[3] = lf_v4f32_all(acc_1_total);
  acc_1_last_all[0] = lf_v4f32_all(acc_1_last);
  acc_1_last_all[1] = lf_v4f32_all(acc_1_last);
  acc_1_last_all[2] = lf_v4f32_all(acc_1_last);
  acc_1_last_all[3] = lf_v4f32_all(acc_1_last);
  acc_1_all[0] = lf_v4f32_all(acc_1_now);
  acc_1_all[1] = lf_v4f32_all(acc_1_now);
  acc_1_all[2] = lf_v4f32_all(acc_1_now);
  acc_1_all[3] = lf_v4f32_all(acc_1_now);
  for (u64 strip = from; strip < end; strip += 32) {
    #pragma GCC unroll 2
    for (u64 lane = 0ul; lane < 32ul; lane += 16) {
      const u64 ix_0 = (u64)(strip + lane);
      lf_v4f64 elt_0_p0 = *(const lf_v4f64_at *)(arr_0 + ix_0);
      __asm__("" : "+v"(elt_0_p0));
      lf_v4f64 elt_0_p1 = *(const lf_v4f64_at *)(arr_0 + ix_0 + 4);
      __asm__("" : "+v"(elt_0_p1));
      lf_v4f64 elt_0_p2 = *(const lf_v4f64_at *)(arr_0 + ix_0 + 8);
      __asm__("" : "+v"(elt_0_p2));
      lf_v4f64 elt_0_p3 = *(const lf_v4f64_at *)(arr_0 + ix_0 + 12);
      __asm__("" : "+v"(elt_0_p3));
      /* 1: scan */
      const lf_v4f32 narrow_1_p0 = __builtin_convertvector(elt_0_p0, lf_v4f32);
      const lf_v4f32 half_1_p0 = narrow_1_p0 * lf_v4f32_all(start_1);
      const lf_v4f32 narrow_1_p1 = __builtin_convertvector(elt_0_p1, lf_v4f32);
      const lf_v4f32 half_1_p1 = narrow_1_p1 * lf_v4f32_all(start_1);
      const lf_v4f32 narrow_1_p2 = __builtin_convertvector(elt_0_p2, lf_v4f32);
      const lf_v4f32 half_1_p2 = narrow_1_p2 * lf_v4f32_all(start_1);
      const lf_v4f32 narrow_1_p3 = __builtin_convertvector(elt_0_p3, lf_v4f32);
      const lf_v4f32 half_1_p3 = narrow_1_p3 * lf_v4f32_all(start_1);
      lf_v4f32 acc_1_sum_p0 = lf_v4f32_scan_add(half_1_p0);
      lf_v4f32 acc_1_sum_p1 = lf_v4f32_scan_add(half_1_p1);
      lf_v4f32 acc_1_sum_p2 = lf_v4f32_scan_add(half_1_p2);
      lf_v4f32 acc_1_sum_p3 = lf_v4f32_scan_add(half_1_p3);
      acc_1_sum_p1 = LF_SHUFFLE(lf_v4i32, acc_1_sum_p0, acc_1_sum_p0, 3, 3, 3, 3) + acc_1_sum_p1;
      acc_1_sum_p3 = LF_SHUFFLE(lf_v4i32, acc_1_sum_p2, acc_1_sum_p2, 3, 3, 3, 3) + acc_1_sum_p3;
      acc_1_sum_p2 = LF_SHUFFLE(lf_v4i32, acc_1_sum_p1, acc_1_sum_p1, 3, 3, 3, 3) + acc_1_sum_p2;
      acc_1_sum_p3 = LF_SHUFFLE(lf_v4i32, acc_1_sum_p1, acc_1_sum_p1, 3, 3, 3, 3) + acc_1_sum_p3;
      const lf_v4f32 chunk_p0 = acc_1_total_all[0] + acc_1_sum_p0;
      const lf_v4f32 new_1_p0 = lf_v4f32_all(acc_1) + chunk_p0;
      const lf_v4f32 chunk_p1 = acc_1_total_all[1] + acc_1_sum_p1;
      const lf_v4f32 new_1_p1 = lf_v4f32_all(acc_1) + chunk_p1;
      const lf_v4f32 chunk_p2 = acc_1_total_all[2] + acc_1_sum_p2;
      const lf_v4f32 new_1_p2 = lf_v4f32_all(acc_1) + chunk_p2;
      const lf_v4f32 chunk_p3 = acc_1_total_all[3] + acc_1_sum_p3;
      const lf_v4f32 new_1_p3 = lf_v4f32_all(acc_1) + chunk_p3;
      const lf_v4f32 end_2_p0 = LF_SHUFFLE(lf_v4i32, acc_1_sum_p3, acc_1_sum_p3, 3, 3, 3, 3);
      const lf_v4f32 end_2_p1 = LF_SHUFFLE(lf_v4i32, acc_1_sum_p3, acc_1_sum_p3, 3, 3, 3, 3);
      const lf_v4f32 end_2_p2 = LF_SHUFFLE(lf_v4i32, acc_1_sum_p3, acc_1_sum_p3, 3, 3, 3, 3);
      const lf_v4f32 end_2_p3 = LF_SHUFFLE(lf_v4i32, acc_1_sum_p3, acc_1_sum_p3, 3, 3, 3, 3);
      const lf_v4f32 total_p0 = acc_1_total_all[0] + end_2_p0;
      acc_1_total_all[0] = total_p0;
      acc_1_last_all[0] = chunk_p0;
      acc_1_all[0] = new_1_p0;
      const lf_v4f32 total_p1 = acc_1_total_all[1] + end_2_p1;
      acc_1_total_all[1] = total_p1;
      acc_1_last_all[1] = chunk_p1;
      acc_1_all[1] = new_1_p1;
      const lf_v4f32 total_p2 = acc_1_total_all[2] + end_2_p2;
      acc_1_total_all[2] = total_p2;
      acc_1_last_all[2] = chunk_p2;
      acc_1_all[2] = new_1_p2;
      const lf_v4f32 total_p3 = acc_1_total_all[3] + end_2_p3;
      acc_1_total_all[3] = total_p3;
      acc_1_last_all[3] = chunk_p3;
      acc_1_all[3] = new_1_p3;
      *(lf_v4f32_at *)(out_1 + ix_0) = new_1_p0;
      *(lf_v4f32_at *)(out_1 + ix_0 + 4) = new_1_p1;
      *(lf_v4f32_at *)(out_1 + ix_0 + 8) = new_1_p2;
      *(lf_v4f32_at *)(out_1 + ix_0 + 12) = new_1_p3;
    }
  }
  /* 0: manifest */
  const f32 end_3 = acc_1_total_all[3][3];
  acc_1_total = end_3;
  const f32 end_4 = acc_1_last_all[3][3];
  acc_1_last = end_4;
  const f32 end_5 = acc_1_all[3][3];
  acc_1_now = end_5;
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
    count = lf_least(count, lf_capacity(n_arr_0, ix_0));
    count = lf_least(count, lf_capacity(n_out_1, ix_0));
    count &= ~31ul;
    if (ix_0 & 15) count = 0;
    if (count != 0) {
      if (len_0 >= 699050) {
        u8 lf_tile_6[1024 + 32] __attribute__((aligned(32)));
        for (u64 left = count, n; left != 0; left -= n) {
          n = lf_least(left, 256);
          const u64 lf_at_6 = ix_0;
          trapped |= narrow_prefixes_emit_tile_0_r0(ix_0, ix_0 + n, arr_0, (f32 *)((u64)lf_tile_6 - lf_at_6 * 4), start_1, &acc_1_now, acc_1, &acc_1_total, &acc_1_last);
          ix_0 += n;
          lf_stream((u8 *)(out_1 + lf_at_6), lf_tile_6, n * 4);
        }
        lf_fence();
      }
      else {
        trapped |= narrow_prefixes_emit_tile_0_r0(ix_0, ix_0 + count, arr_0, out_1, start_1, &acc_1_now, acc_1, &acc_1_total, &acc_1_last);
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
  __builtin_ia32_vzeroupper();
  return outcome;
}

