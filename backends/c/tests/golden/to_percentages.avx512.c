/* Loop to_percentages */
/*   mfst: manifest at mfst */
/*   filt: filter at filt */
/*   map: map at filt */
/* Rate mfst */
static __attribute__((noinline)) u64
to_percentages_emit_tile_0_mfst(const u64 from, const u64 end, const f64 *restrict arr_mfst, f64 *restrict out_map, const f64 least_filt, const f64 factor_map, u64 *restrict lf_ix_filt) {
  u64 trapped = 0;
  u64 ix_filt = *lf_ix_filt;
  for (u64 strip = from; strip < end; strip += 16) {
    #pragma GCC unroll 2
    for (u64 lane = 0ul; lane < 16ul; lane += 8) {
      /* mfst: manifest */
      const u64 ix_mfst = (u64)(strip + lane);
      lf_v8f64 elt_mfst = *(const lf_v8f64_at *)(arr_mfst + ix_mfst);
      __asm__("" : "+v"(elt_mfst));
      /* filt: filter */
      const u8 p_filt = lf_ge_lf_v8f64(elt_mfst, lf_v8f64_all(least_filt));
      const u64 count = __builtin_popcountl(lf_bits_of_u8(p_filt));
      /* map: map */
      const lf_v8f64 elt_map = elt_mfst * lf_v8f64_all(factor_map);
      lf_pack_8_8((void *)(out_map + ix_filt), (lf_8u64)(elt_map), lf_bits_of_u8(p_filt));
      /* filt: filter */
      const u64 next = (u64)(ix_filt + count);
      ix_filt = next;
    }
  }
  *lf_ix_filt = ix_filt;
  return trapped;
}

LF_COLD
i32 to_percentages_emit(lf_run *run) {
  const f64 *const arr_mfst = run->inputs[0].data;
  const u64 n_arr_mfst = run->inputs[0].length;
  const f64 least_filt = lf_f64_of_u64(run->scalars[1]);
  const f64 factor_map = lf_f64_of_u64(run->scalars[2]);
  f64 *out_map = run->made[0].data;
  u64 n_out_map = run->made[0].length;
  bool more_mfst = 0, p_filt = 0;
  u64 len_mfst = 0, ix_mfst = 0, ix_filt = 0, nix_filt = 0, nix_mfst = 0;
  f64 elt_mfst = 0, elt_map = 0;
  len_mfst = run->words[2];
  ix_mfst = run->words[3];
  ix_filt = run->words[4];
  u64 position = run->words[0];
  u64 steps = run->words[1];
  const u64 limit = steps + run->budget;
  u64 event = 0; /* the step at which to stop and look */
  u64 trapped = 0;
  i32 outcome = LF_DONE;
  goto resume;

init_mfst:; /* init_filt, init_map */
  /* mfst: manifest */
  len_mfst = n_arr_mfst;
  /* map: map */
  if (!run->new_array(run, 0, len_mfst, 2)) goto no_memory;
  out_map = run->made[0].data;
  n_out_map = run->made[0].length;
  /* mfst: manifest */
  ix_mfst = 0ul;
  /* filt: filter */
  ix_filt = 0ul;
  goto guard_mfst;

guard_mfst:;
  if (steps >= event || trapped) { position = 1; goto event; }
  if (ix_mfst < len_mfst) {
    u64 count = lf_least(len_mfst - ix_mfst, event - steps);
    count = lf_least(count, lf_capacity(n_arr_mfst, ix_mfst));
    count = lf_least(count, lf_capacity(n_out_map, ix_filt));
    count &= ~15ul;
    if (count != 0) {
      trapped |= to_percentages_emit_tile_0_mfst(ix_mfst, ix_mfst + count, arr_mfst, out_map, least_filt, factor_map, &ix_filt);
      ix_mfst += count;
      steps += count;
      goto guard_mfst;
    }
  }
  /* mfst: manifest */
  more_mfst = ix_mfst < len_mfst;
  if (!more_mfst) {
    goto done_mfst;
  }
  steps += 1;
  goto body_mfst;

body_mfst:;
  /* mfst: manifest */
  elt_mfst = ix_mfst < n_arr_mfst ? arr_mfst[ix_mfst] : 0;
  goto yield_mfst;

yield_mfst:;
  goto guard_filt;

guard_filt:; /* guard_map */
  /* filt: filter */
  p_filt = elt_mfst >= least_filt;
  if (!p_filt) {
    goto bottom_filt;
  }
  goto body_filt;

body_filt:; /* body_map */
  /* map: map */
  elt_map = elt_mfst * factor_map;
  goto yield_filt;

yield_filt:; /* yield_map */
  /* map: map */
  if (ix_filt < n_out_map) out_map[ix_filt] = elt_map;
  /* filt: filter */
  nix_filt = (u64)(ix_filt + 1ul);
  ix_filt = nix_filt;
  goto bottom_filt;

bottom_filt:; /* bottom_map */
  goto bottom_mfst;

bottom_mfst:;
  /* mfst: manifest */
  nix_mfst = (u64)(ix_mfst + 1ul);
  ix_mfst = nix_mfst;
  goto guard_mfst;

done_mfst:; /* done_filt, done_map */
  if (trapped) goto event;
  position = LF_END;
  /* map: map */
  if (ix_filt < n_out_map) n_out_map = ix_filt;
  if (trapped) goto event;
  run->results[0] = n_out_map;
  goto out;

event:
  if (trapped) { outcome = LF_TRAPPED; goto out; }
  if (steps == limit) { outcome = LF_PAUSED; goto out; }
  event = limit;

resume:
  switch (position) {
    case 1: goto guard_mfst;
    default: goto init_mfst;
  }

no_memory: __attribute__((unused));
  outcome = trapped ? LF_TRAPPED : LF_NO_MEMORY;
out:
  run->words[0] = position;
  run->words[1] = steps;
  run->words[2] = len_mfst;
  run->words[3] = ix_mfst;
  run->words[4] = ix_filt;
  run->made[0].length = n_out_map;
  __builtin_ia32_vzeroupper();
  return outcome;
}

