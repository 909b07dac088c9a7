//! Staging: pinned memory for copies between host and device.
//!
//! The device transfers one piece while the host copies the next.
//!
//! Copies to the device use a ring. Its pieces come free in order. So small copies do not wait, and
//! a large copy overlaps both steps. Copies from the device alternate between two halves: one is
//! filled while the other is copied out.

use super::calls::check;
use super::context::{Context, Event, Pinned};
use crate::driver::{Address, Fault};
use cudarc::driver::sys;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum length of a piece.
const PIECE: usize = 4 << 20;
/// The length of the ring.
const RING: usize = 4 * PIECE;
/// The alignment of pieces, which limits the number of pieces and events.
const ALIGN: usize = 4 << 10;

/// Holds the memory for both directions, allocated on first use.
#[derive(Debug)]
pub struct Staging {
    context: Arc<Context>,
    up: Mutex<Option<Up>>,
    down: Mutex<Option<Down>>,
}

/// The direction to the device.
#[derive(Debug)]
struct Up {
    pinned: Pinned,
    ring: Ring<Event>,
    /// Events for reuse.
    spare: Vec<Event>,
}

/// The direction from the device.
#[derive(Debug)]
struct Down {
    pinned: Pinned,
    /// An event for each half, when it is full.
    full: [Event; 2],
}

impl Staging {
    /// Creates the staging memory of a device.
    pub fn new(context: &Arc<Context>) -> Staging {
        Staging {
            context: context.clone(),
            up: Mutex::new(None),
            down: Mutex::new(None),
        }
    }

    /// Queues copies of bytes, which have been read on return.
    ///
    /// # Safety
    ///
    /// The context is current, and the device has `from.len()` bytes of memory from `to` on.
    pub unsafe fn to_device(&self, to: Address, from: &[u8]) -> Result<(), Fault> {
        let mut up = lock(&self.up);
        let up = match &mut *up {
            Some(up) => up,
            none => none.insert(Up {
                pinned: Pinned::new(&self.context, RING)?,
                ring: Ring::new(RING),
                spare: Vec::new(),
            }),
        };
        for (i, piece) in from.chunks(PIECE).enumerate() {
            // SAFETY: as of the caller.
            unsafe { up.send(&self.context, to.after(i * PIECE), piece)? };
        }
        Ok(())
    }

    /// Copies bytes from the device, after all queued work.
    ///
    /// # Safety
    ///
    /// The context is current, and the device has `to.len()` bytes of memory from `from` on.
    pub unsafe fn to_host(&self, to: &mut [u8], from: Address) -> Result<(), Fault> {
        let mut down = lock(&self.down);
        let down = match &mut *down {
            Some(down) => down,
            none => none.insert(Down {
                pinned: Pinned::new(&self.context, 2 * PIECE)?,
                full: [Event::new(&self.context)?, Event::new(&self.context)?],
            }),
        };
        let mut asked = None;
        for (i, piece) in to.chunks_mut(PIECE).enumerate() {
            // SAFETY: as of the caller; the old contents of this half have been copied out.
            unsafe { down.ask(&self.context, i % 2, from.after(i * PIECE), piece.len())? };
            if let Some((half, before)) = asked.replace((i % 2, piece)) {
                down.receive(half, before)?;
            }
        }
        match asked {
            Some((half, last)) => down.receive(half, last),
            None => Ok(()),
        }
    }
}

impl Up {
    /// Queues a copy of a piece.
    ///
    /// # Safety
    ///
    /// As of [`Staging::to_device`]; the piece is not longer than the ring.
    unsafe fn send(
        &mut self,
        context: &Arc<Context>,
        to: Address,
        piece: &[u8],
    ) -> Result<(), Fault> {
        let Up {
            pinned,
            ring,
            spare,
        } = self;
        let at = ring.take(piece.len(), |event| {
            event.wait()?;
            spare.push(event);
            Ok(())
        })?;
        let event = spare.pop().map_or_else(|| Event::new(context), Ok)?;
        // SAFETY: the ring has that many bytes there, and no queued copy reads them.
        let staged = unsafe { pinned.at().add(at) };
        // SAFETY: as above.
        unsafe { staged.copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
        // SAFETY: as of the caller; the ring's bytes stay until the event says that they were read.
        let code =
            unsafe { sys::cuMemcpyHtoDAsync_v2(to.0, staged.cast(), piece.len(), context.stream) };
        check("be sent bytes", code)?;
        // Without an event, the end of the copy is unknown, so wait for all work.
        let recorded = event.record().or_else(|_| context.wait());
        ring.put(at, piece.len(), event);
        recorded
    }
}

impl Down {
    /// Queues a copy of bytes into a half.
    ///
    /// # Safety
    ///
    /// As of [`Staging::to_host`], of not more than a piece.
    unsafe fn ask(
        &mut self,
        context: &Context,
        half: usize,
        from: Address,
        bytes: usize,
    ) -> Result<(), Fault> {
        // SAFETY: each half is a piece long.
        let staged = unsafe { self.pinned.at().add(half * PIECE) };
        // SAFETY: as of the caller; the pinned memory stays there until the queue is empty.
        let code =
            unsafe { sys::cuMemcpyDtoHAsync_v2(staged.cast(), from.0, bytes, context.stream) };
        check("send bytes", code)?;
        self.full[half].record()
    }

    /// Waits for a half, and copies its contents.
    fn receive(&mut self, half: usize, to: &mut [u8]) -> Result<(), Fault> {
        self.full[half].wait()?;
        // SAFETY: each half is a piece long, and is not written any more.
        let staged =
            unsafe { std::slice::from_raw_parts(self.pinned.at().add(half * PIECE), to.len()) };
        to.copy_from_slice(staged);
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tracks the pieces in use of a ring, oldest first, each with the event that ends its use.
#[derive(Debug)]
struct Ring<E> {
    size: usize,
    /// The end of the last piece.
    head: usize,
    used: VecDeque<(usize, usize, E)>,
}

impl<E> Ring<E> {
    fn new(size: usize) -> Ring<E> {
        Ring {
            size,
            head: 0,
            used: VecDeque::new(),
        }
    }

    /// Finds space for a piece of `bytes` bytes, at most the ring's size. Waits for pieces in the
    /// way.
    fn take(
        &mut self,
        bytes: usize,
        mut wait: impl FnMut(E) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        let begins_anew = bytes > self.size - self.head;
        let at = if begins_anew { 0 } else { self.head };
        // Pieces follow each other around the ring, so the first piece in the way is the oldest.
        // When the ring wraps around, the pieces after its head are older than those at its front.
        // They go first.
        while let Some((start, end, _)) = self.used.front() {
            let is_behind = begins_anew && *start >= self.head;
            let is_in_the_way = *start < at + bytes && at < *end;
            if !is_behind && !is_in_the_way {
                break;
            }
            if let Some((_, _, until)) = self.used.pop_front() {
                wait(until)?;
            }
        }
        Ok(at)
    }

    /// Marks a piece as in use.
    fn put(&mut self, at: usize, bytes: usize, until: E) {
        let end = at + bytes;
        self.head = end.next_multiple_of(ALIGN).min(self.size);
        self.used.push_back((at, end, until));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts pieces into a ring. Returns each position, and the pieces waited for.
    fn through(lengths: &[usize]) -> Vec<(usize, Vec<usize>)> {
        let mut ring = Ring::new(10 * ALIGN);
        let put = |(i, &length): (usize, &usize)| {
            let (bytes, mut waited) = (length * ALIGN, Vec::new());
            let at = ring.take(bytes, |e| {
                waited.push(e);
                Ok(())
            });
            let at = at.unwrap();
            ring.put(at, bytes, i);
            (at / ALIGN, waited)
        };
        lengths.iter().enumerate().map(put).collect()
    }

    #[test]
    fn pieces_wait_for_those_that_are_in_the_way() {
        let none = vec![];
        assert_eq!(
            through(&[4, 4, 2]),
            [(0, none.clone()), (4, none.clone()), (8, none.clone())]
        );
        assert_eq!(through(&[4, 6, 4, 2])[2..], [(0, vec![0]), (4, vec![1])]);
        // A piece that does not fit at the end begins at the front. Older pieces than those in the
        // way are waited for, too.
        assert_eq!(
            through(&[3, 3, 3, 2, 9])[3..],
            [(0, vec![0]), (0, vec![1, 2, 3])]
        );
        assert_eq!(through(&[10, 10])[1], (0, vec![0]));
    }

    #[test]
    fn pieces_begin_where_words_do() {
        let mut ring = Ring::new(4 * ALIGN);
        ring.put(0, 1, ());
        assert_eq!(ring.take(1, |()| Ok(())), Ok(ALIGN));
        ring.put(3 * ALIGN, ALIGN - 1, ());
        assert_eq!(ring.take(1, |()| Ok(())), Ok(0));
    }

    #[test]
    fn no_two_pieces_that_are_in_use_overlap() {
        let size = 250 * ALIGN;
        let mut ring = Ring::new(size);
        let mut live: Vec<(usize, usize, usize)> = Vec::new();
        let mut seed = 1u64;
        for i in 0..10_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let most = if i % 7 == 0 { size } else { 9 * ALIGN };
            let bytes = (seed >> 33) as usize % most + 1;
            let mut done = Vec::new();
            let at = ring.take(bytes, |e| {
                done.push(e);
                Ok(())
            });
            let at = at.unwrap();
            live.retain(|(_, _, e)| !done.contains(e));
            assert!(at + bytes <= size);
            assert!(
                live.iter()
                    .all(|(start, end, _)| *end <= at || at + bytes <= *start)
            );
            ring.put(at, bytes, i);
            live.push((at, at + bytes, i));
        }
    }
}
