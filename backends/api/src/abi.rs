//! The interface between compiled code and its caller.
//!
//! It defines the memory layout of a call, and the callbacks that allocate arrays.

use crate::buffer::{Content, Spare, View};
use crate::{Frame, Growth, Held, Memory};
use loop_lang::types::Ty;
use smallvec::SmallVec;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

/// Holds the argument of compiled code.
///
/// Code sees the fields before `callbacks`, in this order.
#[repr(C)]
pub struct Run<'f, 'm> {
    /// The frame's words.
    pub words: *mut u64,
    /// The number of steps to take.
    pub budget: u64,
    /// Scalar parameters as words, by parameter.
    pub scalars: *const u64,
    /// Array parameters, by parameter.
    pub inputs: *const Array,
    /// Arrays that the loop made, by slot.
    pub made: *mut Array,
    /// Scalar results as words, lengths of array results.
    pub results: *mut u64,
    /// Memory for the kernel's own use, of the requested size.
    pub scratch: *mut u64,
    /// `newArray`: slot, length, combinator. Returns 0 on failure.
    pub new_array: extern "C" fn(*mut Run<'f, 'm>, u32, u64, u32) -> u32,
    /// `fillArray`: slot, length, the elements' word, combinator. Returns 0 on failure.
    pub fill_array: extern "C" fn(*mut Run<'f, 'm>, u32, u64, u64, u32) -> u32,
    /// `copyArray`: slot, elements, length, combinator. Returns 0 on failure.
    pub copy_array: extern "C" fn(*mut Run<'f, 'm>, u32, *const c_void, u64, u32) -> u32,
    /// Set once scalar loops may end at once: see [`Frame::stop`].
    pub stop: *const AtomicBool,
    /// Data for the callbacks, which compiled code does not touch.
    pub(crate) callbacks: Callbacks<'f, 'm>,
}

/// Describes an array for compiled code.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// Its elements.
    pub data: *mut c_void,
    /// Its length.
    pub length: u64,
}

/// Describes a compiled pass, which returns one of the [`outcome`]s.
pub type Entry = unsafe extern "C" fn(*mut c_void) -> i32;

/// Return values of a compiled pass.
pub mod outcome {
    /// Says that the loop ran to its end.
    pub const DONE: i32 = 0;
    /// Says that the steps are used up.
    pub const PAUSED: i32 = 1;
    /// Says that the loop ended by an early exit.
    pub const EXITED: i32 = 2;
    /// Says that the loop trapped.
    pub const TRAPPED: i32 = 3;
    /// Says that a callback failed.
    pub const NO_MEMORY: i32 = 4;
}

/// The state that the callbacks of compiled code work on.
pub(crate) struct Callbacks<'f, 'm> {
    pub arrays: &'f mut [Option<Held<'m>>],
    pub given: &'f mut Vec<usize>,
    pub spare: &'f mut Spare,
    /// Types of the arrays, by slot.
    pub types: &'f [Ty],
    /// Whether the loop fills an array, by slot.
    pub filled: &'f [bool],
    /// The memory that is left.
    pub memory: &'f mut Memory,
    pub growth: &'f mut Growth,
    pub refused: Option<(u32, u64)>,
    pub views: SmallVec<[Array; 4]>,
}

impl Callbacks<'_, '_> {
    /// Empties a slot. Its memory may be allocated again.
    fn vacate(&mut self, slot: u32) {
        if let Some(old) = self.arrays[slot as usize].take() {
            let bytes = old.len() as u64 * old.ty().size() as u64;
            self.memory.give_back(bytes);
        }
    }

    /// Makes the array of a slot, within the memory limit.
    ///
    /// The old array in the slot is dropped first. A copy may read it, and then it is dropped last.
    fn make(&mut self, slot: u32, length: u64, comb: u32, content: Content<'_>) -> Option<()> {
        let ty = *self.types.get(slot as usize)?;
        let bytes = length.saturating_mul(ty.size() as u64);
        if !matches!(content, Content::Copy(_)) {
            self.vacate(slot);
        }
        let at = slot as usize;
        let buffer = self
            .growth
            .begin(at, ty, length, self.memory)
            .and_then(|n| self.spare.make(at, ty, n, content));
        let Some(buffer) = buffer else {
            self.refused = Some((comb, bytes));
            return None;
        };
        self.vacate(slot);
        let mut held = Held::from(buffer);
        self.views[slot as usize] = view_of(&mut held);
        self.arrays[slot as usize] = Some(held);
        Some(())
    }
}

pub(crate) fn view_of(held: &mut Held<'_>) -> Array {
    Array {
        data: held.as_mut_ptr().cast(),
        length: held.len_here() as u64,
    }
}

/// Runs a callback and catches panics, which must not cross into compiled code.
fn guarded(call: impl FnOnce() -> Option<()>) -> u32 {
    u32::from(matches!(catch_unwind(AssertUnwindSafe(call)), Ok(Some(()))))
}

pub(crate) extern "C" fn new_array(
    run: *mut Run<'_, '_>,
    slot: u32,
    length: u64,
    comb: u32,
) -> u32 {
    // SAFETY: compiled code passes on the run that it was given, and touches none of `callbacks`.
    let callbacks = unsafe { &mut (*run).callbacks };
    let content = match callbacks.filled.get(slot as usize) {
        Some(true) => Content::Any,
        _ => Content::Word(0),
    };
    guarded(|| callbacks.make(slot, length, comb, content))
}

pub(crate) extern "C" fn fill_array(
    run: *mut Run<'_, '_>,
    slot: u32,
    length: u64,
    word: u64,
    comb: u32,
) -> u32 {
    // SAFETY: as in `new_array`.
    let callbacks = unsafe { &mut (*run).callbacks };
    guarded(|| callbacks.make(slot, length, comb, Content::Word(word)))
}

pub(crate) extern "C" fn copy_array(
    run: *mut Run<'_, '_>,
    slot: u32,
    data: *const c_void,
    length: u64,
    comb: u32,
) -> u32 {
    // SAFETY: as in `new_array`.
    let callbacks = unsafe { &mut (*run).callbacks };
    guarded(|| {
        if Frame::take_given(callbacks.given, slot as usize) {
            let given = callbacks.arrays[slot as usize].as_mut()?;
            callbacks.views[slot as usize] = view_of(given);
            return Some(());
        }
        let ty = *callbacks.types.get(slot as usize)?;
        let n = usize::try_from(length).ok()?;
        // SAFETY: compiled code passes an array of `length` elements of the slot's type, as the
        // verifier checked; the slot's old array stays until they are copied.
        let elements = unsafe { View::of_raw(ty, data.cast(), n) };
        callbacks.make(slot, length, comb, Content::Copy(elements))
    })
}
