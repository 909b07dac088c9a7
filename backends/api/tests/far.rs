//! Tests of far arrays.
//!
//! A vector simulates the device, and fails on demand.

use livefusion_backend::buffer::Content;
use livefusion_backend::{Buffer, Far, FarError, Frame, Held, Maker};
use loop_lang::types::Ty;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// A record of accesses to a device's memory.
#[derive(Default)]
struct Log {
    reads: AtomicU32,
    fails: AtomicBool,
}

struct Memory(Mutex<Vec<u8>>, Arc<Log>);

impl Far for Memory {
    fn read(&self, at: usize, to: &mut [u8]) -> Result<(), String> {
        if self.1.fails.load(Relaxed) {
            return Err("the device is lost".into());
        }
        self.1.reads.fetch_add(1, Relaxed);
        to.copy_from_slice(&self.0.lock().unwrap()[at..at + to.len()]);
        Ok(())
    }

    fn write(&mut self, at: usize, from: &[u8]) -> Result<(), String> {
        self.0.get_mut().unwrap()[at..at + from.len()].copy_from_slice(from);
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

fn memory(of: &Buffer, log: &Arc<Log>) -> Box<dyn Far> {
    Box::new(Memory(Mutex::new(of.as_bytes().to_vec()), log.clone()))
}

fn far(elements: Vec<i32>) -> (Buffer, Arc<Log>) {
    let (log, here) = (Arc::new(Log::default()), Buffer::from_vec(elements));
    let far = Buffer::from_far(Ty::I32, here.len(), memory(&here, &log));
    (far.expect("room for them"), log)
}

#[test]
fn elements_come_when_they_are_looked_at_and_once() {
    let (array, log) = far(vec![1, -2, 3]);
    assert!(array.is_far());
    let reads = log.reads.load(Relaxed);
    assert_eq!((array.len(), array.bytes(), reads), (3, 12, 0));
    assert_eq!(array.as_slice::<i32>(), Some(&[1, -2, 3][..]));
    assert_eq!(array.view().get_word(1), Some(-2i64 as u64));
    assert_eq!((array.is_far(), log.reads.load(Relaxed)), (false, 1));
    assert!(array.far().is_some(), "they are still there");
    assert_eq!(array.into_vec::<i32>().unwrap(), [1, -2, 3]);
}

#[test]
fn far_buffer_changed_here_is_current_nowhere_else() {
    let (mut array, _) = far(vec![1, 2]);
    assert!(array.set_word(0, 7));
    assert_eq!(array.as_slice::<i32>(), Some(&[7, 2][..]));
    assert!(array.far().is_none());
    let mut array = Buffer::from_vec(vec![1i32, 2]);
    assert!(array.keep_far(memory(&array, &Arc::default())));
    let again = array.keep_far(memory(&array, &Arc::default()));
    assert!(!again && array.far().is_some() && !array.is_far());
    array.as_mut_slice::<i32>().unwrap()[1] = 5;
    assert!(array.far().is_none());
}

#[test]
fn a_device_that_fails_loses_nothing_silently() {
    let (mut array, log) = far(vec![1, 2]);
    log.fails.store(true, Relaxed);
    let lost = FarError::Device("the device is lost".into());
    assert_eq!(array.here().err(), Some(lost));
    assert_eq!(array.as_slice::<i32>(), None);
    assert!(array.view().is_empty() && !array.set_word(0, 1));
    assert_eq!(array.as_mut_slice::<i32>(), None);
    // The far copy was kept.
    log.fails.store(false, Relaxed);
    assert_eq!(array.as_slice::<i32>(), Some(&[1, 2][..]));
}

#[test]
fn memory_that_is_too_small_is_no_array() {
    let log = Arc::default();
    let small = || memory(&Buffer::from_vec(vec![1u8; 7]), &log);
    assert!(Buffer::from_far(Ty::U64, 1, small()).is_none());
    assert!(!Buffer::from_vec(vec![1u64]).keep_far(small()));
}

#[test]
fn bytes_that_are_no_bools_become_some() {
    let bytes = Buffer::from_vec(vec![0u8, 1, 255]);
    let array = Buffer::from_far(Ty::Bool, 3, memory(&bytes, &Arc::default())).unwrap();
    assert_eq!(array.far_word(2), Some(1));
    assert_eq!(array.as_slice::<bool>(), Some(&[false, true, true][..]));
}

#[test]
fn a_frame_holds_far_arrays_and_single_elements_stay_there() {
    let (array, log) = far(vec![1, 2, 3]);
    let mut held = Held::anywhere(array);
    assert_eq!(
        (held.len(), held.len_here(), held.is_empty()),
        (3, 0, false)
    );
    assert_eq!((held.get_word(2), held.get_word(3)), (Some(3), None));
    assert!(held.set_word(2, 9) && !held.set_word(3, 9));
    held.truncate(2);
    assert_eq!((held.len(), held.get_word(2)), (2, None));
    assert_eq!(log.reads.load(Relaxed), 1, "one element");
    let array = held.into_own().unwrap();
    assert!(array.is_far());
    assert_eq!(array.as_slice::<i32>(), Some(&[1, 2][..]));
    // A frame that holds its arrays here fetches them.
    let held = Held::from(far(vec![4, 5]).0);
    assert_eq!((held.len_here(), held.get_word(1)), (2, Some(5)));
}

/// Makes all arrays far.
struct AllFar(Arc<Log>);

impl Maker for AllFar {
    fn make(&self, _: usize, ty: Ty, len: usize, content: Content<'_>) -> Option<Buffer> {
        let here = match content {
            Content::Any => Buffer::zeroed(ty, len)?,
            Content::Word(word) => Buffer::fill(ty, len, word)?,
            Content::Copy(of) => Buffer::copy_of(of)?,
        };
        self.copy(&here)
    }

    fn copy(&self, of: &Buffer) -> Option<Buffer> {
        Buffer::from_far(of.ty(), of.len(), memory(of, &self.0))
    }
}

#[test]
fn arrays_are_made_where_the_maker_wants_them() {
    let mut frame = Frame::new(&Default::default());
    let here = frame.make(0, Ty::U8, 2, Content::Word(3)).unwrap();
    assert_eq!(here.len_here(), 2);
    frame.maker = Some(Arc::new(AllFar(Arc::default())));
    let there = frame.make(0, Ty::U8, 2, Content::Word(3)).unwrap();
    assert_eq!((there.len_here(), there.len()), (0, 2));
    assert_eq!(there.get_word(1), Some(3));
}
