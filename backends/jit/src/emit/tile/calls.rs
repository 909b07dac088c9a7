//! Which tiles the machine takes, and at which guards; what they are given is brought into registers.

use crate::emit::{Emit, Facet};
use livefusion_backend::facts;
use livefusion_tile::ir::{Entry, Origin, Stmt, StmtKind, Tile, Zip};
use livefusion_tile::lower;
use livefusion_tile::region::{InnerLoop, Region};
use livefusion_tile::schedule::{Aim, Schedule, choose};
use livefusion_tile::target::Target;
use loop_lang::ir::{RateId, Type, Var};
use rustc_hash::FxHashSet;

/// Loops with more statements than this are not written a second time.
const MAX_STATEMENTS: usize = 4096;
/// Parameters that are floats and in registers: some are left for what is computed.
const FLOATS: usize = 10;
/// Addresses, lengths and other parameters that are in registers.
const WORDS: usize = 8;

/// What a loop's machine takes at its guards. Everything else it does itself.
#[derive(Default)]
pub(in crate::emit) struct Calls<'r> {
    /// The tiles of innermost loops, and of roots around some.
    pub inner_loops: Vec<Call<'r>>,
    /// Roots whose cursors go through buffers.
    pub zips: Vec<Zip>,
}

/// The tiles of an innermost loop, or of a root around some.
pub(in crate::emit) struct Call<'r> {
    /// The innermost loop, or what a root does around its inner loops.
    pub inner_loop: &'r InnerLoop<'r>,
    /// The inner loops of a root. Its steps may be too long for a span, or for what they access; then they are the
    /// machine's.
    pub inner: Vec<&'r InnerLoop<'r>>,
    /// Its tiles, in the order in which they are tried.
    pub tiles: Vec<Tile>,
}

impl<'r> Calls<'r> {
    /// The tiles of all innermost loops that are not long, and read no lanes that a loop around them still folds. What
    /// another loop has folded, and ended, is there as a total.
    pub fn of(region: &'r Region<'r>, schedule: &Schedule) -> Calls<'r> {
        let (program, facts) = (region.program, &region.facts);
        let folded_around = |inner_loop: &InnerLoop, v: &Var| {
            let group = facts.local_group(program, *v);
            let lanes = group.filter(|(_, _, order)| order.lanes().is_some());
            let by = lanes.and_then(|(g, ..)| facts.lane_rate(g, inner_loop.rate));
            by.is_some_and(|r| r != inner_loop.rate && program.is_within(inner_loop.rate, r))
        };
        let fits = |inner_loop: &&InnerLoop| {
            inner_loop.statements.len() <= MAX_STATEMENTS
                && !inner_loop.uses.iter().any(|v| folded_around(inner_loop, v))
        };
        let nested = region.nests().iter();
        let nested = nested.filter(|nest| program.roots.contains(&nest.outer.rate));
        let nested = nested.filter_map(|nest| {
            let all = nest.inner_loops(region).into_iter();
            let all = all.map(|inner_loop| Some(inner_loop).filter(fits));
            Some(Call {
                inner_loop: &nest.outer,
                inner: all.collect::<Option<Vec<_>>>()?,
                tiles: lower::nest(region, nest, schedule).ok()?,
            })
        });
        let plain = std::cell::OnceCell::new();
        let plain = || plain.get_or_init(|| choose(region, &Target::plain(), Aim::Start));
        let call = |inner_loop| {
            let mut tiles = lower::tiles(region, inner_loop, schedule).unwrap_or_default();
            // Vectors take whole turns; what is left is taken step by step, by one of the tiles where that takes
            // whatever is left.
            let takes_all = |t: &Tile| {
                t.entries
                    .iter()
                    .all(|e| matches!(e, Entry::Capacity { .. }))
            };
            if tiles.iter().any(|t| t.granule() > 1) && !tiles.iter().any(takes_all) {
                tiles.extend(lower::tiles(region, inner_loop, plain()).unwrap_or_default());
            }
            (!tiles.is_empty()).then_some(Call {
                inner_loop,
                inner: Vec::new(),
                tiles,
            })
        };
        let inner_loops = region.inner_loops().filter(fits).filter_map(call);
        let zips = region.zips().all.iter();
        let zips = zips.filter_map(|zip| lower::zip(region, zip, schedule).ok());
        Calls {
            inner_loops: inner_loops.chain(nested).collect(),
            zips: zips.collect(),
        }
    }

    /// Whether the steps of a loop rate are those of tiles.
    pub fn take(&self, region: &Region, rate: RateId) -> bool {
        let of_zip = |zip: &Zip| region.program.is_within(rate, zip.rate);
        let mut all = self.inner_loops.iter().flat_map(Call::all);
        all.any(|inner_loop| inner_loop.rate == rate) || self.zips.iter().any(of_zip)
    }
}

impl<'r> Call<'r> {
    /// The innermost loop, and those inside of it.
    fn all(&self) -> impl Iterator<Item = &'r InnerLoop<'r>> {
        std::iter::once(self.inner_loop).chain(self.inner.iter().copied())
    }

    /// The blocks that the machine has not, since it leaves each step that no tile takes to the form that has them.
    pub fn covered(&self) -> impl Iterator<Item = usize> {
        let alone = self.inner.is_empty().then_some(self.inner_loop);
        alone
            .into_iter()
            .flat_map(|inner_loop| inner_loop.blocks().skip(1))
    }
}

impl Emit<'_, '_> {
    /// Takes the parameters and arrays that tiles use into registers, as far as there are some; others are read where
    /// they are used. Of some arrays nobody asks the length.
    pub(super) fn bring_near<'t>(&mut self, tiles: impl Iterator<Item = &'t Tile>) {
        let (mut floats, mut words) = (0, 0);
        let mut used: FxHashSet<Var> = FxHashSet::default();
        let mut with_length: FxHashSet<Var> = FxHashSet::default();
        let mut asks = |s: &Stmt| match &s.kind {
            StmtKind::Gather { array, .. }
            | StmtKind::Put { array, .. }
            | StmtKind::Length { array, .. } => with_length.extend([*array]),
            StmtKind::Sort { arrays, .. } => with_length.extend(arrays),
            _ => {}
        };
        for tile in tiles {
            tile.each_stmt(&mut asks);
            let given = tile.each_value().filter_map(|(_, data)| match data.origin {
                Origin::Given(v) => Some(v),
                _ => None,
            });
            let arrays = tile.arrays().into_iter().map(|(a, _)| self.owner(a));
            used.extend(given.chain(arrays));
        }
        let params = self.program.params.iter().map(|p| &p.var);
        let from_outside = params.chain(&self.layout.arrays);
        for v in from_outside.filter(|v| used.contains(v)) {
            let scalar = matches!(self.program.ty(*v), Type::Scalar(_));
            let float = scalar && facts::elem(self.program, *v).is_float();
            let (taken, most, facets): (_, _, &[Facet]) = match (scalar, float) {
                (true, true) => (&mut floats, FLOATS, &[Facet::Value]),
                (true, false) => (&mut words, WORDS, &[Facet::Value]),
                (false, _) if with_length.contains(v) => {
                    (&mut words, WORDS, &[Facet::Data, Facet::Length])
                }
                (false, _) => (&mut words, WORDS, &[Facet::Data]),
            };
            *taken += facets.len();
            if *taken > most {
                continue;
            }
            for facet in facets {
                let value = self.get(*v, *facet);
                self.near.insert((*v, *facet), value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loop_lang::ir::{RateId, RateKind};
    use loop_lang::state::Layout;

    /// A loop over segments that folds each, and then reads what it came to for each element.
    #[test]
    fn loops_that_read_what_others_have_folded_run_without_stops() {
        let text = include_str!("../../../../c/tests/loops/shares.loop");
        let mut program = loop_lang::parse::parse(text).unwrap();
        loop_lang::gotos::derive_gotos(&mut program);
        loop_lang::verify::verify(&program).unwrap();
        let layout = Layout::of(&program);
        let region = Region::of(&program, &layout.arrays, &layout.held).unwrap();
        let calls = Calls::of(&region, &Schedule::new()).inner_loops;
        let nested = |r: &RateId| matches!(program.rate(*r).kind, RateKind::Nested { .. });
        let rates: Vec<RateId> = (0..program.rates.len()).map(RateId::new).collect();
        let innermost: Vec<RateId> = rates.into_iter().filter(nested).collect();
        let (roots, inner_loops): (Vec<_>, Vec<_>) =
            calls.iter().partition(|p| !p.inner.is_empty());
        let rates = |all: &[&Call]| all.iter().map(|p| p.inner_loop.rate).collect::<Vec<_>>();
        assert_eq!(rates(&inner_loops), innermost);
        assert_eq!(rates(&roots), program.roots);
        assert!(innermost.len() > 1);
    }
}
