/* Loop dot_product */
/*   0: manifest at r0 */
/*   1: manifest at r0 */
/*   2: zip_with at r0 */
/*   3: sum at r0 */
static void dot_product_emit_join_acc_3(u64 *trapped, f64 *restrict lf_out_0, const f64 *restrict lf_from_0) {
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

/* Rate r0 */
static __attribute__((noinline)) u64
dot_product_emit_tile_0_r0(const u64 from, const u64 end, const f64 *restrict arr_0, const f64 *restrict arr_1, f64 *restrict acc_3_lane) {
  u64 trapped = 0;
  lf_v4f64 acc_3_lanes[8];
  #pragma GCC unroll 8
  for (u64 lane = 0ul; lane < 32ul; lane += 4) {
    /* 0: manifest */
    const lf_v4f64 some = *(const lf_v4f64_at *)(acc_3_lane + lane);
    acc_3_lanes[lane / 4] = some;
  }
  for (u64 strip = from; strip < end; strip += 32) {
    #pragma GCC unroll 8
    for (u64 lane_2 = 0ul; lane_2 < 32ul; lane_2 += 4) {
      const u64 ix_0 = (u64)(strip + lane_2);
      const lf_v4f64 acc_3 = acc_3_lanes[lane_2 / 4];
      lf_v4f64 elt_0 = *(const lf_v4f64_at *)(arr_0 + ix_0);
      __asm__("" : "+v"(elt_0));
      /* 1: manifest */
      lf_v4f64 elt_1 = *(const lf_v4f64_at *)(arr_1 + ix_0);
      __asm__("" : "+v"(elt_1));
      /* 2: zip_with */
      const lf_v4f64 elt_2 = elt_0 * elt_1;
      /* 3: sum */
      const lf_v4f64 new_3 = acc_3 + elt_2;
      acc_3_lanes[lane_2 / 4] = new_3;
    }
  }
  #pragma GCC unroll 8
  for (u64 lane_3 = 0ul; lane_3 < 32ul; lane_3 += 4) {
    /* 0: manifest */
    const lf_v4f64 some_2 = acc_3_lanes[lane_3 / 4];
    *(lf_v4f64_at *)(acc_3_lane + lane_3) = some_2;
  }
  return trapped;
}

LF_COLD
i32 dot_product_emit(lf_run *run) {
  const f64 *const arr_0 = run->inputs[0].data;
  const u64 n_arr_0 = run->inputs[0].length;
  const f64 *const arr_1 = run->inputs[1].data;
  const u64 n_arr_1 = run->inputs[1].length;
  const f64 start_3 = lf_f64_of_u64(run->scalars[2]);
  bool same_2 = 0, more_0 = 0;
  u64 len_0 = 0, len_1 = 0, ix_0 = 0, nix_0 = 0;
  f64 acc_3 = 0, elt_0 = 0, elt_1 = 0, elt_2 = 0, new_3 = 0;
  f64 acc_3_lane[32] __attribute__((aligned(64)));
  f64 acc_3_joined = 0;
  len_0 = run->words[2];
  ix_0 = run->words[3];
  acc_3 = lf_f64_of_u64(run->words[4]);
  __builtin_memcpy(acc_3_lane, run->words + 5, 256);
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
  /* 2: zip_with */
  same_2 = len_1 == len_0;
  trapped |= !same_2;
  /* 0: manifest */
  ix_0 = 0ul;
  /* 3: sum */
  acc_3 = start_3;
  lf_fill_32_f64(acc_3_lane, (-0.0));
  goto guard_0;

guard_0:; /* guard_1, guard_2, guard_3 */
  if (steps >= event || trapped) { position = 1; goto event; }
  if (ix_0 < len_0) {
    u64 count = lf_least(len_0 - ix_0, event - steps);
    count = lf_least(count, lf_capacity(n_arr_0, ix_0));
    count = lf_least(count, lf_capacity(n_arr_1, ix_0));
    count &= ~31ul;
    if (ix_0 & 31) count = 0;
    if (count != 0) {
      trapped |= dot_product_emit_tile_0_r0(ix_0, ix_0 + count, arr_0, arr_1, acc_3_lane);
      ix_0 += count;
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

body_0:; /* body_1, body_2, body_3 */
  /* 0: manifest */
  elt_0 = ix_0 < n_arr_0 ? arr_0[ix_0] : 0;
  /* 1: manifest */
  elt_1 = ix_0 < n_arr_1 ? arr_1[ix_0] : 0;
  /* 2: zip_with */
  elt_2 = elt_0 * elt_1;
  /* 3: sum */
  new_3 = acc_3_lane[ix_0 & 31] + elt_2;
  goto yield_0;

yield_0:; /* yield_1, yield_2, yield_3 */
  /* 3: sum */
  acc_3_lane[ix_0 & 31] = new_3;
  goto bottom_0;

bottom_0:; /* bottom_1, bottom_2, bottom_3 */
  /* 0: manifest */
  nix_0 = (u64)(ix_0 + 1ul);
  ix_0 = nix_0;
  goto guard_0;

done_0:; /* done_1, done_2, done_3 */
  if (trapped) goto event;
  position = LF_END;
  acc_3_joined = acc_3;
  { u64 lf_flag = 0; dot_product_emit_join_acc_3(&lf_flag, &acc_3_joined, acc_3_lane); trapped |= lf_flag; }
  if (trapped) goto event;
  run->results[0] = lf_u64_of_f64(acc_3_joined);
  goto out;

event:
  if (trapped) { outcome = LF_TRAPPED; goto out; }
  if (steps != 0 && steps % 16384 == 0) {
    acc_3_joined = acc_3;
    { u64 lf_flag = 0; dot_product_emit_join_acc_3(&lf_flag, &acc_3_joined, acc_3_lane); trapped |= lf_flag; }
    acc_3 = acc_3_joined;
    lf_fill_32_f64(acc_3_lane, (-0.0));
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
  run->words[4] = lf_u64_of_f64(acc_3);
  __builtin_memcpy(run->words + 5, acc_3_lane, 256);
  __builtin_ia32_vzeroupper();
  return outcome;
}

