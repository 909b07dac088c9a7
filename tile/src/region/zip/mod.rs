//! Zips of streams that advance differently (filters, say), whose cursors do no more than deliver.
//!
//! A cursor steps from element to element, with a branch at each that is as good as random. So loops are derived from such
//! a zip that are sweeps: one for each side, which packs what the side delivers into a buffer; one that finds again where
//! the last element lay that was used; and one for what runs behind the cursors, over as many elements as all buffers
//! have. Rates keep their numbers in them, so what is decided for a rate is decided for the sweep that it is part of.
//!
//! | module | room for |
//! | --- | --- |
//! | `look` | what cursors do, and whether that is no more than to deliver |
//! | `derive` | the loops of the sides, and the one behind them |

mod derive;
mod look;

pub use look::Cursor;

use super::{Region, Sweep};
use loop_lang::Loop;
use loop_lang::ir::{Atom, Rate, RateId, RateKind, Var};
use loop_lang::types::Const;

/// The zips of a loop.
#[derive(Default)]
pub struct Zips {
    /// The loop with the variables of what is derived from it; none if there are no zips.
    pub named: Option<Loop>,
    /// Its roots that are zips.
    pub all: Vec<Zip>,
}

/// A root whose cursors only deliver, and the loops that are derived from it.
pub struct Zip {
    /// The root.
    pub rate: RateId,
    /// Its sides, in order.
    pub sides: Vec<Side>,
    /// What runs behind the cursors: at the root's rate, reading the buffers in step.
    behind: Derived,
    /// What the root's counter stays below, beside its bound: arrays in memory end there.
    pub limits: Vec<Atom>,
    /// What tells that a side has ended, and what it is as long as none has.
    pub ends: Vec<(Var, Const)>,
}

/// A side of a zip.
pub struct Side {
    /// Its cursor.
    pub cursor: Cursor,
    /// How many elements are in its buffers.
    pub count: Var,
    /// How many are to be found again.
    pub wanted: Var,
    /// A buffer for each value that it delivers.
    pub buffers: Vec<Var>,
    packs: Derived,
    finds: Derived,
}

/// A loop with the arrays that it makes, and the rate that is run.
struct Derived {
    program: Loop,
    made: Vec<Var>,
    rate: RateId,
}

/// A loop that is derived from a zip, and what is known of it.
pub struct ZipPart<'z> {
    /// The loop.
    pub region: Region<'z>,
    /// The rate that is run, a sweep.
    pub rate: RateId,
    /// The rates of the zip that are in it.
    rates: Vec<RateId>,
}

/// All loops that are derived from a zip.
pub struct ZipParts<'z> {
    /// Of each side, what packs, and what finds.
    pub sides: Vec<(ZipPart<'z>, ZipPart<'z>)>,
    /// What runs behind the cursors.
    pub behind: ZipPart<'z>,
}

impl Zips {
    /// The zips of a loop.
    pub(super) fn of(region: &Region) -> Zips {
        let program = region.program;
        let cursor = |r: &Rate| matches!(r.kind, RateKind::Cursor { .. });
        if !program.rates.iter().any(cursor) {
            return Zips::default();
        }
        let mut named = program.clone();
        let mut all = Vec::new();
        for root in &program.roots {
            let mut with = named.clone();
            let zip = Zip::of(region, &mut with, *root);
            if let Some(zip) = zip.filter(Zip::runs) {
                named = with;
                all.push(zip);
            }
        }
        Zips {
            named: (!all.is_empty()).then_some(named),
            all,
        }
    }
}

impl Zip {
    fn of(region: &Region, named: &mut Loop, root: RateId) -> Option<Zip> {
        let (facts, made) = (&region.facts, region.made);
        let cursors = look::cursors(region.program, facts, root)?;
        let ends = cursors.iter().flat_map(|c| &c.ends);
        let ends = ends.map(|v| Some((*v, look::start(region.program, *v)?)));
        let ends: Vec<(Var, Const)> = ends.collect::<Option<_>>()?;
        let names: Vec<derive::Names> = (cursors.iter())
            .map(|c| derive::Names::of(named, c))
            .collect();
        let (behind, limits) = derive::behind(named, facts, root, (&cursors, &names), &ends)?;
        let sides = cursors.into_iter().zip(names).map(|(cursor, names)| {
            let derived = |program: Loop| Derived {
                program,
                made: made.iter().chain(&names.buffers).copied().collect(),
                rate: cursor.rate,
            };
            Some(Side {
                packs: derived(derive::packs(named, facts, &cursor, &names)?),
                finds: derived(derive::finds(named, facts, &cursor, &names)?),
                count: names.count,
                wanted: names.wanted,
                buffers: names.buffers,
                cursor,
            })
        });
        Some(Zip {
            rate: root,
            sides: sides.collect::<Option<_>>()?,
            behind: Derived {
                program: behind,
                made: made.to_vec(),
                rate: root,
            },
            limits,
            ends,
        })
    }

    /// Whether its loops are sweeps, and those of the sides do no more than to pack.
    fn runs(&self) -> bool {
        let packs = |side: &Side, part: &ZipPart| {
            let Some(sweep) = part.sweep() else {
                return false;
            };
            let in_step = |(a, i): &(Var, Var)| side.buffers.contains(a) || *i == sweep.counter;
            let packs = sweep.groups.is_empty() && sweep.carried.contains(&side.count);
            packs && sweep.proven.iter().all(in_step)
        };
        self.parts().is_some_and(|parts| {
            let sides = self.sides.iter().zip(&parts.sides);
            parts.all().all(|part| !part.needs_scans())
                && sides.into_iter().all(|(side, (part, _))| packs(side, part))
        })
    }

    /// How many bytes the buffers take for each element.
    pub fn bytes(&self) -> u64 {
        let packs = |side: &Side| -> u64 {
            let program = &side.packs.program;
            let sizes = side
                .buffers
                .iter()
                .map(|a| program.ty(*a).elem().size() as u64);
            sizes.sum()
        };
        self.sides.iter().map(packs).sum()
    }

    /// What is known of its loops. There is always an answer for a zip of a region.
    pub fn parts(&self) -> Option<ZipParts<'_>> {
        let sides = self.sides.iter();
        let sides = sides.map(|s| Some((ZipPart::of(&s.packs)?, ZipPart::of(&s.finds)?)));
        Some(ZipParts {
            sides: sides.collect::<Option<_>>()?,
            behind: ZipPart::of(&self.behind)?,
        })
    }
}

impl<'z> ZipPart<'z> {
    fn of(derived: &'z Derived) -> Option<ZipPart<'z>> {
        let region = Region::of(&derived.program, &derived.made, &[]).ok()?;
        region.sweep(derived.rate)?;
        let program = region.program;
        // Rates that are left over have no blocks.
        let blocks = 0..region.facts.blocks.len();
        let rates = blocks.filter_map(|i| region.rate_of_block(i));
        let rates = rates.filter(|r| program.is_within(*r, derived.rate));
        Some(ZipPart {
            rate: derived.rate,
            rates: rates.collect(),
            region,
        })
    }

    /// Whether a rate of the zip is in it.
    pub fn has(&self, rate: RateId) -> bool {
        self.rates.contains(&rate)
    }

    /// The sweep that it runs. There is one.
    pub fn sweep(&self) -> Option<&Sweep<'z>> {
        self.region.sweep(self.rate)
    }

    /// Whether it reads what an earlier loop has scanned.
    fn needs_scans(&self) -> bool {
        let (program, facts) = (self.region.program, &self.region.facts);
        let mut scalars = self.sweep().into_iter().flat_map(|s| &s.scalars);
        scalars.any(|v| {
            let group = facts.local_group(program, *v);
            group.is_some_and(|(_, _, order)| matches!(order, loop_lang::ir::Order::Prefix(_)))
        })
    }
}

impl<'z> ZipParts<'z> {
    /// All of them: what is decided for a rate holds for all that have it.
    pub fn all(&self) -> impl Iterator<Item = &ZipPart<'z>> {
        let sides = self.sides.iter().flat_map(|(packs, finds)| [packs, finds]);
        sides.chain([&self.behind])
    }

    /// The loop that is run for a rate of the zip: what packs, or what runs behind.
    pub fn of(&self, rate: RateId) -> Option<&ZipPart<'z>> {
        let sides = self.sides.iter().map(|(packs, _)| packs);
        sides.chain([&self.behind]).find(|part| part.has(rate))
    }
}
