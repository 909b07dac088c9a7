//! Growing arrays: they begin short and grow between spans.
//!
//! The only bound on their length is a loose one. The result of a filter, for example, has the
//! capacity of its input. If that capacity is large, the array begins small, and each span has only
//! as many steps as the current capacity allows. So memory and its limits count the kept elements.
//!
//! Compiled code is unaffected: it reads the length of each array when a span begins.

use crate::frame::Frame;
use crate::kernel::Outcome;
use crate::memory::Memory;
use loop_lang::ir::CombId;
use loop_lang::types::Ty;
use smallvec::SmallVec;
use std::sync::Arc;

/// Describes an array that may begin short.
///
/// All its elements are written at a count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Growing {
    /// The array's slot.
    pub slot: usize,
    /// The word of the count.
    pub count: usize,
    /// The maximum increase of the count in one step.
    pub most: u64,
    /// The combinator that makes it.
    pub comb: CombId,
}

/// Holds the arrays of a frame that may begin short, and those that did.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    /// None if there are none: an empty list would have a count of references.
    may: Option<Arc<[Growing]>>,
    /// The initial size of a short array in bytes.
    first: u64,
    short: SmallVec<[Short; 2]>,
    grown: u64,
}

/// An array that began short.
#[derive(Clone, Copy, Debug)]
struct Short {
    of: Growing,
    ty: Ty,
    /// The upper bound on its length.
    bound: u64,
    /// The number of elements taken from the run's memory so far.
    taken: u64,
}

/// Extra capacity in elements: a pause may fall between an element's write and its count.
const MARGIN: u64 = 8;

impl Growth {
    /// Allows these arrays to begin with a capacity of `first` bytes.
    pub fn new(may: Arc<[Growing]>, first: u64) -> Growth {
        Growth {
            may: Some(may),
            first,
            short: SmallVec::new(),
            grown: 0,
        }
    }

    /// Forgets all arrays.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.may = None;
        self.short.clear();
        self.grown = 0;
    }

    fn may(&self) -> &[Growing] {
        self.may.as_deref().unwrap_or_default()
    }

    /// Returns whether some array may begin short.
    #[inline]
    pub fn may_be_on(&self) -> bool {
        self.may.is_some()
    }

    /// Returns how often an array grew.
    #[inline]
    pub fn grown(&self) -> u64 {
        self.grown
    }

    /// Returns whether some array began short.
    pub fn is_on(&self) -> bool {
        !self.short.is_empty()
    }

    /// Returns the combinators whose arrays began short.
    #[inline]
    pub fn makers(&self) -> impl Iterator<Item = CombId> {
        self.short.iter().map(|short| short.of.comb)
    }

    /// Returns the steps that a run may take before it makes its arrays: their first capacity
    /// suffices for these.
    fn before(&self) -> u64 {
        let most = self.may().iter().map(|g| g.most).max();
        most.map_or(u64::MAX, |most| (self.first / 8 / most.max(1)).max(1))
    }

    /// Returns the initial length of a slot's new array, and takes its memory.
    ///
    /// Returns `None` if there is no memory for it.
    pub fn begin(&mut self, slot: usize, ty: Ty, len: u64, memory: &mut Memory) -> Option<usize> {
        let size = ty.size() as u64;
        let bytes = len.saturating_mul(size);
        let of = self.may().iter().find(|g| g.slot == slot).copied();
        if let Some(of) = of.filter(|_| bytes > self.first || bytes > memory.left()) {
            let capacity = self.before().saturating_mul(of.most) + MARGIN;
            self.short.push(Short {
                of,
                ty,
                bound: len,
                taken: 0,
            });
            return usize::try_from(len.min(capacity.max(self.first / size))).ok();
        }
        memory
            .take(bytes)
            .then(|| usize::try_from(len).ok())
            .flatten()
    }
}

impl Frame<'_> {
    /// Returns the steps for which short arrays have capacity.
    ///
    /// A frame that has not begun gets at least one.
    pub fn capacity(&self) -> u64 {
        if self.words.first() == Some(&0) {
            return self.growth.before();
        }
        let capacity = |short: &Short| {
            let len = self.length(short);
            match len >= short.bound {
                true => u64::MAX,
                false => {
                    len.saturating_sub(self.count(short).saturating_add(MARGIN))
                        / short.of.most.max(1)
                }
            }
        };
        self.growth
            .short
            .iter()
            .map(capacity)
            .min()
            .unwrap_or(u64::MAX)
    }

    fn count(&self, short: &Short) -> u64 {
        self.words.get(short.of.count).copied().unwrap_or(0)
    }

    fn length(&self, short: &Short) -> u64 {
        let array = self.arrays.get(short.of.slot).and_then(Option::as_ref);
        array.map_or(0, |a| a.len() as u64)
    }

    /// Grows the short arrays to hold `steps` more steps, or to twice their length.
    ///
    /// The elements kept so far are charged to the run's memory.
    ///
    /// # Errors
    ///
    /// [`Outcome::NoMemory`] if the memory does not suffice.
    pub fn grow(&mut self, steps: u64) -> Result<(), Outcome> {
        for at in 0..self.growth.short.len() {
            let short = self.growth.short[at];
            let (size, len, count) = (
                short.ty.size() as u64,
                self.length(&short),
                self.count(&short),
            );
            let none = |elements: u64| Outcome::NoMemory {
                comb: short.of.comb,
                bytes: elements.saturating_mul(size),
            };
            let more = count.saturating_sub(short.taken);
            if !self.memory.take_kept(more.saturating_mul(size)) {
                return Err(none(more));
            }
            self.growth.short[at].taken += more;
            let needed = steps
                .saturating_mul(short.of.most)
                .saturating_add(count + MARGIN);
            if len >= needed.min(short.bound) {
                continue;
            }
            let most = [
                len.saturating_mul(2),
                len.saturating_add(self.growth.first / size),
                0,
            ];
            let mut longer = most.iter().map(|n| needed.max(*n).min(short.bound));
            if !longer.any(|n| self.lengthen(&short, n - len)) {
                return Err(none(needed.min(short.bound) - len));
            }
        }
        Ok(())
    }

    /// Lengthens an array. Returns `false` and changes nothing if there is no memory for it.
    fn lengthen(&mut self, short: &Short, more: u64) -> bool {
        let bytes = more.saturating_mul(short.ty.size() as u64);
        if !self.memory.take_capacity(bytes) {
            return false;
        }
        let array = self.arrays.get_mut(short.of.slot).and_then(Option::as_mut);
        let more = usize::try_from(more).ok();
        let grown = array.zip(more).is_some_and(|(array, more)| {
            let len = array.len().checked_add(more);
            len.is_some_and(|len| array.grow(len))
        });
        match grown {
            true => self.growth.grown += 1,
            false => self.memory.give_back(bytes),
        }
        grown
    }
}
