//! Large results go past the caches: what a loop over more data than they hold writes would only push out
//! what it reads, and each line of it would be read before it is written.
//!
//! A tile's function knows nothing of this. It is called for as many steps as fit into the first cache, and writes to a
//! little memory, which then goes to its place in whole lines, by non-temporal stores.
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

use crate::emit::ops::Helpers;
use crate::emit::unit::Unit;
use crate::facts;
use livefusion_tile::target::{Extension, Target};
use loop_lang::ir::Var;

/// Iterations per tile, where a turn takes no more.
pub const TILE: u64 = 256;

/// Writes a call of `n` iterations, given what to pass for the arrays.
type Call<'c> = dyn Fn(&Unit, &dyn Fn(Var) -> Option<String>) -> String + 'c;

impl Unit<'_> {
    /// Writes the calls for `count` iterations from a counter on, tile by tile: so many at a time. Each array is written
    /// from an index on. `call` is the call of the straight function.
    pub fn stream(&mut self, counter: &str, tile: u64, streamed: &[(Var, String)], call: &Call) {
        let vector = self.helpers.target.vector_bytes();
        let text = stream(&self.helpers.target);
        self.helpers.require("lf_stream", || text);
        for (array, _) in streamed {
            let bytes = tile * facts::elem(self.program, *array).size() as u64;
            // A whole register may be stored behind the last element.
            let name = tile_of(*array);
            self.line(format!(
                "u8 {name}[{bytes} + {vector}] __attribute__((aligned({vector})));"
            ));
        }
        self.open("for (u64 left = count, n; left != 0; left -= n) {");
        self.line(format!("n = lf_least(left, {tile});"));
        for (array, index) in streamed {
            self.line(format!("const u64 {} = {index};", at(*array)));
        }
        let instead = |a: Var| {
            streamed.iter().find(|(array, _)| *array == a)?;
            let ty = facts::elem(self.program, a);
            let (tile, at) = (tile_of(a), at(a));
            Some(format!(
                "({} *)((u64){tile} - {at} * {})",
                ty.name(),
                ty.size()
            ))
        };
        let text = format!("trapped |= {};", call(self, &instead));
        self.line(text);
        self.line(format!("{counter} += n;"));
        for (array, _) in streamed {
            let (data, tile, at) = (self.array(*array), tile_of(*array), at(*array));
            let size = facts::elem(self.program, *array).size();
            self.line(format!(
                "lf_stream((u8 *)({data} + {at}), {tile}, n * {size});"
            ));
        }
        self.close();
        // Whoever is told that the loop is done must see all of it.
        fence(self.helpers);
        self.line("lf_fence();");
    }
}

fn tile_of(a: Var) -> String {
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
