//! Zips of streams that advance at different rates, such as filters.
//!
//! The cursors must only produce elements. A cursor has one unpredictable branch per element.
//! Innermost loops without it are derived from such a zip:
//!
//! * For each input, one loop packs its elements into a buffer.
//! * Another loop searches for the position of the last used element.
//! * One loop runs the consumer over as many elements as all buffers have.
//!
//! Rates keep their numbers. A decision for a rate therefore applies to the derived loop that
//! contains it.
//!
//! | module | contents |
//! | --- | --- |
//! | `look` | analyses cursors, and checks that they only produce elements |
//! | `derive` | derives the loops of the inputs and of the consumer |

mod derive;
mod look;

pub use look::Cursor;

use super::{InnerLoop, Region};
use loop_lang::Loop;
use loop_lang::ir::{Atom, Rate, RateId, RateKind, Var};
use loop_lang::types::Const;

/// Holds the zips of a loop.
#[derive(Default)]
pub struct Zips {
    /// The loop with the variables of all derived loops; none without zips.
    pub named: Option<Loop>,
    /// Its roots that are zips.
    pub all: Vec<Zip>,
}

/// Describes a root whose cursors only produce elements, with its derived loops.
pub struct Zip {
    /// The root.
    pub rate: RateId,
    /// Its inputs, in order.
    pub sides: Vec<Side>,
    /// The consumer: at the root's rate, reading the buffers at the counter.
    behind: Derived,
    /// Further limits of the root's counter: the lengths of arrays in memory.
    pub limits: Vec<Atom>,
    /// Flags for the end of inputs, with their values while no input has ended.
    pub ends: Vec<(Var, Const)>,
}

/// Describes one input of a zip.
pub struct Side {
    /// Its cursor.
    pub cursor: Cursor,
    /// The number of elements in its buffers.
    pub count: Var,
    /// The number of elements to find by the search loop.
    pub wanted: Var,
    /// A buffer for each produced value.
    pub buffers: Vec<Var>,
    packs: Derived,
    finds: Derived,
}

/// Holds a derived loop with its made arrays and its executed rate.
struct Derived {
    program: Loop,
    made: Vec<Var>,
    rate: RateId,
}

/// Holds a loop derived from a zip, with its analysis.
pub struct ZipPart<'z> {
    /// The loop.
    pub region: Region<'z>,
    /// The executed rate, an innermost loop.
    pub rate: RateId,
    /// The zip's rates that it contains.
    rates: Vec<RateId>,
}

/// Holds all loops derived from a zip.
pub struct ZipParts<'z> {
    /// The packing and the searching loop of each input.
    pub sides: Vec<(ZipPart<'z>, ZipPart<'z>)>,
    /// The consumer.
    pub behind: ZipPart<'z>,
}

impl Zips {
    /// Finds the zips of a loop.
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
        let names: Vec<derive::SideVars> = (cursors.iter())
            .map(|c| derive::SideVars::of(named, c))
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

    /// Tells whether its loops are innermost loops, and those of the inputs only pack.
    fn runs(&self) -> bool {
        let packs = |side: &Side, part: &ZipPart| {
            let Some(inner_loop) = part.inner_loop() else {
                return false;
            };
            let in_step =
                |(a, i): &(Var, Var)| side.buffers.contains(a) || *i == inner_loop.counter;
            let packs = inner_loop.groups.is_empty() && inner_loop.carried.contains(&side.count);
            packs && inner_loop.proven.iter().all(in_step)
        };
        self.parts().is_some_and(|parts| {
            let sides = self.sides.iter().zip(&parts.sides);
            parts.all().all(|part| !part.needs_scans())
                && sides.into_iter().all(|(side, (part, _))| packs(side, part))
        })
    }

    /// Returns the bytes per element over all buffers.
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

    /// Analyses its derived loops.
    ///
    /// The result is always present for a zip of a region.
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
        region.inner_loop(derived.rate)?;
        let program = region.program;
        // Unused rates have no blocks.
        let blocks = 0..region.facts.blocks.len();
        let rates = blocks.filter_map(|i| region.rate_of_block(i));
        let rates = rates.filter(|r| program.is_within(*r, derived.rate));
        Some(ZipPart {
            rate: derived.rate,
            rates: rates.collect(),
            region,
        })
    }

    /// Tells whether it contains a rate of the zip.
    pub fn has(&self, rate: RateId) -> bool {
        self.rates.contains(&rate)
    }

    /// Returns its innermost loop.
    ///
    /// The result is always present.
    pub fn inner_loop(&self) -> Option<&InnerLoop<'z>> {
        self.region.inner_loop(self.rate)
    }

    /// Tells whether it reads the scan of an earlier loop.
    fn needs_scans(&self) -> bool {
        let (program, facts) = (self.region.program, &self.region.facts);
        let mut scalars = self.inner_loop().into_iter().flat_map(|s| &s.scalars);
        scalars.any(|v| {
            let group = facts.local_group(program, *v);
            group.is_some_and(|(_, _, order)| matches!(order, loop_lang::ir::Order::Prefix(_)))
        })
    }
}

impl<'z> ZipParts<'z> {
    /// Lists all of them.
    ///
    /// A decision for a rate applies to each loop that contains it.
    pub fn all(&self) -> impl Iterator<Item = &ZipPart<'z>> {
        let sides = self.sides.iter().flat_map(|(packs, finds)| [packs, finds]);
        sides.chain([&self.behind])
    }

    /// Returns the loop executed for a rate of the zip.
    ///
    /// It is a packing loop or the consumer.
    pub fn of(&self, rate: RateId) -> Option<&ZipPart<'z>> {
        let sides = self.sides.iter().map(|(packs, _)| packs);
        sides.chain([&self.behind]).find(|part| part.has(rate))
    }
}
