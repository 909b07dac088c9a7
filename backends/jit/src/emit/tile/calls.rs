//! Which tiles the machine takes, and at which guards; what they are given is brought into registers.

use crate::emit::{Emit, Facet};
use livefusion_backend::facts;
use livefusion_tile::ir::{Entry, Origin, Stmt, StmtKind, Tile, Zip};
use livefusion_tile::lower;
use livefusion_tile::region::{Region, Sweep};
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
    /// The tiles of sweeps, and of roots around some.
    pub sweeps: Vec<Call<'r>>,
    /// Roots whose cursors go through buffers.
    pub zips: Vec<Zip>,
}

/// The tiles of a sweep, or of a root around some.
pub(in crate::emit) struct Call<'r> {
    /// The sweep, or what a root does around its inner sweeps.
    pub sweep: &'r Sweep<'r>,
    /// The inner sweeps of a root. Its steps may be too long for a span, or for what they access; then they are the machine's.
    pub inner: Vec<&'r Sweep<'r>>,
    /// Its tiles, in the order in which they are tried.
    pub tiles: Vec<Tile>,
}

impl<'r> Calls<'r> {
    /// The tiles of all sweeps that are not long, and read no lanes that a loop around them still folds. What another loop has
    /// folded, and ended, is there as a total.
    pub fn of(region: &'r Region<'r>, schedule: &Schedule) -> Calls<'r> {
        let (program, facts) = (region.program, &region.facts);
        let folded_around = |sweep: &Sweep, v: &Var| {
            let group = facts.local_group(program, *v);
            let lanes = group.filter(|(_, _, order)| order.lanes().is_some());
            let by = lanes.and_then(|(g, ..)| facts.lane_rate(g, sweep.rate));
            by.is_some_and(|r| r != sweep.rate && program.is_within(sweep.rate, r))
        };
        let fits = |sweep: &&Sweep| {
            sweep.statements.len() <= MAX_STATEMENTS
                && !sweep.uses.iter().any(|v| folded_around(sweep, v))
        };
        let nested = region.nests().iter();
        let nested = nested.filter(|nest| program.roots.contains(&nest.outer.rate));
        let nested = nested.filter_map(|nest| {
            let all = nest.sweeps(region).into_iter();
            let all = all.map(|sweep| Some(sweep).filter(fits));
            Some(Call {
                sweep: &nest.outer,
                inner: all.collect::<Option<Vec<_>>>()?,
                tiles: lower::nest(region, nest, schedule).ok()?,
            })
        });
        let plain = std::cell::OnceCell::new();
        let plain = || plain.get_or_init(|| choose(region, &Target::plain(), Aim::Start));
        let call = |sweep| {
            let mut tiles = lower::tiles(region, sweep, schedule).unwrap_or_default();
            // Vectors take whole turns; what is left is taken step by step, by one of the tiles where that takes whatever is left.
            let takes_all = |t: &Tile| t.entries.iter().all(|e| matches!(e, Entry::Room { .. }));
            if tiles.iter().any(|t| t.granule() > 1) && !tiles.iter().any(takes_all) {
                tiles.extend(lower::tiles(region, sweep, plain()).unwrap_or_default());
            }
            (!tiles.is_empty()).then_some(Call {
                sweep,
                inner: Vec::new(),
                tiles,
            })
        };
        let sweeps = region.sweeps().filter(fits).filter_map(call);
        let zips = region.zips().all.iter();
        let zips = zips.filter_map(|zip| lower::zip(region, zip, schedule).ok());
        Calls {
            sweeps: sweeps.chain(nested).collect(),
            zips: zips.collect(),
        }
    }

    /// Whether the steps of a loop rate are those of tiles.
    pub fn take(&self, region: &Region, rate: RateId) -> bool {
        let of_zip = |zip: &Zip| region.program.is_within(rate, zip.rate);
        let mut all = self.sweeps.iter().flat_map(Call::all);
        all.any(|sweep| sweep.rate == rate) || self.zips.iter().any(of_zip)
    }
}

impl<'r> Call<'r> {
    /// The sweep, and those inside of it.
    fn all(&self) -> impl Iterator<Item = &'r Sweep<'r>> {
        std::iter::once(self.sweep).chain(self.inner.iter().copied())
    }

    /// The blocks that the machine has not, since it leaves each step that no tile takes to the form that has them.
    pub fn covered(&self) -> impl Iterator<Item = usize> {
        let alone = self.inner.is_empty().then_some(self.sweep);
        alone.into_iter().flat_map(|sweep| sweep.blocks().skip(1))
    }
}

impl Emit<'_, '_> {
    /// Takes the parameters and arrays that tiles use into registers, as far as there are some; others are read where they are
    /// used. Of some arrays nobody asks the length.
    pub(super) fn bring_near<'t>(&mut self, tiles: impl Iterator<Item = &'t Tile>) {
        let (mut floats, mut words) = (0, 0);
        let mut used: FxHashSet<Var> = FxHashSet::default();
        let mut asked: FxHashSet<Var> = FxHashSet::default();
        let mut asks = |s: &Stmt| match &s.kind {
            StmtKind::Gather { array, .. }
            | StmtKind::Put { array, .. }
            | StmtKind::Length { array, .. } => asked.extend([*array]),
            StmtKind::Sort { arrays, .. } => asked.extend(arrays),
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
                (false, _) if asked.contains(v) => {
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
        let calls = Calls::of(&region, &Schedule::new()).sweeps;
        let nested = |r: &RateId| matches!(program.rate(*r).kind, RateKind::Nested { .. });
        let rates: Vec<RateId> = (0..program.rates.len()).map(RateId::new).collect();
        let innermost: Vec<RateId> = rates.into_iter().filter(nested).collect();
        let (roots, sweeps): (Vec<_>, Vec<_>) = calls.iter().partition(|p| !p.inner.is_empty());
        let rates = |all: &[&Call]| all.iter().map(|p| p.sweep.rate).collect::<Vec<_>>();
        assert_eq!(rates(&sweeps), innermost);
        assert_eq!(rates(&roots), program.roots);
        assert!(innermost.len() > 1);
    }
}
