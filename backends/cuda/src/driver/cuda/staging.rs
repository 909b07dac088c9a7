//! Memory by way of which bytes come and go: pinned, so that the device fetches and brings them while the host copies
//! the next.
//!
//! What goes to the device goes through a ring, in pieces that come free in order; so small copies wait for nobody, and
//! of a large one a piece is copied while the last is on its way. What comes goes through two halves, of which one is
//! filled while the other is copied out.

use super::calls::check;
use super::context::{Context, Event, Pinned};
use crate::driver::{Address, Fault};
use cudarc::driver::sys;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The longest piece.
const PIECE: usize = 4 << 20;
/// How long the ring is.
const RING: usize = 4 * PIECE;
/// Pieces begin at multiples of this; so there are not too many of them, and of events.
const ALIGN: usize = 4 << 10;

/// The memory for both ways. It is made when it is used first.
#[derive(Debug)]
pub struct Staging {
    context: Arc<Context>,
    up: Mutex<Option<Up>>,
    down: Mutex<Option<Down>>,
}

/// The way to the device.
#[derive(Debug)]
struct Up {
    pinned: Pinned,
    ring: Ring<Event>,
    /// Events that may be used again.
    spare: Vec<Event>,
}

/// The way from the device.
#[derive(Debug)]
struct Down {
    pinned: Pinned,
    /// When each half is full.
    full: [Event; 2],
}

impl Staging {
    /// For a device.
    pub fn new(context: &Arc<Context>) -> Staging {
        Staging {
            context: context.clone(),
            up: Mutex::new(None),
            down: Mutex::new(None),
        }
    }

    /// Queues copies of bytes, which have been read when this returns.
    ///
    /// # Safety
    /// The context is current, and the device's memory from `to` on has so many bytes.
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

    /// Copies bytes from the device, when all that is queued has been done.
    ///
    /// # Safety
    /// The context is current, and the device's memory from `from` on has so many bytes.
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
            // SAFETY: as of the caller; what was in this half has been copied out.
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
        // SAFETY: the ring has so many bytes there, which nothing that is queued reads.
        let staged = unsafe { pinned.at().add(at) };
        // SAFETY: as above.
        unsafe { staged.copy_from_nonoverlapping(piece.as_ptr(), piece.len()) };
        // SAFETY: as of the caller; the ring's bytes stay until the event says that they were read.
        let code =
            unsafe { sys::cuMemcpyHtoDAsync_v2(to.0, staged.cast(), piece.len(), context.stream) };
        check("be sent bytes", code)?;
        // Of a piece that nobody can wait for, nobody knows when it has been read.
        let recorded = event.record().or_else(|_| context.wait());
        ring.put(at, piece.len(), event);
        recorded
    }
}

impl Down {
    /// Queues a copy of bytes into a half.
    ///
    /// # Safety
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
        // SAFETY: as of the caller; what is pinned stays there until the queue is empty.
        let code =
            unsafe { sys::cuMemcpyDtoHAsync_v2(staged.cast(), from.0, bytes, context.stream) };
        check("send bytes", code)?;
        self.full[half].record()
    }

    /// Waits for a half, and copies what is in it.
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

/// Which bytes of a ring are in use: pieces, the oldest first, each with what says when it is not used any more.
#[derive(Debug)]
struct Ring<E> {
    size: usize,
    /// Where the last piece ends.
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

    /// Where a piece of so many bytes, not more than there are, can be. Those that are in the way are waited for.
    fn take(
        &mut self,
        bytes: usize,
        mut wait: impl FnMut(E) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        let begins_anew = bytes > self.size - self.head;
        let at = if begins_anew { 0 } else { self.head };
        // Pieces follow each other around the ring, so what is in the way begins with the oldest. When the ring begins
        // anew, what is left behind its head is older than what is at its front, and goes first.
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

    /// Says that a piece is in use.
    fn put(&mut self, at: usize, bytes: usize, until: E) {
        let end = at + bytes;
        self.head = end.next_multiple_of(ALIGN).min(self.size);
        self.used.push_back((at, end, until));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts pieces of some lengths into a ring; where each is, and which were waited for before.
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
        // What does not fit behind the last begins at the front; what is older than what is in the way is waited for,
        // too.
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
