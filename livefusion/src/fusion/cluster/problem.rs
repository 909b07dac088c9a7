//! The clustering problem without the graph: items to be put into loops, and what a way to do so costs.
//!
//! Items come in dependency order. Two items may share a loop if the loop has the classes that both
//! touch, no link between them prevents it, and the loop's budget suffices; the loops must not wait for each
//! other in a circle. What crosses from one loop to another is written once and read by each loop that uses
//! it; what is in memory already is read by each loop that uses it. An item that makes arrays may instead be
//! computed in several loops, if it is cheap: see [`again`](super::again).

use super::loops::{Loops, Member};
use super::reason::Reason;
use super::schedule;
use smallvec::SmallVec;

/// Items, classes and fields by position. Everything is finite data: solvers are pure functions of it.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// What is to be put into loops, in dependency order.
    pub items: Vec<Item>,
    /// Length classes; a class comes after its parent.
    pub classes: Vec<Class>,
    /// Columns of data, with their sizes.
    pub fields: Vec<Field>,
}

/// A length class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// A length of its own.
    Root,
    /// Some of the parent's elements: a loop below the parent has it once the item that makes it is inside.
    Sub(usize),
    /// The elements of the parent's segments: a loop that has the parent has it, and reads the lengths.
    Nested {
        /// The class of the segments.
        parent: usize,
        /// The field of their lengths.
        lengths: usize,
    },
}

/// A combinator, or several that are never parted.
#[derive(Clone, Debug, Default)]
pub struct Item {
    /// The classes that its loop must have. None: a delayed scalar, which any loop can compute.
    pub at: SmallVec<[usize; 2]>,
    /// The subrates that it opens.
    pub makes: SmallVec<[usize; 1]>,
    /// The class of segments that its loop must not run over one by one, if there is one: their lengths
    /// are known after it only. The loop's root is this class, or below it.
    pub floor: Option<usize>,
    /// The items that it depends on: each in the same loop or an earlier one.
    pub links: Vec<Link>,
    /// What it consumes in step.
    pub streams: Vec<Stream>,
    /// The fields whose elements it needs.
    pub uses: Vec<usize>,
    /// How much code it is: see [`budget`](super::budget).
    pub weight: u32,
    /// What computing it in one more loop is, if that may be.
    pub again: Option<Box<Again>>,
}

/// What of an item is computed in a further loop, and what that costs.
#[derive(Clone, Debug, Default)]
pub struct Again {
    /// What is computed: all of the item, or of several that are never parted those that make arrays.
    pub part: Item,
    /// What computing it once costs, in bytes read. What it reads there costs besides.
    pub price: u64,
    /// The items of the problem as it was built that the part consists of.
    pub members: SmallVec<[usize; 1]>,
}

/// A dependency on an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The item that comes before.
    pub from: usize,
    /// Why it must be in an earlier loop, if it must.
    pub prevents: Option<Reason>,
    /// Whether what is computed there again must not share the loop either.
    pub apart: bool,
    /// Whether what is made there is for this item alone: a loop that computes the item again computes that
    /// again, too.
    pub alone: bool,
}

/// A column that is consumed in step: made in the same loop, or in memory at a class whose elements the
/// loop visits one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream {
    /// The item that makes it; none if it is in memory from the start.
    pub maker: Option<usize>,
    /// The class at which it is consumed.
    pub class: usize,
}

/// A column of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Field {
    /// Its nominal size; 0 for delayed scalars.
    pub bytes: u64,
    /// The item that makes it; none if it is in memory from the start.
    pub maker: Option<usize>,
    /// Whether it is a result, which is written in any case.
    pub stored: bool,
}

/// What a written byte costs in bytes read: memory is read into the cache before it is written, line by line,
/// and an intermediate takes memory that was used for something else.
pub const WRITE: u64 = 2;

/// What a schedule costs: the fewer bytes the better, then the fewer loops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Cost {
    /// Bytes of everything that each loop reads, twice those of intermediates and results written,
    /// and what is computed again in bytes' worth, all at nominal lengths.
    pub bytes: u64,
    /// Number of loops.
    pub loops: usize,
}

/// Items in loops.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Partition {
    /// The loop of each item.
    pub loop_of: Vec<usize>,
    /// Items with further loops that compute them again, in order.
    pub copies: Vec<(usize, usize)>,
}

/// A partition, and what is known of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Solution {
    /// Its loops are numbered in an order in which they can run.
    pub partition: Partition,
    /// What it costs.
    pub cost: Cost,
    /// No schedule costs less than this.
    pub bound: Cost,
}

impl Solution {
    /// Whether no schedule is better.
    pub fn is_proven(&self) -> bool {
        self.bound == self.cost
    }
}

impl From<Vec<usize>> for Partition {
    /// Each item in one loop.
    fn from(loop_of: Vec<usize>) -> Partition {
        Partition {
            loop_of,
            copies: Vec::new(),
        }
    }
}

impl Partition {
    /// The number of loops.
    pub fn count(&self) -> usize {
        self.loop_of.iter().max().map_or(0, |l| l + 1)
    }

    /// The loops that an item is in: its own, and those that compute it again.
    pub fn loops_of(&self, item: usize) -> impl Iterator<Item = usize> {
        let copies = self.copies_of(item).iter().map(|c| c.1);
        std::iter::once(self.loop_of[item]).chain(copies)
    }

    /// The copies of an item.
    pub fn copies_of(&self, item: usize) -> &[(usize, usize)] {
        let [first, end] = [item, item + 1].map(|i| self.copies.partition_point(|c| c.0 < i));
        &self.copies[first..end]
    }

    /// Every item with the loops that it is in, in the order of the items.
    pub fn members(&self) -> impl Iterator<Item = (Member, usize)> {
        (0..self.loop_of.len()).flat_map(|i| {
            let copies = self.copies_of(i).iter().map(|c| (Member::Copy(c.0), c.1));
            std::iter::once((Member::Home(i), self.loop_of[i])).chain(copies)
        })
    }
}

impl Class {
    /// The class above; none above a root.
    pub fn parent(self) -> Option<usize> {
        match self {
            Class::Root => None,
            Class::Sub(parent) | Class::Nested { parent, .. } => Some(parent),
        }
    }

    /// The field of the lengths of segments, of their elements' class.
    pub fn lengths(self) -> Option<usize> {
        match self {
            Class::Nested { lengths, .. } => Some(lengths),
            _ => None,
        }
    }
}

impl Item {
    /// Adds a dependency; one that prevents fusion outweighs one that does not.
    pub fn link(&mut self, from: usize, prevents: Option<Reason>) {
        match self.links.iter_mut().find(|l| l.from == from) {
            Some(known) => known.prevents = known.prevents.or(prevents),
            None => self.links.push(Link {
                from,
                prevents,
                apart: false,
                alone: false,
            }),
        }
    }

    /// Adds a column that it consumes in step.
    pub fn stream(&mut self, stream: Stream) {
        if !self.streams.contains(&stream) {
            self.streams.push(stream);
        }
    }
}

impl Problem {
    /// The root class of every class.
    pub fn trees(&self) -> Vec<usize> {
        let mut trees: Vec<usize> = Vec::with_capacity(self.classes.len());
        for (c, class) in self.classes.iter().enumerate() {
            trees.push(class.parent().map_or(c, |p| trees[p]));
        }
        trees
    }

    /// How many classes are above each.
    pub fn depths(&self) -> Vec<u32> {
        let mut depths: Vec<u32> = Vec::with_capacity(self.classes.len());
        for class in &self.classes {
            depths.push(class.parent().map_or(0, |p| depths[p] + 1));
        }
        depths
    }

    /// What a member of a loop is: the item, or what is computed of it again.
    pub fn item(&self, member: Member) -> &Item {
        match member {
            Member::Home(i) => &self.items[i],
            Member::Copy(i) => {
                let again = self.items[i].again.as_deref();
                again.map_or(&self.items[i], |a| &a.part)
            }
        }
    }

    /// What computing an item once more costs, if that may be.
    pub fn price_again(&self, item: usize) -> Option<u64> {
        self.items[item].again.as_deref().map(|a| a.price)
    }

    /// What a partition costs; none if it is not allowed.
    pub fn cost(&self, partition: &Partition) -> Option<Cost> {
        let loops = Loops::filled(self, partition)?;
        let copies = partition.copies.iter();
        let prices: Option<Vec<u64>> = copies.map(|(i, _)| self.price_again(*i)).collect();
        let bytes = prices?.into_iter().fold(0, u64::saturating_add);
        schedule::order(self, partition)?;
        Some(Cost {
            bytes: bytes.saturating_add(self.moved(partition, &loops)),
            loops: loops.used(),
        })
    }

    /// What is read, and what is written, in bytes read.
    fn moved(&self, partition: &Partition, loops: &Loops<'_>) -> u64 {
        let mut read: Vec<(usize, usize)> = Vec::new();
        for (member, l) in partition.members() {
            read.extend(self.item(member).uses.iter().map(|f| (*f, l)));
        }
        for l in 0..loops.count() {
            read.extend(loops.lengths_read(l).map(|f| (f, l)));
        }
        read.retain(|(f, l)| self.fields[*f].maker.is_none_or(|m| !loops.has(*l, m)));
        read.sort_unstable();
        read.dedup();
        let mut written: Vec<bool> = self.fields.iter().map(|f| f.stored).collect();
        for (f, _) in &read {
            written[*f] |= self.fields[*f].maker.is_some();
        }
        let reads = read.iter().map(|(f, _)| self.fields[*f].bytes);
        let writes = self.fields.iter().zip(&written).filter(|(_, w)| **w);
        reads
            .chain(writes.map(|(f, _)| f.bytes.saturating_mul(WRITE)))
            .fold(0, u64::saturating_add)
    }
}
