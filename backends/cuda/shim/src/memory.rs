//! Simulated device memory: host memory with a written flag for each byte.

use livefusion_cuda::driver::{Address, Fault};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Holds the value of unwritten bytes.
pub const POISON: u8 = 0xcd;

/// The unit of alignment.
#[derive(Clone)]
#[repr(align(256))]
#[allow(dead_code, reason = "bytes are found by their addresses")]
struct Line([u8; 256]);

const LINE: usize = size_of::<Line>();

/// One allocation.
struct Block {
    /// The last line is a guard that belongs to no array.
    lines: Box<[Line]>,
    bytes: usize,
    /// 1 for each written byte.
    written: Box<[u8]>,
}

/// Holds all allocations, by start address.
#[derive(Default)]
pub struct Memory {
    blocks: BTreeMap<u64, Block>,
    /// Host words. They stay until all queued kernels have run, even after their owner drops them.
    words: Vec<Arc<[AtomicU64]>>,
    /// Unwritten bytes that the host read.
    pub unwritten: u64,
}

/// Describes bytes of one block.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Their address.
    pub at: *mut u8,
    /// Their number.
    pub bytes: usize,
    /// Their written flags. Null if all of them are written.
    pub written: *mut u8,
}

impl Memory {
    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the bytes of all blocks.
    pub fn bytes(&self) -> usize {
        self.blocks.values().map(|b| b.bytes).sum()
    }

    /// Returns the size of a block for a request of `bytes`.
    pub fn rounded(bytes: usize) -> usize {
        bytes.div_ceil(LINE).max(1).saturating_mul(LINE)
    }

    /// Allocates a block of a rounded number of bytes.
    pub fn allocate(&mut self, bytes: usize) -> Address {
        let mut lines = vec![Line([POISON; LINE]); bytes / LINE + 1].into_boxed_slice();
        let at = lines.as_mut_ptr() as u64;
        let written = vec![0; bytes].into_boxed_slice();
        let block = Block {
            lines,
            bytes,
            written,
        };
        self.blocks.insert(at, block);
        Address(at)
    }

    /// Frees a block.
    ///
    /// Returns whether it was there.
    pub fn free(&mut self, at: Address) -> bool {
        self.blocks.remove(&at.0).is_some()
    }

    /// Registers words of the host.
    pub fn know(&mut self, words: &Arc<[AtomicU64]>) {
        self.words.push(words.clone());
    }

    /// Forgets unowned words, when nothing is queued.
    pub fn settle(&mut self) {
        self.words.retain(|w| Arc::strong_count(w) > 1);
    }

    /// Returns the bytes at an address, if one block holds all of them.
    pub fn part(&mut self, at: Address, bytes: usize) -> Option<Part> {
        let rest = self.rest(at)?;
        (bytes <= rest.bytes).then_some(Part { bytes, ..rest })
    }

    /// Returns the bytes from an address to the end of its block.
    pub fn rest(&mut self, at: Address) -> Option<Part> {
        let (start, block) = self.blocks.range_mut(..=at.0).next_back()?;
        let begin = (at.0 - start) as usize;
        let memory = block.lines.as_mut_ptr().cast::<u8>();
        (begin <= block.bytes).then(|| Part {
            at: memory.wrapping_add(begin),
            bytes: block.bytes - begin,
            written: block.written.as_mut_ptr().wrapping_add(begin),
        })
    }

    /// Returns the bytes from an address to the end of its host words.
    pub fn rest_of_words(&self, at: Address) -> Option<Part> {
        let mut rests = self.words.iter().filter_map(|words| {
            let (begin, bytes) = (words.as_ptr() as u64, size_of_val(&words[..]));
            let offset = usize::try_from(at.0.checked_sub(begin)?).ok()?;
            (offset < bytes).then(|| Part {
                at: at.0 as *mut u8,
                bytes: bytes - offset,
                written: std::ptr::null_mut(),
            })
        });
        rests.next()
    }

    /// Returns the bytes at an address, or a fault if no block holds all of them. Zero bytes give
    /// `None` at any address.
    fn known(&mut self, at: Address, bytes: usize) -> Result<Option<Part>, Fault> {
        match self.part(at, bytes) {
            _ if bytes == 0 => Ok(None),
            None => Err(super::error("CUDA_ERROR_ILLEGAL_ADDRESS")),
            part => Ok(part),
        }
    }

    /// Writes bytes.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not in one block.
    pub fn write(&mut self, to: Address, from: &[u8]) -> Result<(), Fault> {
        if let Some(to) = self.known(to, from.len())? {
            // SAFETY: a block has these bytes and notes, and is borrowed alone.
            unsafe {
                to.at.copy_from(from.as_ptr(), from.len());
                to.written.write_bytes(1, from.len());
            }
        }
        Ok(())
    }

    /// Reads bytes.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not in one block.
    pub fn read(&mut self, to: &mut [u8], from: Address) -> Result<(), Fault> {
        if let Some(from) = self.known(from, to.len())? {
            // SAFETY: as above.
            let written = unsafe {
                to.as_mut_ptr().copy_from(from.at, to.len());
                std::slice::from_raw_parts(from.written, to.len())
            };
            self.unwritten += written.iter().filter(|w| **w == 0).count() as u64;
        }
        Ok(())
    }

    /// Copies bytes and their written flags.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not in one block.
    pub fn copy(&mut self, to: Address, from: Address, bytes: usize) -> Result<(), Fault> {
        if let (Some(to), Some(from)) = (self.known(to, bytes)?, self.known(from, bytes)?) {
            // SAFETY: as above; the two ranges may overlap.
            unsafe {
                to.at.copy_from(from.at, bytes);
                to.written.copy_from(from.written, bytes);
            }
        }
        Ok(())
    }

    /// Sets bytes to one value.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not in one block.
    pub fn fill(&mut self, at: Address, bytes: usize, value: u8) -> Result<(), Fault> {
        if let Some(to) = self.known(at, bytes)? {
            // SAFETY: as above.
            unsafe {
                to.at.write_bytes(value, bytes);
                to.written.write_bytes(1, bytes);
            }
        }
        Ok(())
    }
}
