//! Memory of a device that is none: the host's, with a note for each byte whether somebody wrote it.

use livefusion_cuda::driver::{Address, Fault};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// What is in memory that nobody has written to.
pub const POISON: u8 = 0xcd;

/// Memory begins at multiples of this.
#[derive(Clone)]
#[repr(align(256))]
#[allow(dead_code, reason = "bytes are found by their addresses")]
struct Line([u8; 256]);

const LINE: usize = size_of::<Line>();

/// One piece of memory.
struct Block {
    /// The last one is a guard: it belongs to nobody.
    lines: Box<[Line]>,
    bytes: usize,
    /// For each byte 1 if somebody wrote it.
    written: Box<[u8]>,
}

/// All that is allocated, by where it begins.
#[derive(Default)]
pub struct Memory {
    blocks: BTreeMap<u64, Block>,
    /// Words of the host, which are there until kernels that were queued before they were dropped have run.
    words: Vec<Arc<[AtomicU64]>>,
    /// Bytes that the host read and nobody wrote.
    pub unwritten: u64,
}

/// Bytes of one block.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where they are.
    pub at: *mut u8,
    /// How many.
    pub bytes: usize,
    /// The notes of who wrote them; null where all of them are there.
    pub written: *mut u8,
}

impl Memory {
    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// How many bytes they have.
    pub fn bytes(&self) -> usize {
        self.blocks.values().map(|b| b.bytes).sum()
    }

    /// The bytes of a block that is asked to have so many.
    pub fn rounded(bytes: usize) -> usize {
        bytes.div_ceil(LINE).max(1).saturating_mul(LINE)
    }

    /// A new block of a rounded number of bytes.
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

    /// Whether it was there.
    pub fn free(&mut self, at: Address) -> bool {
        self.blocks.remove(&at.0).is_some()
    }

    /// Knows words of the host.
    pub fn know(&mut self, words: &Arc<[AtomicU64]>) {
        self.words.push(words.clone());
    }

    /// Forgets words that nobody has: nothing is queued.
    pub fn settle(&mut self) {
        self.words.retain(|w| Arc::strong_count(w) > 1);
    }

    /// The bytes at an address, if they are all of one block.
    pub fn part(&mut self, at: Address, bytes: usize) -> Option<Part> {
        let rest = self.rest(at)?;
        (bytes <= rest.bytes).then_some(Part { bytes, ..rest })
    }

    /// All bytes from an address on to the end of its block.
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

    /// All bytes from an address on to the end of the words of the host that it is in.
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

    /// The bytes at an address; a fault if they are not all of one block. No bytes are anywhere.
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
    /// They are not there.
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
    /// They are not there.
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

    /// Copies bytes, and the notes of who wrote them.
    ///
    /// # Errors
    /// They are not there.
    pub fn copy(&mut self, to: Address, from: Address, bytes: usize) -> Result<(), Fault> {
        if let (Some(to), Some(from)) = (self.known(to, bytes)?, self.known(from, bytes)?) {
            // SAFETY: as above; what is copied may be near to where it goes.
            unsafe {
                to.at.copy_from(from.at, bytes);
                to.written.copy_from(from.written, bytes);
            }
        }
        Ok(())
    }

    /// Gives bytes one value.
    ///
    /// # Errors
    /// They are not there.
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
