//! Large results go past the caches: what a loop over more data than they hold writes would only push out
//! what it reads, and each line of it would be read before it is written.
//!
//! The straight function knows nothing of this. It is called for tiles that fit into the first cache, and
//! writes to a tile's memory, which then goes to its place in whole lines, by non-temporal stores.
//!
//! ```text
//! for (u64 left = count; left != 0; left -= n) {
//!   n = lf_least(left, 256);
//!   const u64 lf_at_7 = ix_0;
//!   trapped |= loop_0_loop_0_r0_0(ix_0, ix_0 + n, arr_0, lf_tile_7 - lf_at_7);
//!   ix_0 += n;
//!   lf_stream(out_1 + lf_at_7, lf_tile_7, n);
//! }
//! ```

use super::ops::Helpers;
use super::plan::Plan;
use super::unit::Unit;
use crate::facts;
use livefusion_tile::target::{Extension, Target};
use loop_lang::ir::{RateKind, Var};

/// Bytes that a loop reads and writes in step from which on its results go past the caches. Below, they
/// are better off there: whoever reads them next may find them.
const LARGE: u64 = 4 << 20;

/// Iterations per tile.
const TILE: u64 = 256;

/// Results that are streamed at most: their tiles are on the stack.
const MOST: usize = 8;

/// Writes a call, given what to pass for the arrays.
type Call<'c> = dyn Fn(&Unit, &dyn Fn(Var) -> Option<String>) -> String + 'c;

impl Plan<'_> {
    /// Whether results of this loop are ever streamed.
    pub fn streams(&self, unit: &Unit) -> bool {
        let root = matches!(
            unit.program.rate(self.sweep.rate).kind,
            RateKind::Root { .. }
        );
        let strips = TILE.is_multiple_of(self.strip.max(1));
        root && strips && !self.streamed.is_empty() && self.streamed.len() <= MOST
    }

    /// The number of iterations from which on results are streamed.
    pub fn many(&self, unit: &Unit) -> u64 {
        let size = |a: &Var| facts::elem(unit.program, *a).size() as u64;
        let bytes: u64 = self.sweep.arrays.iter().map(size).sum();
        LARGE / bytes.max(1)
    }

    /// Writes the calls for `count` iterations, tile by tile. `call` is the call of the straight function
    /// up to `n`, given what to pass for the arrays.
    pub fn stream(&self, unit: &mut Unit, call: &Call) {
        let vector = unit.helpers.target.vector_bytes();
        let text = stream(&unit.helpers.target);
        unit.helpers.require("lf_stream", || text);
        let counter = unit.names.var(self.sweep.counter).to_string();
        for s in &self.streamed {
            let bytes = TILE * facts::elem(unit.program, s.array).size() as u64;
            // A whole register may be stored behind the last element.
            let tile = tile(s.array);
            unit.line(format!(
                "u8 {tile}[{bytes} + {vector}] __attribute__((aligned({vector})));"
            ));
        }
        unit.open("for (u64 left = count, n; left != 0; left -= n) {");
        unit.line(format!("n = lf_least(left, {TILE});"));
        for s in &self.streamed {
            let beyond: Vec<String> = s.beyond.iter().map(|a| unit.atom(*a)).collect();
            let index = [std::slice::from_ref(&counter), &beyond]
                .concat()
                .join(" + ");
            unit.line(format!("const u64 {} = {index};", at(s.array)));
        }
        let instead = |a: Var| {
            let s = self.streamed.iter().find(|s| s.array == a)?;
            let ty = facts::elem(unit.program, a);
            let (tile, at) = (tile(s.array), at(s.array));
            Some(format!(
                "({} *)((u64){tile} - {at} * {})",
                ty.name(),
                ty.size()
            ))
        };
        let text = format!("trapped |= {};", call(unit, &instead));
        unit.line(text);
        unit.line(format!("{counter} += n;"));
        for s in &self.streamed {
            let (data, tile, at) = (unit.array(s.array), tile(s.array), at(s.array));
            let size = facts::elem(unit.program, s.array).size();
            unit.line(format!(
                "lf_stream((u8 *)({data} + {at}), {tile}, n * {size});"
            ));
        }
        unit.close();
        // Whoever is told that the loop is done must see all of it.
        fence(unit.helpers);
        unit.line("lf_fence();");
    }
}

fn tile(a: Var) -> String {
    format!("lf_tile_{}", a.index())
}

fn at(a: Var) -> String {
    format!("lf_at_{}", a.index())
}

/// Bytes to where they belong, past the caches as far as they are whole registers.
fn stream(target: &Target) -> String {
    let n = target.vector_bytes();
    let store = match n {
        64 => "__builtin_ia32_movntdq512(p, x)",
        32 => "__builtin_ia32_movntdq256(p, x)",
        _ if target.has(Extension::Sse2) => "__builtin_ia32_movntdq(p, x)",
        _ => "*p = x",
    };
    format!(
        "\
static void lf_stream(u8 *to, const u8 *from, u64 bytes) {{
  typedef long long lf_s __attribute__((vector_size({n})));
  typedef lf_s lf_s_at __attribute__((aligned(1), may_alias));
  u64 at = lf_least(-(u64)to % {n}, bytes);
  __builtin_memcpy(to, from, at);
  for (; bytes - at >= {n}; at += {n}) {{
    const lf_s x = *(const lf_s_at *)(from + at);
    lf_s *p = (lf_s *)(to + at);
#ifdef __clang__
    __builtin_nontemporal_store(x, p);
#else
    {store};
#endif
  }}
  __builtin_memcpy(to + at, from + at, bytes - at);
}}
"
    )
}

fn fence(helpers: &mut Helpers) {
    let fence = match helpers.target.has(Extension::Sse2) {
        true => "__builtin_ia32_sfence",
        false => "__sync_synchronize",
    };
    helpers.require("lf_fence", || {
        format!("static inline void lf_fence(void) {{ {fence}(); }}\n")
    });
}
