//! Term placement: finds the let-binding region of each term by pruning, floating and binding.
//!
//! After McDonell et al., "Optimising Purely Functional GPU Programs" (2013), sections 3.2 "Prune shared subterms" and
//! 3.3 "Float shared subterms".
//!
//! Hash-consing has already pruned: a shared subterm is one term. *Floating* (`float`) walks the
//! terms from users to operands and meets, for each term, the regions of all its uses. The term is
//! bound in the lowest region that dominates them. Regions are the body itself, the two arms of
//! every condition, and the test and step of every scalar loop. So a term with uses in only one arm
//! stays in that arm: the other arm neither computes it nor traps on it. *Binding* orders the terms
//! within their regions.
//!
//! A term that may trap floats out of an arm only if it is needed anyway: both arms of a test use
//! it, or the region around them does. A use in the test of a scalar loop counts as one before the
//! loop, since a test runs at least once.
//!
//! Other terms that may trap are used in some arms only. If the arms are few and at most one of
//! them is entered, each binds a copy of the term: that costs no time. Otherwise a guard (`guard`)
//! before the arms computes the term once. The number of bound terms is then proportional to the
//! number of terms, except for tests that guards copy.
//!
//! Two kinds of terms have any number of copies. The first are terms in arms whose test reads or
//! loops, and depends on the term or is in another arm. The second are scalar loops with several
//! results in use. If copies of copies grow too many, the body is placed again with guards wherever
//! they are possible. If these are too many as well, placement fails.

mod float;
mod guard;
mod show;

use crate::ast::{Body, Term, TermId, may_trap};
use crate::error::ErrorKind;
use float::TermPlacer;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Identifies a region of a body by position in [`TermPlacement::regions`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RegionId(pub u32);

/// The number of exclusive arms that may each have a copy of a term, unless copies of copies grow
/// too many.
const MOST_COPIES: usize = 4;

/// Identifies the region of the body itself.
pub const OUTER: RegionId = RegionId(0);

/// Describes a region by its parent and its bindings.
#[derive(Clone, Debug)]
pub struct Region {
    /// The enclosing region. `OUTER` is its own parent.
    pub parent: RegionId,
    /// Nesting depth.
    pub depth: u32,
    /// Items bound here, in order.
    pub items: Vec<RegionItem>,
}

/// Names a binding of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionItem {
    /// A term.
    Term(TermId),
    /// A scalar loop.
    Loop(u32),
}

/// Holds the binding regions of all terms and loops.
#[derive(Clone, Debug, Default)]
pub struct TermPlacement {
    /// Regions; the first is the body.
    pub regions: Vec<Region>,
    /// The regions in which each term is bound, empty for unused terms. Only a term that may trap
    /// and has no guard has several; none of them is inside another.
    pub regions_of: Vec<Regions>,
    arms: FxHashMap<(TermId, RegionId), (RegionId, RegionId)>,
    loops: FxHashMap<(u32, RegionId), (RegionId, RegionId)>,
}

/// Lists regions.
///
/// Usually there is one.
pub type Regions = SmallVec<[RegionId; 1]>;

impl TermPlacement {
    /// Returns the arms (then, else) of a condition that is bound in a region.
    pub fn arms(&self, t: TermId, region: RegionId) -> Option<(RegionId, RegionId)> {
        self.arms.get(&(t, region)).copied()
    }

    /// Returns the regions (test, step) of a loop bound in a region.
    pub fn inside_loop(&self, l: u32, region: RegionId) -> Option<(RegionId, RegionId)> {
        self.loops.get(&(l, region)).copied()
    }

    /// Lists the fields of a condition that are bound together in a region.
    ///
    /// `first` is the first of them.
    pub fn fields_of(&self, first: TermId, region: RegionId) -> Vec<TermId> {
        let arms = self.arms(first, region);
        (first.0..self.regions_of.len() as u32)
            .map(TermId)
            .take_while(|t| self.is_unused(*t) || self.arms(*t, region) == arms)
            .filter(|t| !self.is_unused(*t))
            .collect()
    }

    fn is_unused(&self, t: TermId) -> bool {
        self.regions_of[t.index()].is_empty()
    }
}

/// Holds a placed body.
#[derive(Clone, Debug)]
pub struct PlacedBody<'b> {
    /// The body with guards for terms that several arms share.
    pub body: Cow<'b, Body>,
    /// The requested results.
    pub results: Vec<TermId>,
    /// The placement of all terms.
    pub placement: TermPlacement,
    /// The original term of each term; none if there are no guards.
    origins: Option<Vec<Option<TermId>>>,
}

impl PlacedBody<'_> {
    /// Returns the original term.
    ///
    /// None for a term of a guard.
    pub fn origin(&self, t: TermId) -> Option<TermId> {
        match &self.origins {
            Some(origins) => origins[t.index()],
            None => Some(t),
        }
    }
}

/// Places the terms that the body's results need.
///
/// Errors: as [`place_results`].
pub fn place(body: &Body) -> Result<PlacedBody<'_>, ErrorKind> {
    place_results(body, &body.results, &|_, _| false)
}

/// Places the terms that some results need.
///
/// `traps` tells for a field of a capture whether reading it may trap, at any index.
///
/// Errors: a loop variable used outside its loop (a leaked expression); conditions nested deeper
/// than 90; too many copies of copies in arms.
pub fn place_results<'b>(
    body: &'b Body,
    results: &[TermId],
    traps: &dyn Fn(u32, u32) -> bool,
) -> Result<PlacedBody<'b>, ErrorKind> {
    let within = |most_copies| place_within(body, results, traps, most_copies);
    within(MOST_COPIES).or_else(|_| within(1))
}

/// Places terms with a limit on the copies in exclusive arms.
fn place_within<'b>(
    body: &'b Body,
    results: &[TermId],
    traps: &dyn Fn(u32, u32) -> bool,
    most_copies: usize,
) -> Result<PlacedBody<'b>, ErrorKind> {
    let may_trap = trapping_terms(body, &[], traps);
    let mut p = TermPlacer::new(body, may_trap, Some(vec![]), most_copies);
    p.float_all(body, results)?;
    let mut placed = PlacedBody {
        body: Cow::Borrowed(body),
        results: results.to_vec(),
        placement: TermPlacement::default(),
        origins: None,
    };
    if p.shared.as_ref().is_some_and(|shared| !shared.is_empty()) {
        let guarded = guard::guarded(body, results, &p);
        let may_trap = trapping_terms(&guarded.body, &guarded.origins, traps);
        p = TermPlacer::new(&guarded.body, may_trap, None, 1);
        p.float_all(&guarded.body, &guarded.results)?;
        placed.body = Cow::Owned(guarded.body);
        placed.results = guarded.results;
        placed.origins = Some(guarded.origins);
    }
    p.bind(&placed.body)?;
    placed.placement = p.placement;
    Ok(placed)
}

/// The terms that may trap or diverge, directly or through an operand. Guards, which have no
/// origin, do not.
fn trapping_terms(
    body: &Body,
    origins: &[Option<TermId>],
    reading: &dyn Fn(u32, u32) -> bool,
) -> Vec<bool> {
    let mut traps: Vec<bool> = Vec::with_capacity(body.terms.len());
    for (i, data) in body.terms.iter().enumerate() {
        let is_guard = origins.get(i).is_some_and(Option::is_none);
        let here = match data.term {
            _ if is_guard => false,
            Term::At { capture, field, .. } if reading(capture, field) => true,
            _ => may_trap(&data.term, data.ty, |t| traps[t.index()]),
        };
        traps.push(here);
    }
    traps
}
