//! The clustering problem, without the graph: items, classes, fields and cost.
//!
//! Items come in dependency order. Two items may share a loop under three conditions: the loop has
//! the classes that both touch, no link between them prevents it, and the loop's budget suffices.
//! The dependencies between loops must be acyclic.
//!
//! A column that crosses from one loop to another is written once, and each consuming loop reads
//! it. A column that is in memory from the start is read by each loop that uses it. A cheap item
//! that makes arrays may be computed in several loops instead: see [`remat`](super::remat).

use super::loops::{Member, OpenLoops};
use super::reason::Reason;
use super::schedule;
use smallvec::SmallVec;

/// Describes a clustering problem.
///
/// Items, classes and fields are referenced by position. All of it is finite data, and solvers are
/// pure functions of it.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The items to partition, in dependency order.
    pub items: Vec<ClusterItem>,
    /// Length classes; a class comes after its parent.
    pub classes: Vec<Class>,
    /// Columns of data, with their sizes.
    pub fields: Vec<DataField>,
}

/// Describes a length class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// An independent length.
    Root,
    /// A subset of the parent's elements. A loop below the parent has this class once it contains
    /// the item that makes it.
    Sub(usize),
    /// The elements of the parent's segments. A loop that has the parent has this class, too, and
    /// reads the lengths.
    Nested {
        /// The class of the segments.
        parent: usize,
        /// The field of their lengths.
        lengths: usize,
    },
    /// One of several roots. A loop that has the parent has them all and runs over them one after
    /// the other.
    Phase(usize),
}

/// Describes a combinator, or several that always share a loop.
#[derive(Clone, Debug, Default)]
pub struct ClusterItem {
    /// The classes that its loop must have. None for a delayed scalar, which any loop can compute.
    pub at: SmallVec<[usize; 2]>,
    /// The subrates that it opens.
    pub makes: SmallVec<[usize; 1]>,
    /// A class of segments that its loop must not iterate segment by segment, if there is one,
    /// because their lengths are known only after the loop. The loop's root is this class or one
    /// below it.
    pub floor: Option<usize>,
    /// Its dependencies: each is in the same loop or an earlier one.
    pub links: Vec<Link>,
    /// The columns that it consumes element by element.
    pub streams: Vec<StreamRead>,
    /// The fields whose elements it needs.
    pub uses: Vec<usize>,
    /// Its code size: see [`budget`](super::budget).
    pub weight: u32,
    /// How to rematerialise it in another loop, if that is allowed.
    pub remat: Option<Box<Remat>>,
}

/// Describes the rematerialisation of an item in another loop.
#[derive(Clone, Debug, Default)]
pub struct Remat {
    /// The part that is recomputed: the whole item, or of a merged item only the members that make
    /// arrays.
    pub part: ClusterItem,
    /// The cost of one recomputation in bytes read, without the columns that it reads.
    pub price: u64,
    /// The items of the original problem that the part consists of.
    pub members: SmallVec<[usize; 1]>,
}

/// Describes a dependency on an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The item that is depended on.
    pub from: usize,
    /// The reason that it must be in an earlier loop, if it must.
    pub prevents: Option<Reason>,
    /// Whether a rematerialised copy of `from` must not share the loop either.
    pub apart: bool,
    /// Whether this item is the only user of `from`. Then a loop that rematerialises the item
    /// rematerialises `from` as well.
    pub alone: bool,
}

/// Describes a column that is consumed element by element.
///
/// Either the same loop produces it, or it is in memory at a class whose elements the loop visits
/// in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamRead {
    /// The item that produces it; none if it is in memory from the start.
    pub maker: Option<usize>,
    /// The class at which it is consumed.
    pub class: usize,
}

/// Describes a column of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DataField {
    /// Its nominal size; 0 for delayed scalars.
    pub bytes: u64,
    /// The item that produces it; none if it is in memory from the start.
    pub maker: Option<usize>,
    /// Whether it is a result, which is always written.
    pub stored: bool,
}

/// Weighs a written byte in bytes read.
///
/// A store reads the cache line before it writes it, and an intermediate displaces other data from
/// memory.
pub const WRITE: u64 = 2;

/// Describes the cost of a schedule.
///
/// Bytes are compared first, then the number of loops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Cost {
    /// Bytes at nominal lengths: all reads of each loop, twice the writes of intermediates and
    /// results, and the byte equivalent of rematerialised operators.
    pub bytes: u64,
    /// Number of loops.
    pub loops: usize,
}

/// Assigns items to loops.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Partition {
    /// The loop of each item.
    pub loop_of: Vec<usize>,
    /// Rematerialised items, each with a further loop that recomputes it, in order.
    pub copies: Vec<(usize, usize)>,
}

/// Holds a partition with its cost and a lower bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Solution {
    /// The partition. Its loops are numbered in an executable order.
    pub partition: Partition,
    /// Its cost.
    pub cost: Cost,
    /// A lower bound on the cost of every schedule.
    pub bound: Cost,
}

impl Solution {
    /// Returns whether the partition is proven optimal.
    pub fn is_proven(&self) -> bool {
        self.bound == self.cost
    }
}

impl From<Vec<usize>> for Partition {
    /// Puts each item into one loop.
    fn from(loop_of: Vec<usize>) -> Partition {
        Partition {
            loop_of,
            copies: Vec::new(),
        }
    }
}

impl Partition {
    /// Returns the number of loops.
    pub fn count(&self) -> usize {
        self.loop_of.iter().max().map_or(0, |l| l + 1)
    }

    /// Lists the loops of an item.
    ///
    /// The first is its own; the others rematerialise it.
    pub fn loops_of(&self, item: usize) -> impl Iterator<Item = usize> {
        let copies = self.copies_of(item).iter().map(|c| c.1);
        std::iter::once(self.loop_of[item]).chain(copies)
    }

    /// Returns the copies of an item.
    pub fn copies_of(&self, item: usize) -> &[(usize, usize)] {
        let [first, end] = [item, item + 1].map(|i| self.copies.partition_point(|c| c.0 < i));
        &self.copies[first..end]
    }

    /// Lists every item with its loops, in the order of the items.
    pub fn members(&self) -> impl Iterator<Item = (Member, usize)> {
        (0..self.loop_of.len()).flat_map(|i| {
            let copies = self.copies_of(i).iter().map(|c| (Member::Copy(c.0), c.1));
            std::iter::once((Member::Original(i), self.loop_of[i])).chain(copies)
        })
    }
}

impl Class {
    /// Returns the class above.
    ///
    /// A root has none.
    pub fn parent(self) -> Option<usize> {
        match self {
            Class::Root => None,
            Class::Sub(parent) | Class::Nested { parent, .. } | Class::Phase(parent) => {
                Some(parent)
            }
        }
    }

    /// Returns the field of the segment lengths, for a class of segment elements.
    pub fn lengths(self) -> Option<usize> {
        match self {
            Class::Nested { lengths, .. } => Some(lengths),
            _ => None,
        }
    }
}

impl ClusterItem {
    /// Adds a dependency.
    ///
    /// A link that prevents fusion overrides one that does not.
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

    /// Adds a column that is consumed element by element.
    pub fn stream(&mut self, stream: StreamRead) {
        if !self.streams.contains(&stream) {
            self.streams.push(stream);
        }
    }
}

impl Problem {
    /// Returns the root class of every class.
    pub fn trees(&self) -> Vec<usize> {
        let mut trees: Vec<usize> = Vec::with_capacity(self.classes.len());
        for (c, class) in self.classes.iter().enumerate() {
            trees.push(class.parent().map_or(c, |p| trees[p]));
        }
        trees
    }

    /// Returns the number of classes above each class.
    pub fn depths(&self) -> Vec<u32> {
        let mut depths: Vec<u32> = Vec::with_capacity(self.classes.len());
        for class in &self.classes {
            depths.push(class.parent().map_or(0, |p| depths[p] + 1));
        }
        depths
    }

    /// Returns the item of a member.
    ///
    /// For a copy it is the rematerialised part.
    pub fn item(&self, member: Member) -> &ClusterItem {
        match member {
            Member::Original(i) => &self.items[i],
            Member::Copy(i) => {
                let remat = self.items[i].remat.as_deref();
                remat.map_or(&self.items[i], |a| &a.part)
            }
        }
    }

    /// Returns the price of rematerialising an item, if that is allowed.
    pub fn remat_price(&self, item: usize) -> Option<u64> {
        self.items[item].remat.as_deref().map(|a| a.price)
    }

    /// Returns the cost of a partition.
    ///
    /// None if the partition is not allowed.
    pub fn cost(&self, partition: &Partition) -> Option<Cost> {
        let loops = OpenLoops::filled(self, partition)?;
        let copies = partition.copies.iter();
        let prices: Option<Vec<u64>> = copies.map(|(i, _)| self.remat_price(*i)).collect();
        let bytes = prices?.into_iter().fold(0, u64::saturating_add);
        schedule::order(self, partition)?;
        Some(Cost {
            bytes: bytes.saturating_add(self.moved(partition, &loops)),
            loops: loops.used(),
        })
    }

    /// Sums the bytes read, and the bytes written weighted by [`WRITE`].
    fn moved(&self, partition: &Partition, loops: &OpenLoops<'_>) -> u64 {
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
