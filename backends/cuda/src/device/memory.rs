//! Arrays in a device's memory, and their views on the host.

use crate::driver::pool::{Memory, Pool};
use crate::driver::{Address, Fault};
use livefusion_backend::buffer::Content;
use livefusion_backend::{Buffer, Far, Held, Maker};
use loop_lang::types::Ty;
use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

/// Elements that are written by the host before they are doubled within the device.
const FIRST: usize = 64 << 10;

/// Device memory as the far side of an array. It is unwind-safe: it holds no Rust values.
struct OnDevice(AssertUnwindSafe<Memory>);

impl Far for OnDevice {
    fn read(&self, at: usize, to: &mut [u8]) -> Result<(), String> {
        self.0.read(at, to).map_err(|fault| fault.to_string())
    }

    fn write(&mut self, at: usize, from: &[u8]) -> Result<(), String> {
        self.0.write(at, from).map_err(|fault| fault.to_string())
    }

    fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// Manages the arrays of one device.
#[derive(Debug)]
pub struct Arrays {
    pool: Arc<Pool>,
}

impl Arrays {
    /// Manages arrays in a pool's memory.
    pub fn new(pool: Arc<Pool>) -> Arrays {
        Arrays { pool }
    }

    /// Returns the device address of an array's elements.
    ///
    /// Host elements are copied, and the copy is kept as long as the array. If another device has
    /// the array, the copy lives as long as the second returned value.
    ///
    /// # Errors
    ///
    /// Returns the device's fault.
    pub fn address(&self, array: &Buffer) -> Result<(Address, Option<Memory>), Fault> {
        if array.is_empty() {
            return Ok((Address(0), None));
        }
        if array.far().is_none() {
            let copy = self.copied(array)?;
            // Another thread may have been first.
            array.keep_far(Box::new(OnDevice(AssertUnwindSafe(copy))));
        }
        if let Some(memory) = self.own(array) {
            return Ok((memory.address(), None));
        }
        let copy = self.copied(array)?;
        Ok((copy.address(), Some(copy)))
    }

    /// Returns the memory of an array, if it is on this device.
    fn own<'b>(&self, array: &'b Buffer) -> Option<&'b Memory> {
        let far: &dyn Any = array.far()?;
        let memory = &far.downcast_ref::<OnDevice>()?.0;
        Arc::ptr_eq(memory.pool(), &self.pool).then_some(memory)
    }

    fn copied(&self, array: &Buffer) -> Result<Memory, Fault> {
        let here = array.here().map_err(|e| Fault::Refused(e.to_string()))?;
        let bytes = here.as_bytes();
        let mut copy = self.pool.take(bytes.len())?;
        copy.write(0, bytes)?;
        Ok(copy)
    }

    /// Moves a frame's array to the device if necessary, and returns its address.
    ///
    /// # Errors
    ///
    /// Returns the device's fault.
    pub fn held(&self, place: &mut Option<Held<'_>>) -> Result<Option<Address>, Fault> {
        let Some(held) = place.take() else {
            return Ok(None);
        };
        let own = held.into_own().unwrap_or_else(|| Buffer::empty(Ty::U8));
        let own = match self.own(&own).is_some() && own.is_far() || own.is_empty() {
            true => own,
            false => {
                let copy = self.copied(&own)?;
                self.far(own.ty(), own.len(), copy)?
            }
        };
        let at = self.own(&own).map(Memory::address);
        *place = Some(Held::anywhere(own));
        Ok(Some(at.unwrap_or(Address(0))))
    }

    fn far(&self, ty: Ty, len: usize, memory: Memory) -> Result<Buffer, Fault> {
        let bytes = memory.len();
        let far = Box::new(OnDevice(AssertUnwindSafe(memory)));
        Buffer::from_far(ty, len, far).ok_or(Fault::OutOfMemory { bytes })
    }

    /// Makes a new array.
    ///
    /// # Errors
    ///
    /// Returns the device's fault.
    pub fn make(&self, ty: Ty, len: usize, content: Content<'_>) -> Result<Buffer, Fault> {
        if len == 0 {
            return Ok(Buffer::empty(ty));
        }
        let none = || Fault::OutOfMemory { bytes: usize::MAX };
        let bytes = len.checked_mul(ty.size()).ok_or_else(none)?;
        let mut memory = self.pool.take(bytes)?;
        match content {
            Content::Any => {}
            Content::Word(0) => memory.fill(0, bytes, 0)?,
            Content::Word(word) => fill(&mut memory, ty, len, word)?,
            Content::Copy(of) => memory.write(0, of.as_bytes())?,
        }
        self.far(ty, len, memory)
    }

    /// Copies an array on the device.
    ///
    /// # Errors
    ///
    /// Returns the device's fault.
    pub fn copy(&self, of: &Buffer) -> Result<Buffer, Fault> {
        let Some(memory) = self.own(of) else {
            return match of.is_empty() {
                true => Ok(Buffer::empty(of.ty())),
                false => self.far(of.ty(), of.len(), self.copied(of)?),
            };
        };
        let bytes = of.len() * of.ty().size();
        let mut copy = self.pool.take(bytes)?;
        copy.copy_from(memory, bytes)?;
        self.far(of.ty(), of.len(), copy)
    }
}

/// Sets all elements to one value: the first ones come from the host and are doubled on the device.
fn fill(memory: &mut Memory, ty: Ty, len: usize, word: u64) -> Result<(), Fault> {
    let first = len.min(FIRST);
    let elements = Buffer::fill(ty, first, word);
    let elements = elements.ok_or(Fault::OutOfMemory {
        bytes: first * ty.size(),
    })?;
    memory.write(0, elements.as_bytes())?;
    let (all, mut there) = (len * ty.size(), first * ty.size());
    while there < all {
        let more = there.min(all - there);
        memory.repeat(there, more)?;
        there += more;
    }
    Ok(())
}

/// Makes the arrays of one run of a loop on its device.
#[derive(Debug)]
pub struct Making {
    arrays: Arc<Arrays>,
    filled: Arc<[bool]>,
    /// The first fault of an allocation.
    fault: OnceLock<Fault>,
}

impl Making {
    /// Allocates in the device's memory.
    ///
    /// `filled` says which arrays the loop fills, by slot. Their initial contents are never read.
    pub fn new(arrays: Arc<Arrays>, filled: Arc<[bool]>) -> Making {
        Making {
            arrays,
            filled,
            fault: OnceLock::new(),
        }
    }

    /// Returns the first fault of an allocation, if any.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.get()
    }

    fn noted(&self, made: Result<Buffer, Fault>) -> Option<Buffer> {
        let note = |fault| drop(self.fault.set(fault));
        made.map_err(note).ok()
    }
}

impl Maker for Making {
    fn make(&self, slot: usize, ty: Ty, len: usize, content: Content<'_>) -> Option<Buffer> {
        let is_filled = self.filled.get(slot) == Some(&true);
        let content = match content {
            Content::Word(0) if is_filled => Content::Any,
            other => other,
        };
        self.noted(self.arrays.make(ty, len, content))
    }

    fn copy(&self, of: &Buffer) -> Option<Buffer> {
        self.noted(self.arrays.copy(of))
    }
}
