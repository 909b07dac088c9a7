//! Reuse of dead arrays: a run makes its arrays in their memory.

use super::{Buffer, Storage, View, skew};
use loop_lang::types::Ty;
use smallvec::SmallVec;

/// Describes the initial elements of an array.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// Unspecified elements: the caller writes every one before it is read.
    Any,
    /// Elements that all equal this canonical word.
    Word(u64),
    /// A copy of this view, up to the array's length.
    Copy(View<'a>),
}

/// Holds arrays that a run may overwrite, by slot of the new array.
///
/// A reused array keeps its capacity when it is [shortened](Buffer::truncate), for the next run.
///
/// ```
/// use livefusion_backend::buffer::{Content, Spare};
/// use livefusion_backend::Buffer;
/// use loop_lang::types::Ty;
/// let old = Buffer::from_vec(vec![1.5f64; 100]);
/// let memory = old.as_ptr();
/// let mut spare = Spare::default();
/// spare.offer(3, old);
/// let zeros = spare.make(3, Ty::F64, 90, Content::Word(0)).expect("no memory is needed");
/// assert_eq!((zeros.as_ptr(), zeros.len(), zeros.get_word(89)), (memory, 90, Some(0)));
/// assert_eq!(spare.used(), 1);
/// ```
#[derive(Debug, Default)]
pub struct Spare {
    by_slot: SmallVec<[(usize, Buffer); 1]>,
    used: u64,
}

impl Spare {
    /// Offers an array's memory to the next array of a slot.
    pub fn offer(&mut self, slot: usize, array: Buffer) {
        self.by_slot.push((slot, array));
    }

    /// Drops the arrays that were not used.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.by_slot.clear();
        self.used = 0;
    }

    /// Returns the number of arrays made in offered memory.
    #[inline]
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Makes the array of a slot.
    ///
    /// Uses the offered memory if its type matches and its capacity suffices. Otherwise drops the
    /// offered array first. Returns `None` if there is no memory for the new one.
    pub fn make(
        &mut self,
        slot: usize,
        ty: Ty,
        len: usize,
        content: Content<'_>,
    ) -> Option<Buffer> {
        let at = self.by_slot.iter().position(|(s, _)| *s == slot);
        let Some((_, offered)) = at.map(|at| self.by_slot.swap_remove(at)) else {
            return content.in_new(ty, len);
        };
        let mut array = offered;
        match array.resize(ty, len) {
            true => {
                content.in_old(&mut array);
                self.used += 1;
            }
            false => {
                drop(array);
                array = content.in_new(ty, len)?;
            }
        }
        array.keeps_capacity = true;
        Some(array)
    }
}

impl Content<'_> {
    fn in_new(self, ty: Ty, len: usize) -> Option<Buffer> {
        match self {
            Content::Any => Buffer::uncleared(ty, len),
            Content::Word(word) => Buffer::fill(ty, len, word),
            Content::Copy(view) => Buffer::copy_of(view),
        }
    }

    fn in_old(self, array: &mut Buffer) {
        match self {
            // Bytes beyond the old length may be invalid `Bool`s.
            Content::Any if array.ty == Ty::Bool => array.set_all(0),
            Content::Any => {}
            Content::Word(word) => array.set_all(word),
            Content::Copy(view) => array.overwrite(view),
        }
    }
}

impl Buffer {
    /// Makes this an array of `len` elements in its memory.
    ///
    /// Returns `false` if the capacity is too small or the type differs. Elements beyond the old
    /// length are only initialised bytes.
    fn resize(&mut self, ty: Ty, len: usize) -> bool {
        if self.ty != ty || len > self.capacity() || self.is_foreign() {
            return false;
        }
        self.far.take();
        if let Storage::Vec { .. } = self.storage {
            let more = len.saturating_sub(self.len) * ty.size();
            // SAFETY: the vector has room for `len` elements; what is behind its own may be
            // uninitialised.
            unsafe {
                let end = self.ptr.add(self.len * ty.size());
                end.write_bytes(0, more);
            }
        }
        self.len = len;
        true
    }

    /// Returns the capacity in elements.
    fn capacity(&self) -> usize {
        match &self.storage {
            Storage::Empty | Storage::Foreign { .. } | Storage::Far { .. } => 0,
            Storage::Block { base, bytes } => (bytes - skew(*base)) / self.ty.size(),
            Storage::Pages(pages) => pages.bytes() / self.ty.size(),
            Storage::Vec { capacity } => *capacity,
        }
    }
}
