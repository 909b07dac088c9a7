/* Loop both_ways */
/*   0: append at r0 */
/*   1: shift at r0 */
/* Rate r0 */
static __attribute__((noinline)) u64
both_ways_emit_tile_0_r0(const u64 from, const u64 end, const f64 *restrict arr_1, f64 *restrict out_0, f64 *restrict out_1, const u64 n_0, const u64 far_1) {
  u64 trapped = 0;
  for (u64 strip = from; strip < end; strip += 4) {
    #pragma GCC unroll 2
    for (u64 lane = 0ul; lane < 4ul; lane += 2) {
      /* 0: append */
      const u64 ix_0 = (u64)(strip + lane);
      const u64 at_0_first = (u64)(ix_0 - n_0);
      const lf_v2f64 y_0 = *(const lf_v2f64_at *)(arr_1 + at_0_first);
      /* 1: shift */
      const u64 there_1_first = (u64)(ix_0 + far_1);
      const u64 before_1_first = (u64)(ix_0 - far_1);
      const lf_v2f64 a_1 = *(const lf_v2f64_at *)(arr_1 + before_1_first);
      const lf_v2f64 b_1 = *(const lf_v2f64_at *)(arr_1 + there_1_first);
      const lf_v2f64 elt_1 = a_1 + b_1;
      /* 0: append */
      *(lf_v2f64_at *)(out_0 + ix_0) = y_0;
      /* 1: shift */
      *(lf_v2f64_at *)(out_1 + ix_0) = elt_1;
    }
  }
  return trapped;
}

/* Rate r0 */
static __attribute__((noinline)) u64
both_ways_emit_tile_0_r0_1(const u64 from, const u64 end, const f64 *restrict arr_0, const u64 n_arr_0, const f64 *restrict arr_1, const u64 n_arr_1, f64 *restrict out_0, f64 *restrict out_1, const u64 n_0, const u64 last_0, const u64 far_1, const u64 n_1) {
  u64 trapped = 0;
  f64 elt_0;
  f64 c_1;
  for (u64 ix_0 = from; ix_0 < end; ix_0 += 1) {
    /* 0: append */
    const bool first_0 = ix_0 < n_0;
    if (first_0) {
      const u64 back_0 = (u64)(last_0 - ix_0);
      const f64 x_0 = back_0 < n_arr_0 ? arr_0[back_0] : 0;
      elt_0 = x_0;
    } else {
      const u64 at_0 = (u64)(ix_0 - n_0);
      const f64 y_0 = at_0 < n_arr_1 ? arr_1[at_0] : 0;
      elt_0 = y_0;
    }
    /* 1: shift */
    const u64 there_1 = (u64)(ix_0 + far_1);
    const u64 room_1 = (u64)(n_1 - ix_0);
    const bool inside_1 = far_1 < room_1;
    const u64 near_1 = lf_min_u64(ix_0, far_1);
    const u64 before_1 = (u64)(ix_0 - near_1);
    const f64 a_1 = before_1 < n_arr_1 ? arr_1[before_1] : 0;
    if (inside_1) {
      const f64 b_1 = there_1 < n_arr_1 ? arr_1[there_1] : 0;
      c_1 = b_1;
    } else {
      c_1 = 0.5;
    }
    const f64 elt_1 = a_1 + c_1;
    /* 0: append */
    *(out_0 + ix_0) = elt_0;
    /* 1: shift */
    *(out_1 + ix_0) = elt_1;
  }
  return trapped;
}

LF_COLD
i32 both_ways_emit(lf_run *run) {
  const f64 *const arr_0 = run->inputs[0].data;
  const u64 n_arr_0 = run->inputs[0].length;
  const f64 *const arr_1 = run->inputs[1].data;
  const u64 n_arr_1 = run->inputs[1].length;
  const u64 far_1 = run->scalars[2];
  f64 *out_0 = run->made[0].data;
  u64 n_out_0 = run->made[0].length;
  f64 *out_1 = run->made[1].data;
  u64 n_out_1 = run->made[1].length;
  bool more_0 = 0, first_0 = 0, inside_1 = 0;
  u64 n_0 = 0, n_1 = 0, len_0 = 0, last_0 = 0, ix_0 = 0, back_0 = 0, at_0 = 0, there_1 = 0;
  u64 room_1 = 0, near_1 = 0, before_1 = 0, nix_0 = 0;
  f64 elt_0 = 0, x_0 = 0, y_0 = 0, a_1 = 0, c_1 = 0, b_1 = 0, elt_1 = 0;
  n_0 = run->words[2];
  n_1 = run->words[3];
  len_0 = run->words[4];
  last_0 = run->words[5];
  ix_0 = run->words[6];
  u64 position = run->words[0];
  u64 steps = run->words[1];
  const u64 limit = steps + run->budget;
  u64 event = 0; /* the step at which to stop and look */
  u64 trapped = 0;
  i32 outcome = LF_DONE;
  goto resume;

init_0:; /* init_1 */
  /* 0: append */
  n_0 = n_arr_0;
  /* 1: shift */
  n_1 = n_arr_1;
  /* 0: append */
  len_0 = (u64)(n_0 + n_1);
  last_0 = (u64)(n_0 - 1ul);
  if (!run->new_array(run, 0, len_0, 0)) goto no_memory;
  out_0 = run->made[0].data;
  n_out_0 = run->made[0].length;
  /* 1: shift */
  if (!run->new_array(run, 1, len_0, 1)) goto no_memory;
  out_1 = run->made[1].data;
  n_out_1 = run->made[1].length;
  /* 0: append */
  ix_0 = 0ul;
  goto guard_0;

guard_0:; /* guard_1 */
  if (steps >= event || trapped) { position = 1; goto event; }
  if (ix_0 < len_0 && ix_0 >= n_0 && n_1 - ix_0 > far_1 && ix_0 >= far_1) {
    u64 count = lf_least(len_0 - ix_0, event - steps);
    count = lf_least(count, lf_capacity(n_out_0, ix_0));
    count = lf_least(count, lf_capacity(n_out_1, ix_0));
    count = lf_least(count, lf_same_up(ix_0, n_0));
    count = lf_least(count, lf_same_down(n_1 - ix_0, far_1 + 1));
    count = lf_least(count, lf_same_up(ix_0, far_1));
    count = lf_least(count, lf_capacity(n_arr_1, ix_0 - n_0));
    count = lf_least(count, lf_capacity(n_arr_1, ix_0 - far_1));
    count = lf_least(count, lf_capacity(n_arr_1, far_1 + ix_0));
    count &= ~3ul;
    if (count != 0) {
      if (len_0 >= 262144) {
        u8 lf_tile_8[2048 + 16] __attribute__((aligned(16)));
        u8 lf_tile_9[2048 + 16] __attribute__((aligned(16)));
        for (u64 left = count, n; left != 0; left -= n) {
          n = lf_least(left, 256);
          const u64 lf_at_8 = ix_0;
          const u64 lf_at_9 = ix_0;
          trapped |= both_ways_emit_tile_0_r0(ix_0, ix_0 + n, arr_1, (f64 *)((u64)lf_tile_8 - lf_at_8 * 8), (f64 *)((u64)lf_tile_9 - lf_at_9 * 8), n_0, far_1);
          ix_0 += n;
          lf_stream((u8 *)(out_0 + lf_at_8), lf_tile_8, n * 8);
          lf_stream((u8 *)(out_1 + lf_at_9), lf_tile_9, n * 8);
        }
        lf_fence();
      }
      else {
        trapped |= both_ways_emit_tile_0_r0(ix_0, ix_0 + count, arr_1, out_0, out_1, n_0, far_1);
        ix_0 += count;
      }
      steps += count;
      goto guard_0;
    }
  }
  if (ix_0 < len_0) {
    u64 count = lf_least(len_0 - ix_0, event - steps);
    count = lf_least(count, lf_capacity(n_out_0, ix_0));
    count = lf_least(count, lf_capacity(n_out_1, ix_0));
    count = lf_least(count, lf_same_up(ix_0, n_0));
    count = lf_least(count, lf_same_down(n_1 - ix_0, far_1 + 1));
    count = lf_least(count, lf_same_up(ix_0, far_1));
    if (count != 0) {
      trapped |= both_ways_emit_tile_0_r0_1(ix_0, ix_0 + count, n_arr_0 ? arr_0 : (void *)lf_zero, n_arr_0, n_arr_1 ? arr_1 : (void *)lf_zero, n_arr_1, out_0, out_1, n_0, last_0, far_1, n_1);
      ix_0 += count;
      steps += count;
      goto guard_0;
    }
  }
  /* 0: append */
  more_0 = ix_0 < len_0;
  if (!more_0) {
    goto done_0;
  }
  steps += 1;
  goto body_0;

body_0:; /* body_1 */
  /* 0: append */
  first_0 = ix_0 < n_0;
  if (first_0) {
    back_0 = (u64)(last_0 - ix_0);
    x_0 = back_0 < n_arr_0 ? arr_0[back_0] : 0;
    elt_0 = x_0;
  } else {
    at_0 = (u64)(ix_0 - n_0);
    y_0 = at_0 < n_arr_1 ? arr_1[at_0] : 0;
    elt_0 = y_0;
  }
  /* 1: shift */
  there_1 = (u64)(ix_0 + far_1);
  room_1 = (u64)(n_1 - ix_0);
  inside_1 = far_1 < room_1;
  near_1 = lf_min_u64(ix_0, far_1);
  before_1 = (u64)(ix_0 - near_1);
  a_1 = before_1 < n_arr_1 ? arr_1[before_1] : 0;
  if (inside_1) {
    b_1 = there_1 < n_arr_1 ? arr_1[there_1] : 0;
    c_1 = b_1;
  } else {
    c_1 = 0.5;
  }
  elt_1 = a_1 + c_1;
  goto yield_0;

yield_0:; /* yield_1 */
  /* 0: append */
  if (ix_0 < n_out_0) out_0[ix_0] = elt_0;
  /* 1: shift */
  if (ix_0 < n_out_1) out_1[ix_0] = elt_1;
  goto bottom_0;

bottom_0:; /* bottom_1 */
  /* 0: append */
  nix_0 = (u64)(ix_0 + 1ul);
  ix_0 = nix_0;
  goto guard_0;

done_0:; /* done_1 */
  if (trapped) goto event;
  position = LF_END;
  if (trapped) goto event;
  run->results[0] = n_out_0;
  run->results[1] = n_out_1;
  goto out;

event:
  if (trapped) { outcome = LF_TRAPPED; goto out; }
  if (steps == limit) { outcome = LF_PAUSED; goto out; }
  event = limit;

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
  run->words[2] = n_0;
  run->words[3] = n_1;
  run->words[4] = len_0;
  run->words[5] = last_0;
  run->words[6] = ix_0;
  run->made[0].length = n_out_0;
  run->made[1].length = n_out_1;
  return outcome;
}

