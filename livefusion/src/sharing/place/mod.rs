//! Where each term of a body is let-bound: prune, float, bind.
//!
//! After McDonell et al., "Optimising Purely Functional GPU Programs" (2013), sections 3.2 "Prune shared subterms" and
//! 3.3 "Float shared subterms".
//!
//! Hash-consing has pruned already: a shared subterm is one term. *Floating* walks the terms from users
//! to operands and meets, for each term, the regions of all its uses: the lowest region that dominates
//! them is where it is bound. Regions are the body itself, the two arms of every condition, and the test
//! and step of every scalar loop. A term that only one arm uses stays in that arm, so it is neither
//! computed nor traps on the other; one that may trap and is used in several arms, but nowhere else, is bound
//! in each of them. *Binding* is the order of terms within their regions.

mod show;

use crate::ast::{Body, Term, TermId, may_trap};
use crate::error::ErrorKind;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A region of a body, by position in [`Placement::regions`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RegionId(pub u32);

/// The body itself.
pub const OUTER: RegionId = RegionId(0);

/// A region: where it is and what it binds.
#[derive(Clone, Debug)]
pub struct Region {
    /// The region around it; `OUTER` is its own parent.
    pub parent: RegionId,
    /// Nesting depth.
    pub depth: u32,
    /// Items bound here, in order.
    pub items: Vec<Item>,
}

/// Something bound in a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A term.
    Term(TermId),
    /// A scalar loop.
    Loop(u32),
}

/// Where everything is bound.
#[derive(Clone, Debug)]
pub struct Placement {
    /// Regions; the first is the body.
    pub regions: Vec<Region>,
    /// Regions in which each term is bound; none for terms without a use. More than one only for terms
    /// that may trap: none of these regions is inside of another.
    pub regions_of: Vec<Regions>,
    arms: FxHashMap<(TermId, RegionId), (RegionId, RegionId)>,
    loops: FxHashMap<(u32, RegionId), (RegionId, RegionId)>,
}

/// Mostly one region.
pub type Regions = SmallVec<[RegionId; 1]>;

impl Placement {
    /// Arms (then, else) of a condition that is bound in a region.
    pub fn arms(&self, t: TermId, region: RegionId) -> Option<(RegionId, RegionId)> {
        self.arms.get(&(t, region)).copied()
    }

    /// Regions (test, step) of a scalar loop that is bound in a region.
    pub fn inside_loop(&self, l: u32, region: RegionId) -> Option<(RegionId, RegionId)> {
        self.loops.get(&(l, region)).copied()
    }

    /// The fields of a condition that are bound together in a region, from the first on.
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

/// How deep conditions and scalar loops may nest: below what the Loop language allows, which folds lift by two.
const MAX_DEPTH: u32 = 90;

/// Places the terms that the body's results need.
///
/// Errors: a loop variable used outside of its loop (a leaked expression); conditions nested deeper
/// than 90.
pub fn place(body: &Body) -> Result<Placement, ErrorKind> {
    place_results(body, &body.results)
}

/// Places the terms that some results need.
///
/// Errors: as [`place`].
pub fn place_results(body: &Body, results: &[TermId]) -> Result<Placement, ErrorKind> {
    let mut p = Placer {
        placement: Placement {
            regions: vec![Region {
                parent: OUTER,
                depth: 0,
                items: vec![],
            }],
            regions_of: vec![Regions::new(); body.terms.len()],
            arms: FxHashMap::default(),
            loops: FxHashMap::default(),
        },
        may_trap: trapping_terms(body),
        inside: innermost_loops(body),
        loop_regions: vec![Regions::new(); body.loops.len()],
        first_result: first_results(body),
    };
    for r in results {
        p.used(*r, OUTER);
    }
    for i in (0..body.terms.len()).rev() {
        let t = TermId(i as u32);
        for region in p.placement.regions_of[i].clone() {
            p.float(body, t, region);
        }
        p.float_loop_if_ready(body, t);
        if p.placement
            .regions
            .last()
            .is_some_and(|r| r.depth > MAX_DEPTH)
        {
            return Err(ErrorKind::Malformed {
                expected: format!("conditions nested at most {MAX_DEPTH} deep"),
                got: "deeper ones".into(),
            });
        }
    }
    p.bind(body)?;
    Ok(p.placement)
}

/// Terms whose computation may trap or not end, themselves or through an operand.
fn trapping_terms(body: &Body) -> Vec<bool> {
    let mut traps: Vec<bool> = Vec::with_capacity(body.terms.len());
    for data in &body.terms {
        let here = may_trap(&data.term, data.ty, |t| traps[t.index()]);
        traps.push(here);
    }
    traps
}

/// The innermost loop on whose variables each term depends: loops inside of others have higher numbers.
fn innermost_loops(body: &Body) -> Vec<Option<u32>> {
    let mut inside: Vec<Option<u32>> = Vec::with_capacity(body.terms.len());
    for data in &body.terms {
        let of = |t: &TermId| inside[t.index()];
        let here = match &data.term {
            Term::LoopVar(l, _) => Some(*l),
            Term::Op(_, args) | Term::Flat(args) | Term::Ensure(_, args) => {
                args.iter().filter_map(of).max()
            }
            Term::At { index, .. } => of(index),
            Term::Cond(c, a, b) => [c, a, b].into_iter().filter_map(of).max(),
            Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } | Term::LoopResult(..) => None,
        };
        inside.push(here);
    }
    inside
}

/// The lowest result term of each loop: floated last of them.
fn first_results(body: &Body) -> Vec<Option<TermId>> {
    let mut first = vec![None; body.loops.len()];
    for (i, t) in body.terms.iter().enumerate() {
        if let Term::LoopResult(l, _) = t.term {
            first[l as usize].get_or_insert(TermId(i as u32));
        }
    }
    first
}

struct Placer {
    placement: Placement,
    may_trap: Vec<bool>,
    /// The innermost loop on whose variables a term depends.
    inside: Vec<Option<u32>>,
    loop_regions: Vec<Regions>,
    first_result: Vec<Option<TermId>>,
}

impl Placer {
    fn region(&mut self, parent: RegionId) -> RegionId {
        let depth = self.placement.regions[parent.0 as usize].depth + 1;
        self.placement.regions.push(Region {
            parent,
            depth,
            items: vec![],
        });
        RegionId(self.placement.regions.len() as u32 - 1)
    }

    /// The lowest region around both.
    fn meet(&self, mut a: RegionId, mut b: RegionId) -> RegionId {
        let region = |r: RegionId| &self.placement.regions[r.0 as usize];
        while a != b {
            if region(a).depth >= region(b).depth {
                a = region(a).parent;
            } else {
                b = region(b).parent;
            }
        }
        a
    }

    fn used(&mut self, t: TermId, at: RegionId) {
        let regions = std::mem::take(&mut self.placement.regions_of[t.index()]);
        self.placement.regions_of[t.index()] = match (regions.first(), self.inside[t.index()]) {
            _ if self.may_trap[t.index()] => self.cover(regions, at),
            (_, Some(l)) => self.meet_inside(regions, at, l),
            (Some(r), None) => Regions::from_elem(self.meet(*r, at), 1),
            (None, None) => Regions::from_elem(at, 1),
        };
    }

    /// A loop that may not end is bound in several regions if it is used in several arms: what depends on
    /// its variables is bound once in each.
    fn meet_inside(&self, mut regions: Regions, at: RegionId, l: u32) -> Regions {
        for r in &mut regions {
            let met = self.meet(*r, at);
            if self.is_inside(l, met) {
                *r = met;
                return regions;
            }
        }
        regions.push(at);
        regions
    }

    /// What may trap is bound only where it is computed anyway: a use covers those inside of its region,
    /// and uses in separate arms are bound apart.
    fn cover(&self, mut regions: Regions, at: RegionId) -> Regions {
        if !regions.iter().any(|r| self.meet(*r, at) == *r) {
            regions.retain(|r| self.meet(*r, at) != at);
            regions.push(at);
        }
        regions
    }

    /// Passes a term's region on to its operands.
    fn float(&mut self, body: &Body, t: TermId, region: RegionId) {
        match &body.terms[t.index()].term {
            Term::Param(_) | Term::Lit(_) | Term::Scalar { .. } | Term::LoopVar(..) => {}
            Term::Op(_, args) | Term::Flat(args) | Term::Ensure(_, args) => {
                args.iter().for_each(|a| self.used(*a, region));
            }
            Term::At { index, .. } => self.used(*index, region),
            Term::Cond(c, a, b) => {
                let arms = match self.arms_of_next(body, t, *c, region) {
                    Some(arms) => arms,
                    None => (self.region(region), self.region(region)),
                };
                self.placement.arms.insert((t, region), arms);
                self.used(*c, region);
                self.used(*a, arms.0);
                self.used(*b, arms.1);
            }
            Term::LoopResult(l, _) => {
                let regions = std::mem::take(&mut self.loop_regions[*l as usize]);
                self.loop_regions[*l as usize] = self.cover(regions, region);
            }
        }
    }

    /// The fields of one condition on tuples are neighbouring terms with one test: they share their
    /// arms, so that what the fields have in common stays in the arm.
    fn arms_of_next(
        &self,
        body: &Body,
        t: TermId,
        test: TermId,
        region: RegionId,
    ) -> Option<(RegionId, RegionId)> {
        for next in t.0 + 1..body.terms.len() as u32 {
            match body.terms[next as usize].term {
                // A field that uses this one comes after it.
                Term::Cond(c, a, b) if c == test && a != t && b != t => {}
                _ => return None,
            }
            if !self.placement.is_unused(TermId(next)) {
                return self.placement.arms(TermId(next), region);
            }
        }
        None
    }

    /// Floats what a loop uses, once all uses of its results are known: after the lowest of them.
    fn float_loop_if_ready(&mut self, body: &Body, t: TermId) {
        let Term::LoopResult(l, _) = body.terms[t.index()].term else {
            return;
        };
        if self.first_result[l as usize] != Some(t) {
            return;
        }
        let scalar_loop = &body.loops[l as usize];
        for region in self.loop_regions[l as usize].clone() {
            // The step runs after the test of the same iteration and sees what it has bound.
            let test = self.region(region);
            let step = self.region(test);
            self.placement.loops.insert((l, region), (test, step));
            scalar_loop.start.iter().for_each(|s| self.used(*s, region));
            self.used(scalar_loop.test, test);
            scalar_loop.next.iter().for_each(|n| self.used(*n, step));
        }
    }

    /// Lists each region's items in dependency order.
    fn bind(&mut self, body: &Body) -> Result<(), ErrorKind> {
        for (i, data) in body.terms.iter().enumerate() {
            let t = TermId(i as u32);
            for region in self.placement.regions_of[i].clone() {
                let item = match data.term {
                    Term::LoopVar(l, _) => {
                        if !self.is_inside(l, region) {
                            return Err(ErrorKind::LeakedExp);
                        }
                        continue;
                    }
                    Term::Param(_) | Term::Lit(_) | Term::LoopResult(..) => continue,
                    Term::Cond(..) if self.is_later_field(t, region) => continue,
                    _ => Item::Term(t),
                };
                self.placement.regions[region.0 as usize].items.push(item);
            }
            // A loop stands where its first result would.
            if let Term::LoopResult(l, _) = data.term
                && self.first_result[l as usize] == Some(t)
            {
                for region in self.loop_regions[l as usize].clone() {
                    self.placement.regions[region.0 as usize]
                        .items
                        .push(Item::Loop(l));
                }
            }
        }
        Ok(())
    }

    /// Whether an earlier term binds the fields of this condition along with its own.
    fn is_later_field(&self, t: TermId, region: RegionId) -> bool {
        let p = &self.placement;
        let arms = p.arms(t, region);
        let earlier = (0..t.0).rev().map(TermId);
        earlier
            .take_while(|k| p.is_unused(*k) || p.arms(*k, region).is_some())
            .any(|k| !p.is_unused(k) && p.arms(k, region) == arms)
    }

    /// Whether a region is the inside of a loop, or inside of that.
    fn is_inside(&self, l: u32, region: RegionId) -> bool {
        let mut at = region;
        while at != OUTER {
            let parent = self.placement.regions[at.0 as usize].parent;
            if self
                .placement
                .inside_loop(l, parent)
                .is_some_and(|(test, _)| test == at)
            {
                return true;
            }
            at = parent;
        }
        false
    }
}
