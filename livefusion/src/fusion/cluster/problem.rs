//! The clustering problem without the graph: items to be put into loops, and what a way to do so costs.
//!
//! Items come in dependency order. Two items may share a loop if the loop has the classes that both
//! touch, no link between them prevents it, and the loop's budget suffices; the loops must not wait for each
//! other in a circle. What crosses from one loop to another is written once and read by each loop that uses
//! it; what is in memory already is read by each loop that uses it.

use super::loops::Loops;
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
}

/// A dependency on an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The item that comes before.
    pub from: usize,
    /// Why it must be in an earlier loop, if it must.
    pub prevents: Option<Reason>,
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

/// What a schedule costs: the fewer bytes the better, then the fewer loops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Cost {
    /// Bytes of intermediates and results written, and of everything that each loop reads, at nominal
    /// lengths.
    pub bytes: u64,
    /// Number of loops.
    pub loops: usize,
}

/// Items in loops.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Solution {
    /// The loop of each item; loops are numbered in an order in which they can run.
    pub loop_of: Vec<usize>,
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

impl Class {
    /// The class above; none above a root.
    pub fn parent(self) -> Option<usize> {
        match self {
            Class::Root => None,
            Class::Sub(parent) | Class::Nested { parent, .. } => Some(parent),
        }
    }
}

impl Item {
    /// Adds a dependency; one that prevents fusion outweighs one that does not.
    pub fn link(&mut self, from: usize, prevents: Option<Reason>) {
        match self.links.iter_mut().find(|l| l.from == from) {
            Some(known) => known.prevents = known.prevents.or(prevents),
            None => self.links.push(Link { from, prevents }),
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

    /// What it costs to put each item into the loop of this number; none if that is not allowed.
    pub fn cost(&self, loop_of: &[usize]) -> Option<Cost> {
        let count = loop_of.iter().max().map_or(0, |l| l + 1);
        let mut loops = Loops::new(self);
        loops.open_all(count);
        for (item, l) in loop_of.iter().enumerate() {
            let parted = |k: &Link| k.prevents.is_none() || loop_of[k.from] != *l;
            if !self.items[item].links.iter().all(parted) {
                return None;
            }
            let entry = loops.enter(*l, item)?;
            loops.put(*l, item, &entry);
        }
        schedule::order(self, loop_of)?;
        Some(Cost {
            bytes: self.bytes(&loops),
            loops: loops.used(),
        })
    }

    fn bytes(&self, loops: &Loops<'_>) -> u64 {
        let mut read: Vec<(usize, usize)> = Vec::new();
        for (item, l) in self.items.iter().zip(loops.loop_of()) {
            read.extend(item.uses.iter().map(|f| (*f, *l)));
        }
        for l in 0..loops.count() {
            read.extend(loops.lengths_read(l).map(|f| (f, l)));
        }
        read.retain(|(f, l)| {
            self.fields[*f]
                .maker
                .is_none_or(|m| loops.loop_of()[m] != *l)
        });
        read.sort_unstable();
        read.dedup();
        let mut written: Vec<bool> = self.fields.iter().map(|f| f.stored).collect();
        for (f, _) in &read {
            written[*f] |= self.fields[*f].maker.is_some();
        }
        let reads = read.iter().map(|(f, _)| self.fields[*f].bytes);
        let writes = self.fields.iter().zip(&written).filter(|(_, w)| **w);
        reads
            .chain(writes.map(|(f, _)| f.bytes))
            .fold(0, u64::saturating_add)
    }
}
