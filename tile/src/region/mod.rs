//! Loop analysis, computed once and shared by all code generators.
//!
//! | module | analysis |
//! | --- | --- |
//! | `inner_loop` | an innermost loop: a loop rate with only subrates inside, as one straight iteration |
//! | `find` | finds the innermost loops and their properties |
//! | `order` | the straight order of a rate's blocks |
//! | `packed` | subrates that may run behind several steps of the rate around them |
//! | `nest` | loop rates whose inner loops are all analysed |
//! | `role` | the update patterns of loop-carried variables, for vectorisation |
//! | `recurrence` | recurrences, separated from vectorisable statements |
//! | `delay` | scans that keep the last element |
//! | `flags` | loop-continuation flags |
//! | `extremum` | min and max folds of floats that can be recomputed |
//! | `affine` | affine values over the loop's counter |
//! | `case` | the same under answers to comparisons with the counter |
//! | `streamed` | results that are stored at the counter and not read |
//! | `cost` | work and latency of statements |
//! | `zip` | roots whose cursors only produce elements, and the loops derived from them |
//! | `show` | text form of the analysis |
//!
//! The analysis takes time linear in the loop's size.

mod affine;
mod case;
pub mod cost;
pub mod delay;
mod extremum;
mod find;
mod flags;
mod inner_loop;
mod nest;
mod order;
mod packed;
mod recurrence;
mod role;
mod show;
mod streamed;
pub mod zip;

pub use affine::{Affine, Stride, Term};
pub use case::{Case, Cases, Def, RequiredCapacity, Test};
pub use extremum::Extremum;
pub use flags::Flags;
pub use inner_loop::{Access, Aside, Effect, Index, InnerLoop, Statement};
pub use nest::{Inner, Nest, NestPart};
pub use order::Step;
pub use packed::Packed;
pub use recurrence::{Change, Recurrence};
pub use role::Role;
pub use streamed::Streamed;
pub use zip::{Zip, Zips};

use livefusion_backend::facts::Facts;
use loop_lang::Loop;
use loop_lang::ir::{ParamKind, Place, RateId, Stmt, StmtKind, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// Holds a loop and its analysis.
///
/// ```
/// use livefusion_tile::region::Region;
/// use loop_lang::state::Layout;
///
/// let mut program = loop_lang::parse::parse(
///     "loop sums\ncomb 0 manifest at r0\nparam xs_0: [i64] stream r0\n\
///      rate r0 root ix_0 < len_0 { stage 0 }\n\
///      init_0:\n  let len_0 = arrayLength xs_0\n  carry ix_0 = 0\n\
///      guard_0:\n  let more_0 = lt ix_0 len_0\n  unless more_0\n\
///      body_0:\n  let x_0 = readArray xs_0 ix_0\n\
///      bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\n\
///      done_0:\n  return\n",
/// )
/// .unwrap();
/// loop_lang::gotos::complete_blocks(&mut program);
/// loop_lang::gotos::derive_gotos(&mut program);
/// let layout = Layout::of(&program);
/// let region = Region::of(&program, &layout.arrays, &layout.held).unwrap();
/// let inner_loop = region.inner_loops().next().unwrap();
/// assert_eq!(inner_loop.statements.len(), 4);
/// assert_eq!(inner_loop.proven.len(), 1);
/// ```
pub struct Region<'a> {
    /// The loop.
    pub program: &'a Loop,
    /// Its block positions, variable owners and pending updates.
    pub facts: Facts<'a>,
    /// Arrays that it makes, in layout order.
    pub made: &'a [Var],
    /// Its innermost loops, by rate.
    inner_loops: Vec<Option<InnerLoop<'a>>>,
    /// Its loop rates with inner loops, inner ones first.
    nests: Vec<Nest<'a>>,
    /// The arrays that it fills, computed lazily.
    filled: OnceCell<FxHashSet<Var>>,
    /// Its zip roots, computed lazily.
    zips: OnceCell<Zips>,
}

impl<'a> Region<'a> {
    /// Analyses a loop.
    ///
    /// `made` lists the arrays that the loop makes, in layout order. `held` lists the layout's held
    /// variables; code that never pauses has none.
    ///
    /// # Errors
    ///
    /// Returns the reason why the loop cannot be expressed as code.
    pub fn of(
        program: &'a Loop,
        made: &'a [Var],
        held: &[(Var, usize)],
    ) -> Result<Region<'a>, String> {
        let mut region = Region {
            program,
            facts: Facts::of(program, made, held)?,
            made,
            inner_loops: Vec::new(),
            nests: Vec::new(),
            filled: OnceCell::new(),
            zips: OnceCell::new(),
        };
        let random = program
            .params
            .iter()
            .filter(|p| p.kind == ParamKind::Random);
        let random: FxHashSet<Var> = random.map(|p| p.var).collect();
        let rates = (0..program.rates.len()).map(RateId::new);
        let inner_loops = rates.map(|r| InnerLoop::of(&region, &random, r)).collect();
        region.inner_loops = inner_loops;
        // Inner rates come after their parents.
        for rate in (0..program.rates.len()).rev().map(RateId::new) {
            let nest = Nest::of(&region, &random, rate);
            region.nests.extend(nest);
        }
        Ok(region)
    }

    /// Returns the innermost loop of a rate, if it is one.
    pub fn inner_loop(&self, rate: RateId) -> Option<&InnerLoop<'a>> {
        self.inner_loops.get(rate.index())?.as_ref()
    }

    /// Lists all innermost loops, by rate.
    pub fn inner_loops(&self) -> impl Iterator<Item = &InnerLoop<'a>> {
        self.inner_loops.iter().flatten()
    }

    /// Lists the loop rates whose children are all loops, inner ones first.
    pub fn nests(&self) -> &[Nest<'a>] {
        &self.nests
    }

    /// Returns an inner loop, if it is an innermost loop or a nest.
    pub fn inner(&self, rate: RateId) -> Option<Inner<'_, 'a>> {
        let mut nests = self.nests.iter();
        let nest = || nests.find(|n| n.outer.rate == rate).map(Inner::Nest);
        self.inner_loop(rate).map(Inner::InnerLoop).or_else(nest)
    }

    /// Returns the roots whose cursors only produce elements.
    pub fn zips(&self) -> &Zips {
        self.zips.get_or_init(|| Zips::of(self))
    }

    /// Lists the arrays that it fills completely and uses for nothing else.
    pub fn filled(&self) -> &FxHashSet<Var> {
        self.filled
            .get_or_init(|| loop_lang::filled::filled(self.program))
    }

    /// Maps variables to given arrays whose lengths they hold from the start.
    pub fn lengths(&self) -> FxHashMap<Var, Var> {
        let start = self.facts.at.get(&Place::Init);
        let stmts = start.map_or(&[][..], |i| &self.facts.blocks[*i].block.stmts);
        let given = |a: Var| self.program.params.iter().any(|p| p.var == a);
        let of = |s: &Stmt| match s.kind {
            StmtKind::ArrayLength(v, a) if given(a) => Some((v, a)),
            _ => None,
        };
        stmts.iter().filter_map(of).collect()
    }

    /// Returns the rate of a block.
    pub fn rate_of_block(&self, block: usize) -> Option<RateId> {
        match self.facts.blocks[block].place {
            Place::At { rate, .. } => Some(rate),
            Place::Init | Place::Return => None,
        }
    }

    /// Returns the parameter or made array that an array variable refers to.
    ///
    /// A slice refers to its base.
    pub fn owner(&self, a: Var) -> Var {
        self.facts.owner(self.program, self.made, a)
    }
}
