//! The state of a run between spans, and its arrays, owned or lent.
//!
//! Threads that run chunks of one loop have a frame each, over the same arrays. Only the first frame owns the arrays.
//! It [lends](Frame::lend) them to the other frames, whose type carries the lifetime of the loan. So no kernel can
//! keep a lent array for longer. Elements of a [`Held`] are read and written one by one. So no thread ever has a slice
//! of elements that another thread writes.

use crate::buffer::{ALIGN, Buffer, Content, Far, Spare, View};
use crate::growth::Growth;
use crate::kernel::Value;
use crate::memory::Memory;
use loop_lang::state::Layout;
use loop_lang::types::Ty;
use smallvec::SmallVec;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Holds the words of a frame.
///
/// Those of one sum in lanes need no allocation.
pub type Words = SmallVec<[u64; 64]>;

/// Holds the arrays of a frame, by slot.
pub type Slots<'m> = SmallVec<[Option<Held<'m>>; 2]>;

/// Holds the state of a run between spans.
///
/// `'m` is the lifetime of lent arrays.
#[derive(Default)]
pub struct Frame<'m> {
    /// Words in the order of [`Layout`].
    pub words: Words,
    /// Arrays made so far, by [`Layout::array_slot`].
    pub arrays: Slots<'m>,
    /// Slots of arrays that [`Frame::give`] put in place before the loop starts.
    pub given: Vec<usize>,
    /// Memory that arrays may be made in.
    pub spare: Spare,
    /// Allocates arrays elsewhere, if they are to be there.
    pub maker: Option<Arc<dyn Maker>>,
    /// Results, once the loop is done.
    pub results: SmallVec<[Value; 1]>,
    /// Memory that may still be allocated.
    pub memory: Memory,
    /// Arrays that may begin short.
    pub growth: Growth,
    /// Set when the results are no longer wanted. Scalar loops may then end at once.
    pub stop: Option<&'m AtomicBool>,
}

impl<'m> Frame<'m> {
    /// Creates a frame before `init`.
    pub fn new(layout: &Layout) -> Frame<'m> {
        let mut frame = Frame::default();
        frame.reset(layout);
        frame
    }

    /// Returns to the state before `init`.
    ///
    /// Drops all arrays. Keeps the memory of the words.
    pub fn reset(&mut self, layout: &Layout) {
        self.words.resize(layout.words, 0);
        self.words.fill(0);
        self.arrays.resize_with(layout.arrays.len(), || None);
        self.arrays.fill_with(|| None);
        self.given.clear();
        self.spare.clear();
        self.maker = None;
        self.results.clear();
        self.memory = Memory::default();
        self.growth.clear();
        self.stop = None;
    }

    /// Makes an array for a slot, through the frame's [`Maker`] if it has one.
    ///
    /// Returns `None` if there is no memory for it.
    pub fn make(
        &mut self,
        slot: usize,
        ty: Ty,
        len: usize,
        content: Content<'_>,
    ) -> Option<Held<'m>> {
        match &self.maker {
            Some(maker) => maker.make(slot, ty, len, content).map(Held::anywhere),
            None => self.spare.make(slot, ty, len, content).map(Held::from),
        }
    }

    /// Gives an array to the loop.
    ///
    /// The first `copyArray` into its slot takes this array as the copy and copies nothing. So an
    /// array whose old state is dead is updated in place.
    ///
    /// ```
    /// use livefusion_backend::{Buffer, Frame};
    /// use loop_lang::state::Layout;
    /// let mut frame = Frame::new(&Layout::default());
    /// assert!(!frame.give(0, Buffer::from_vec(vec![1u8]))); // This loop makes no array.
    /// ```
    ///
    /// Returns whether the loop has such a slot.
    pub fn give(&mut self, slot: usize, array: Buffer) -> bool {
        match self.arrays.get_mut(slot) {
            Some(place) => {
                *place = Some(Held::anywhere(array));
                self.given.push(slot);
                true
            }
            None => false,
        }
    }

    /// Lends the arrays to `frames` new frames, for chunks that run in parallel.
    ///
    /// The new frames start with the same words. This frame is borrowed until all of them are gone.
    /// Each frame has its own copy of scratch arrays, as the loop's layout lists them. Returns
    /// `None` if there is no memory for these.
    ///
    /// # Safety
    ///
    /// Several threads may run the frames at once if no thread reads or writes an element that
    /// another writes. Elements beyond appended ones count too (see
    /// [`Kernel::run`](crate::Kernel::run)). Compiled code is not aware of other threads.
    pub unsafe fn lend(&mut self, layout: &Layout, frames: usize) -> Option<Vec<Frame<'_>>> {
        let this = &*self;
        let scratch = layout.scratch.iter();
        let scratch = scratch.filter_map(|slot| Some((*slot, this.arrays.get(*slot)?.as_ref()?)));
        let bytes =
            |(_, a): &(usize, &Held<'_>)| (a.len() as u64).saturating_mul(a.ty.size() as u64);
        let all: u64 = scratch
            .clone()
            .map(|a| bytes(&a))
            .fold(0, u64::saturating_add);
        let mut memory = this.memory;
        memory
            .take(all.saturating_mul(frames as u64))
            .then_some(())?;
        let frame = |_| {
            let lent = this.arrays.iter().map(|a| a.as_ref().map(Held::lent));
            let mut arrays: Slots<'_> = lent.collect();
            for (slot, array) in scratch.clone() {
                arrays[slot] = Some(Buffer::zeroed(array.ty, array.len())?.into());
            }
            Some(Frame {
                words: this.words.clone(),
                arrays,
                memory,
                stop: this.stop,
                ..Frame::default()
            })
        };
        (0..frames).map(frame).collect()
    }

    /// Takes the mark of a given array.
    ///
    /// Returns whether the slot's array was given and not taken yet.
    pub fn take_given(given: &mut Vec<usize>, slot: usize) -> bool {
        let at = given.iter().position(|s| *s == slot);
        at.map(|at| given.swap_remove(at)).is_some()
    }
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("words", &self.words)
            .field("arrays", &self.arrays)
            .field("results", &self.results)
            .finish_non_exhaustive()
    }
}

/// Allocates a loop's arrays in the memory that its kernel needs.
pub trait Maker: Send + Sync {
    /// Makes the array of a slot. Returns `None` if there is no memory for it.
    fn make(&self, slot: usize, ty: Ty, len: usize, content: Content<'_>) -> Option<Buffer>;
    /// Copies an array. Returns `None` if there is no memory for it.
    fn copy(&self, of: &Buffer) -> Option<Buffer>;
}

/// Holds an array of a frame, an own [`Buffer`] or one lent for `'m`.
///
/// ```
/// use livefusion_backend::{Buffer, Held};
/// let mut held = Held::from(Buffer::from_vec(vec![1i32, 2, 3]));
/// assert!(held.set_word(1, 7) && !held.set_word(3, 7));
/// held.truncate(2);
/// assert_eq!((held.get_word(1), held.get_word(2)), (Some(7), None));
/// let own = held.into_own().expect("nobody lent it");
/// assert_eq!(own.as_slice::<i32>(), Some(&[1, 7][..]));
/// ```
pub struct Held<'m> {
    ty: Ty,
    len: usize,
    ptr: NonNull<u8>,
    owner: Owner<'m>,
}

/// The owner of an array's memory.
enum Owner<'m> {
    /// The frame itself.
    Own(Buffer),
    /// Another frame, with the capacity in elements.
    Lent {
        capacity: usize,
        memory: PhantomData<&'m Buffer>,
    },
}

// SAFETY: it owns its memory, or shares it with others that all outlive `'m` and use it by atomic
// accesses, or as the lender has vouched for.
unsafe impl Send for Held<'_> {}
// SAFETY: as above; `&Held` only reads.
unsafe impl Sync for Held<'_> {}

impl From<Buffer> for Held<'_> {
    /// Takes the buffer, or a copy if its memory is not writable here.
    fn from(own: Buffer) -> Self {
        let own = own.into_own();
        Held {
            ty: own.ty(),
            len: own.len(),
            ptr: own.base(),
            owner: Owner::Own(own),
        }
    }
}

impl<'m> Held<'m> {
    /// Takes the buffer wherever its elements are.
    ///
    /// Single elements of a [far](Buffer::is_far) array are read and written on the device, which
    /// is slow.
    pub fn anywhere(own: Buffer) -> Held<'m> {
        if !own.is_far() {
            return Held::from(own);
        }
        Held {
            ty: own.ty(),
            len: 0,
            ptr: own.base(),
            owner: Owner::Own(own),
        }
    }

    /// Lends the elements to another frame, while this one is unused.
    fn lent(&self) -> Held<'_> {
        Held {
            ty: self.ty,
            len: self.len,
            ptr: self.ptr,
            owner: Owner::Lent {
                capacity: self.len,
                memory: PhantomData,
            },
        }
    }

    /// Returns the element type.
    pub fn ty(&self) -> Ty {
        self.ty
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match &self.owner {
            Owner::Own(own) => own.len(),
            Owner::Lent { .. } => self.len,
        }
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of elements at [`as_mut_ptr`](Held::as_mut_ptr).
    ///
    /// A far array has none there.
    pub fn len_here(&self) -> usize {
        self.len
    }

    /// Returns the device memory for writing, if the array is owned and far.
    pub fn far_mut(&mut self) -> Option<&mut dyn Far> {
        match &mut self.owner {
            Owner::Own(own) if self.len == 0 => own.far_mut(),
            _ => None,
        }
    }

    /// Returns the buffer, if the frame owns it.
    pub fn own(&self) -> Option<&Buffer> {
        match &self.owner {
            Owner::Own(buffer) => Some(buffer),
            Owner::Lent { .. } => None,
        }
    }

    /// Returns the buffer, if the frame owns it.
    ///
    /// A lent array stays with its owner.
    pub fn into_own(self) -> Option<Buffer> {
        match self.owner {
            Owner::Own(buffer) => Some(buffer),
            Owner::Lent { .. } => None,
        }
    }

    /// Copies the elements.
    ///
    /// Returns `None` if there is no memory for the copy.
    pub fn copy(&self) -> Option<Buffer> {
        if let Some(own) = self.own() {
            return Buffer::copy_of(own.view());
        }
        let mut copy = Buffer::zeroed(self.ty, self.len)?;
        for i in 0..self.len {
            copy.set_word(i, self.get_word(i)?);
        }
        Some(copy)
    }

    /// Shortens the array to its first `len` elements.
    ///
    /// A shorter array stays as it is.
    pub fn truncate(&mut self, len: usize) {
        if let Owner::Own(own) = &mut self.owner {
            own.truncate(len);
            self.ptr = own.base();
        }
        self.len = self.len.min(len);
    }

    /// Lengthens the array to `len` elements by appending zeros.
    ///
    /// A longer array stays as it is. Returns `false` and changes nothing if the array was lent, if
    /// it is far, or if there is no memory for it.
    pub fn grow(&mut self, len: usize) -> bool {
        let Owner::Own(own) = &mut self.owner else {
            return false;
        };
        if own.is_far() || !own.grow(len) {
            return false;
        }
        (self.ptr, self.len) = (own.base(), own.len());
        true
    }

    /// Limits a lent array to `len` elements, at most the number lent.
    ///
    /// Owned arrays stay as they are.
    pub fn limit(&mut self, len: usize) {
        if let Owner::Lent { capacity, .. } = self.owner {
            self.len = len.min(capacity);
        }
    }

    /// Returns the canonical word of an element.
    ///
    /// Returns `None` out of bounds.
    #[inline]
    pub fn get_word(&self, i: usize) -> Option<u64> {
        if i >= self.len {
            return self.own().and_then(|own| own.far_word(i));
        }
        // SAFETY: `i` is inside, the element is aligned for its type and so for the atomic one of
        // its size, and nobody accesses it otherwise than atomically, but as the lender has vouched
        // for.
        Some(unsafe {
            let at = self.ptr.as_ptr().add(i * self.ty.size());
            match self.ty {
                Ty::Bool | Ty::U8 => u64::from(AtomicU8::from_ptr(at).load(Relaxed)),
                Ty::I8 => AtomicU8::from_ptr(at).load(Relaxed) as i8 as u64,
                Ty::U16 => u64::from(AtomicU16::from_ptr(at.cast()).load(Relaxed)),
                Ty::I16 => AtomicU16::from_ptr(at.cast()).load(Relaxed) as i16 as u64,
                Ty::U32 | Ty::F32 => u64::from(AtomicU32::from_ptr(at.cast()).load(Relaxed)),
                Ty::I32 => AtomicU32::from_ptr(at.cast()).load(Relaxed) as i32 as u64,
                Ty::U64 | Ty::I64 | Ty::F64 => AtomicU64::from_ptr(at.cast()).load(Relaxed),
            }
        })
    }

    /// Sets an element from a canonical word.
    ///
    /// Returns `false` and changes nothing out of bounds.
    #[inline]
    pub fn set_word(&mut self, i: usize, word: u64) -> bool {
        if i >= self.len {
            return self.set_far_word(i, word);
        }
        // SAFETY: as in `get_word`; a `Bool`'s byte is made 0 or 1.
        unsafe {
            let at = self.ptr.as_ptr().add(i * self.ty.size());
            match self.ty {
                Ty::Bool => AtomicU8::from_ptr(at).store((word & 1) as u8, Relaxed),
                Ty::U8 | Ty::I8 => AtomicU8::from_ptr(at).store(word as u8, Relaxed),
                Ty::U16 | Ty::I16 => {
                    AtomicU16::from_ptr(at.cast()).store(word as u16, Relaxed);
                }
                Ty::U32 | Ty::I32 | Ty::F32 => {
                    AtomicU32::from_ptr(at.cast()).store(word as u32, Relaxed);
                }
                Ty::U64 | Ty::I64 | Ty::F64 => {
                    AtomicU64::from_ptr(at.cast()).store(word, Relaxed);
                }
            }
        }
        true
    }

    #[cold]
    fn set_far_word(&mut self, i: usize, word: u64) -> bool {
        match &mut self.owner {
            Owner::Own(own) => own.set_far_word(i, word),
            Owner::Lent { .. } => false,
        }
    }

    /// Copies elements of the same type to position `at`, as far as they fit.
    ///
    /// Returns the number of copied elements.
    ///
    /// # Safety
    ///
    /// No other code may read or write these elements meanwhile.
    pub unsafe fn write_from(&mut self, at: usize, from: View<'_>) -> usize {
        let n = from.len().min(self.len.saturating_sub(at));
        if n == 0 || from.ty() != self.ty {
            return 0;
        }
        let size = self.ty.size();
        // SAFETY: `n` elements from `at` on are inside and nobody else's, `from` has as many; `&mut self`
        // is not part of what `from` borrows.
        unsafe {
            let to = self.ptr.as_ptr().add(at * size);
            match self.len * size >= PAST_CACHES {
                true => copy_past_caches(from.as_ptr(), to, n * size),
                false => to.copy_from_nonoverlapping(from.as_ptr(), n * size),
            }
        }
        n
    }

    /// Returns a pointer for reading and writing [the elements here](Held::len_here).
    ///
    /// Compiled kernels write through it. They must leave valid values: a `Bool` is a byte 0 or 1.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.ptr.as_ptr()
    }
}

impl fmt::Debug for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held([{}; {}])", self.ty, self.len)
    }
}

/// Size from which arrays do not stay in the caches. Copies to them bypass the caches.
const PAST_CACHES: usize = 4 << 20;

/// Copies bytes without reading the replaced memory into the caches.
///
/// # Safety
///
/// As for [`std::ptr::copy_nonoverlapping`].
unsafe fn copy_past_caches(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        let head = to.addr().wrapping_neg() % ALIGN;
        let lines = bytes.saturating_sub(head) / ALIGN;
        if lines > 0 {
            let tail = head + lines * ALIGN;
            // SAFETY: everything is within the `bytes` of both; the stored-to addresses are
            // multiples of 16; the fence orders them before any later access, as plain stores would
            // be.
            unsafe {
                to.copy_from_nonoverlapping(from, head);
                for at in (head..tail).step_by(16) {
                    let x = _mm_loadu_si128(from.add(at).cast::<__m128i>());
                    _mm_stream_si128(to.add(at).cast::<__m128i>(), x);
                }
                to.add(tail)
                    .copy_from_nonoverlapping(from.add(tail), bytes - tail);
                _mm_sfence();
            }
            return;
        }
    }
    // SAFETY: the caller's promise.
    unsafe { to.copy_from_nonoverlapping(from, bytes) };
}
