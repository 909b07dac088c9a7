//! Arrays whose elements are far: in the memory of a device. They come here when the processor reads them, and stay far
//! otherwise.
//!
//! | state | `storage` | `far` |
//! | --- | --- | --- |
//! | here | any other | empty |
//! | far | `Far`, its `here` empty | set |
//! | both, made here | any other | set: a copy |
//! | both, made far | `Far`, its `here` set: a copy | set |
//!
//! What is shared is not changed, so copies stay true: whoever changes a buffer has it alone, and drops the far copy first.

use super::{Buffer, DANGLING, Storage};
use loop_lang::types::{Ty, canonical};
use std::any::Any;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::OnceLock;

/// Memory that is not the processor's, with an array's elements in it. Places are in bytes.
pub trait Far: Any + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Copies bytes here.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn read(&self, at: usize, to: &mut [u8]) -> Result<(), String>;

    /// Copies bytes there.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn write(&mut self, at: usize, from: &[u8]) -> Result<(), String>;

    /// How many bytes it takes.
    fn bytes(&self) -> usize;
}

/// Why an array did not come here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FarError {
    /// There is no memory for so many bytes here.
    #[error("no memory for {0} bytes")]
    Memory(u64),
    /// The device failed.
    #[error("{0}")]
    Device(String),
}

impl Buffer {
    /// An array of `len` elements that are far. A `Bool` there is a byte 0 or 1.
    ///
    /// None if the memory is too small for them.
    pub fn from_far(ty: Ty, len: usize, far: Box<dyn Far>) -> Option<Buffer> {
        let fits = len.checked_mul(ty.size())? <= far.bytes();
        fits.then(|| Buffer {
            ty,
            len,
            ptr: DANGLING,
            storage: Storage::Far {
                here: OnceLock::new(),
            },
            keeps_room: false,
            far: OnceLock::from(far),
        })
    }

    /// Whether its elements are far and have not come here yet.
    #[inline]
    pub fn is_far(&self) -> bool {
        matches!(&self.storage, Storage::Far { here } if here.get().is_none())
    }

    /// Its memory elsewhere, with all elements in it: where it was made, or a copy.
    pub fn far(&self) -> Option<&dyn Far> {
        self.far.get().map(Box::as_ref)
    }

    /// The same to be written, if the elements are nowhere else.
    pub fn far_mut(&mut self) -> Option<&mut dyn Far> {
        match &mut self.storage {
            Storage::Far { here } => {
                here.take();
                self.far.get_mut().map(|far| &mut **far)
            }
            _ => None,
        }
    }

    /// Keeps a copy that was made elsewhere, unless there is one. Whether it was kept.
    pub fn keep_far(&self, copy: Box<dyn Far>) -> bool {
        let fits = self.len * self.ty.size() <= copy.bytes();
        fits && self.far.set(copy).is_ok()
    }

    /// The buffer with its elements here: itself, or a copy that comes when it is first asked for.
    ///
    /// # Errors
    /// If there is no memory for it, or the device fails.
    #[inline]
    pub fn here(&self) -> Result<&Buffer, FarError> {
        match &self.storage {
            Storage::Far { here } => self.fetched(here),
            _ => Ok(self),
        }
    }

    #[cold]
    fn fetched<'b>(&self, here: &'b OnceLock<Box<Buffer>>) -> Result<&'b Buffer, FarError> {
        if let Some(copy) = here.get() {
            return Ok(copy);
        }
        let copy = self.fetch()?;
        Ok(here.get_or_init(|| Box::new(copy)))
    }

    /// A copy of what is far.
    fn fetch(&self) -> Result<Buffer, FarError> {
        let bytes = self.len * self.ty.size();
        let mut copy =
            Buffer::uncleared(self.ty, self.len).ok_or(FarError::Memory(bytes as u64))?;
        // SAFETY: the buffer's own initialised memory, borrowed exclusively; `from_far` has the promise that what comes are
        // elements, and bytes that are no `Bool`s are made so below, before anyone has the buffer.
        let to = unsafe { std::slice::from_raw_parts_mut(copy.ptr.as_ptr(), bytes) };
        if let Some(far) = self.far() {
            far.read(0, to).map_err(FarError::Device)?;
        }
        if self.ty == Ty::Bool {
            to.iter_mut().for_each(|b| *b &= 1);
        }
        copy.keeps_room = self.keeps_room;
        Ok(copy)
    }

    /// The canonical word of an element that is far and may stay there; none outside, and if the device fails.
    #[cold]
    pub fn far_word(&self, i: usize) -> Option<u64> {
        let size = self.ty.size();
        let far = self.far().filter(|_| i < self.len)?;
        let mut bytes = [0; 8];
        far.read(i * size, bytes.get_mut(..size)?).ok()?;
        Some(canonical(self.ty, u64::from_le_bytes(bytes)))
    }

    /// Sets an element that is far. False outside, and if the device fails.
    pub(crate) fn set_far_word(&mut self, i: usize, word: u64) -> bool {
        let (ty, size) = (self.ty, self.ty.size());
        let bytes = canonical(ty, word).to_le_bytes();
        let is_inside = i < self.len;
        let far = self.far_mut().filter(|_| is_inside);
        far.is_some_and(|far| far.write(i * size, &bytes[..size]).is_ok())
    }

    /// Makes the memory here the only one, for somebody who changes it.
    pub(super) fn settle(&mut self) -> Result<(), FarError> {
        let Storage::Far { here } = &mut self.storage else {
            self.far.take();
            return Ok(());
        };
        let copy = match here.take() {
            Some(copy) => *copy,
            None => self.fetch()?,
        };
        *self = copy;
        Ok(())
    }
}
