//! What is known of a loop and its statements, found once for all who write code.
//!
//! | module | what it finds |
//! | --- | --- |
//! | `sweep` | what a loop rate with only subrates below it does in an iteration, in order |
//! | `find` | which rates are sweeps, and what is said of them |
//! | `order` | the straight order of a rate's blocks |
//! | `nest` | a root whose inner loops are all sweeps |
//! | `role` | how what is carried is updated, as far as several steps may be taken at a time |
//! | `chain` | what goes from one element to the next, beside what vectors do |
//! | `flags` | what it goes on by, step by step |
//! | `extremum` | folds to the largest or smallest float that may be computed again |
//! | `affine` | how words go with a sweep's counter |
//! | `case` | the same under answers to comparisons with the counter |
//! | `streamed` | results that are written in step, and not looked at |
//! | `cost` | how much statements do, and how long one waits for another |
//! | `zip` | roots whose cursors only deliver, and the sweeps that these and the rest are apart from each other |
//! | `show` | nothing: it prints all of this |
//!
//! A region is found in time in proportion to the loop's size.

mod affine;
mod case;
mod chain;
pub mod cost;
mod extremum;
mod find;
mod flags;
mod nest;
mod order;
mod role;
mod show;
mod streamed;
mod sweep;
pub mod zip;

pub use affine::{Affine, Stride, Term};
pub use case::{Case, Cases, Def, Room, Test};
pub use chain::{Chain, Change};
pub use extremum::Extremum;
pub use flags::Flags;
pub use nest::{Inner, Nest, NestPart};
pub use order::Step;
pub use role::Role;
pub use streamed::Streamed;
pub use sweep::{Access, Aside, Effect, Index, Statement, Sweep};
pub use zip::{Zip, Zips};

use livefusion_backend::facts::Facts;
use loop_lang::Loop;
use loop_lang::ir::{ParamKind, Place, RateId, Stmt, StmtKind, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// A loop and what is known of it.
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
/// let sweep = region.sweeps().next().unwrap();
/// assert_eq!(sweep.statements.len(), 4);
/// assert_eq!(sweep.proven.len(), 1);
/// ```
pub struct Region<'a> {
    /// The loop.
    pub program: &'a Loop,
    /// Where its blocks are, who owns which variable, which updates wait.
    pub facts: Facts<'a>,
    /// Arrays that it makes, as the layout numbers them.
    pub made: &'a [Var],
    /// Its sweeps, by rate.
    sweeps: Vec<Option<Sweep<'a>>>,
    /// Its loop rates with others in them, inner ones first.
    nests: Vec<Nest<'a>>,
    /// The arrays that it fills, once somebody has asked.
    filled: OnceCell<FxHashSet<Var>>,
    /// Its roots with cursors, once somebody has asked.
    zips: OnceCell<Zips>,
}

impl<'a> Region<'a> {
    /// What is known of a loop. `made` lists the arrays that the loop makes, as the layout numbers them, and
    /// `held` the layout's held variables; code that never pauses holds none. Errors name what makes the loop
    /// impossible to write down.
    pub fn of(
        program: &'a Loop,
        made: &'a [Var],
        held: &[(Var, usize)],
    ) -> Result<Region<'a>, String> {
        let mut region = Region {
            program,
            facts: Facts::of(program, made, held)?,
            made,
            sweeps: Vec::new(),
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
        let sweeps = rates.map(|r| Sweep::of(&region, &random, r)).collect();
        region.sweeps = sweeps;
        // Inner rates come behind those around them.
        for rate in (0..program.rates.len()).rev().map(RateId::new) {
            let nest = Nest::of(&region, &random, rate);
            region.nests.extend(nest);
        }
        Ok(region)
    }

    /// The sweep of a rate, if it is one.
    pub fn sweep(&self, rate: RateId) -> Option<&Sweep<'a>> {
        self.sweeps.get(rate.index())?.as_ref()
    }

    /// All sweeps, by rate.
    pub fn sweeps(&self) -> impl Iterator<Item = &Sweep<'a>> {
        self.sweeps.iter().flatten()
    }

    /// The loop rates whose children are all loops themselves, inner ones first.
    pub fn nests(&self) -> &[Nest<'a>] {
        &self.nests
    }

    /// A loop in the steps of another, if it is a sweep or a nest.
    pub fn inner(&self, rate: RateId) -> Option<Inner<'_, 'a>> {
        let mut nests = self.nests.iter();
        let nest = || nests.find(|n| n.outer.rate == rate).map(Inner::Nest);
        self.sweep(rate).map(Inner::Sweep).or_else(nest)
    }

    /// The roots whose cursors only deliver.
    pub fn zips(&self) -> &Zips {
        self.zips.get_or_init(|| Zips::of(self))
    }

    /// The arrays that it fills from end to end, and does nothing else with.
    pub fn filled(&self) -> &FxHashSet<Var> {
        self.filled
            .get_or_init(|| loop_lang::filled::filled(self.program))
    }

    /// Which variables are lengths of arrays that the loop is given, from its start on.
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

    /// The rate that a block belongs to.
    pub fn rate_of_block(&self, block: usize) -> Option<RateId> {
        match self.facts.blocks[block].place {
            Place::At { rate, .. } => Some(rate),
            Place::Init | Place::Return => None,
        }
    }

    /// The parameter or made array that an array variable is, or is a slice of.
    pub fn owner(&self, a: Var) -> Var {
        self.facts.owner(self.program, self.made, a)
    }
}
