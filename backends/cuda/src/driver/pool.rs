//! Recycled device memory.
//!
//! An allocation by the driver takes as long as many kernels, and freeing waits for all queued work.
//! So dropped memory is kept for later requests. The rules:
//!
//! * Sizes are rounded up, by an eighth at most, so that similar requests get the same blocks.
//! * A request gets the shortest block that is long enough and at most a quarter longer. Among
//!   equal blocks it gets the newest.
//! * At most [`limit`](Pool::limit) bytes are kept, and the oldest blocks go first.
//! * If the device has no memory left, all kept blocks are freed, and the request is repeated.
//!
//! A block may be dropped while queued kernels use it. The next owner's work follows in the same
//! queue, and so do the host's writes.

use super::{Address, Driver, Fault};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The shortest block. Drivers align memory to it.
const SMALLEST: usize = 256;

/// A recycled block exceeds its request by at most a quarter.
const SLACK: usize = 4;

/// Holds memory of a device, in use and kept.
pub struct Pool {
    driver: Arc<dyn Driver>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Oldest first.
    kept: Vec<Block>,
    kept_bytes: usize,
    used_bytes: usize,
    limit: usize,
}

/// An allocation of the driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Block {
    at: Address,
    bytes: usize,
}

impl Pool {
    /// Creates a pool that keeps at most half of the device's memory.
    pub fn new(driver: Arc<dyn Driver>) -> Arc<Pool> {
        let limit = usize::try_from(driver.device().memory / 2).unwrap_or(usize::MAX);
        Arc::new(Pool {
            driver,
            state: Mutex::new(State {
                limit,
                ..State::default()
            }),
        })
    }

    /// Returns the device.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.driver
    }

    /// Takes uninitialised memory.
    ///
    /// # Errors
    ///
    /// [`Fault::OutOfMemory`] if the device lacks memory even without kept blocks, or the driver's
    /// fault.
    pub fn take(self: &Arc<Pool>, bytes: usize) -> Result<Memory, Fault> {
        let whole = rounded(bytes).ok_or(Fault::OutOfMemory { bytes })?;
        let kept = self.state().take(whole);
        let allocate = || match self.driver.allocate(whole) {
            Ok(at) => Ok(Block { at, bytes: whole }),
            Err(Fault::OutOfMemory { .. }) => Err(Fault::OutOfMemory { bytes }),
            Err(other) => Err(other),
        };
        let block = kept.map_or_else(|| self.making_room(allocate), Ok)?;
        self.state().used_bytes += block.bytes;
        Ok(Memory {
            pool: self.clone(),
            block,
            bytes,
        })
    }

    /// Runs an action that needs device memory, such as loading a kernel.
    ///
    /// If memory is exhausted, all kept blocks are freed, and the action is repeated.
    pub fn making_room<T>(&self, mut take: impl FnMut() -> Result<T, Fault>) -> Result<T, Fault> {
        match take() {
            Err(Fault::OutOfMemory { .. }) => {
                self.clear();
                take()
            }
            other => other,
        }
    }

    /// Returns the limit of kept bytes.
    pub fn limit(&self) -> usize {
        self.state().limit
    }

    /// Sets the limit of kept bytes.
    ///
    /// 0 keeps none.
    pub fn set_limit(&self, bytes: usize) {
        let gone = {
            let mut state = self.state();
            state.limit = bytes;
            state.shed(bytes)
        };
        self.free(gone);
    }

    /// Returns the number of kept bytes.
    pub fn kept(&self) -> usize {
        self.state().kept_bytes
    }

    /// Returns the number of bytes in use.
    pub fn used(&self) -> usize {
        self.state().used_bytes
    }

    /// Returns all kept memory to the device.
    pub fn clear(&self) {
        let gone = self.state().shed(0);
        self.free(gone);
    }

    /// Takes back a block.
    fn give(&self, block: Block) {
        let gone = {
            let mut state = self.state();
            state.used_bytes -= block.bytes;
            state.kept_bytes += block.bytes;
            state.kept.push(block);
            let limit = state.limit;
            state.shed(limit)
        };
        self.free(gone);
    }

    fn free(&self, blocks: Vec<Block>) {
        for block in blocks {
            // SAFETY: the pool allocated it, and neither a `Memory` nor the list of kept blocks has
            // it any more.
            unsafe { self.driver.free(block.at) };
        }
    }

    /// Locks the state. The driver is never called while the lock is held.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.clear();
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        write!(
            f,
            "Pool({} bytes used, {} kept)",
            state.used_bytes, state.kept_bytes
        )
    }
}

impl State {
    /// Returns the best kept block for a request.
    fn take(&mut self, bytes: usize) -> Option<Block> {
        let fits = |b: &Block| b.bytes >= bytes && b.bytes - bytes <= bytes / SLACK;
        let found = self.kept.iter().enumerate().rev().filter(|(_, b)| fits(b));
        let (at, _) = found.min_by_key(|(_, b)| b.bytes)?;
        let block = self.kept.remove(at);
        self.kept_bytes -= block.bytes;
        Some(block)
    }

    /// Removes the oldest blocks until at most `most` bytes are kept.
    fn shed(&mut self, most: usize) -> Vec<Block> {
        let mut n = 0;
        for block in &self.kept {
            if self.kept_bytes <= most {
                break;
            }
            self.kept_bytes -= block.bytes;
            n += 1;
        }
        self.kept.drain(..n).collect()
    }
}

/// Rounds a size up to one of eight steps between powers of two. Returns `None` on overflow.
fn rounded(bytes: usize) -> Option<usize> {
    let step = (bytes.checked_next_power_of_two()? / 16).max(SMALLEST);
    bytes.max(1).checked_next_multiple_of(step)
}

/// Holds memory of a device, which returns to its pool on drop.
///
/// Reads and writes follow the order of the device's queue, as those of kernels do.
pub struct Memory {
    pool: Arc<Pool>,
    block: Block,
    bytes: usize,
}

impl Memory {
    /// Returns its address.
    pub fn address(&self) -> Address {
        self.block.at
    }

    /// Returns its length in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Returns whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns its pool.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Writes bytes from position `at` on.
    pub fn write(&mut self, at: usize, from: &[u8]) -> Result<(), Fault> {
        let to = self.part(at, from.len())?;
        // SAFETY: this memory has these bytes.
        unsafe { self.pool.driver.to_device(to, from) }
    }

    /// Reads bytes from position `at` on, and waits for them.
    pub fn read(&self, at: usize, to: &mut [u8]) -> Result<(), Fault> {
        let from = self.part(at, to.len())?;
        // SAFETY: this memory has these bytes.
        unsafe { self.pool.driver.to_host(to, from) }
    }

    /// Sets a range of bytes to one value.
    pub fn fill(&mut self, at: usize, bytes: usize, value: u8) -> Result<(), Fault> {
        let at = self.part(at, bytes)?;
        // SAFETY: this memory has these bytes.
        unsafe { self.pool.driver.fill(at, bytes, value) }
    }

    /// Copies its first bytes to a later position in the same memory.
    pub fn repeat(&mut self, at: usize, bytes: usize) -> Result<(), Fault> {
        if at < bytes {
            return Err(Fault::Refused(format!(
                "the first {bytes} bytes reach beyond {at}"
            )));
        }
        let (to, from) = (self.part(at, bytes)?, self.part(0, bytes)?);
        // SAFETY: this memory has these bytes, and they are not the same.
        unsafe { self.pool.driver.copy(to, from, bytes) }
    }

    /// Copies the first bytes of another memory of this pool to its own start.
    pub fn copy_from(&mut self, other: &Memory, bytes: usize) -> Result<(), Fault> {
        if !Arc::ptr_eq(&self.pool, &other.pool) {
            return Err(Fault::Refused(
                "memory is copied within a device only".into(),
            ));
        }
        let (to, from) = (self.part(0, bytes)?, other.part(0, bytes)?);
        // SAFETY: both have these bytes, and they are not the same memory, for this one is borrowed alone.
        unsafe { self.pool.driver.copy(to, from, bytes) }
    }

    /// Returns the address of a range of its bytes, if it is in bounds.
    fn part(&self, at: usize, bytes: usize) -> Result<Address, Fault> {
        let outside = || {
            Fault::Refused(format!(
                "memory of {} bytes has no {bytes} bytes behind {at}",
                self.bytes
            ))
        };
        let end = at.checked_add(bytes).filter(|end| *end <= self.bytes);
        end.map(|_| self.block.at.after(at)).ok_or_else(outside)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.pool.give(self.block);
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({:#x}, {} bytes)", self.block.at.0, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn sizes_are_rounded_by_an_eighth_at_most() {
        assert_eq!(rounded(0), Some(256));
        assert_eq!(rounded(256), Some(256));
        assert_eq!(rounded(257), Some(512));
        assert_eq!(rounded(8 << 20), Some(8 << 20));
        assert_eq!(rounded((8 << 20) + 1), Some(9 << 20));
        assert_eq!(rounded(usize::MAX), None);
        for bytes in (1..100_000).step_by(37) {
            let whole = rounded(bytes).unwrap();
            assert!(
                whole >= bytes && (whole - bytes) <= (bytes / 8).max(256),
                "{bytes}: {whole}"
            );
            assert_eq!(rounded(whole), Some(whole));
        }
    }
}
