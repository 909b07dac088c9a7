//! Foreign memory: reads, no writes, and release; offsets from other libraries.

use crate::common::{engines, shape};
use livefusion::error::ErrorKind;
use livefusion::prelude::*;
use livefusion::{Error, Result};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Numbers that count when their memory is freed.
struct Counted {
    numbers: Vec<i64>,
    freed: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.freed.fetch_add(1, SeqCst);
    }
}

fn counted(numbers: Vec<i64>, freed: &Arc<AtomicUsize>) -> Array<i64> {
    let freed = freed.clone();
    let owner = Arc::new(Counted { numbers, freed });
    let at = NonNull::from(&owner.numbers[..]).cast();
    // SAFETY: the vector stays as it is until its owner is dropped.
    unsafe { Array::foreign(at, owner.numbers.len(), owner) }
}

#[test]
fn an_owner_lives_as_long_as_what_was_made_of_its_memory() -> Result<()> {
    for engine in engines() {
        let freed = Arc::new(AtomicUsize::new(0));
        let xs = counted((0..1000).collect(), &freed);
        let evens = xs.filter(|x| (x % 2).eq(0));
        let same = xs.force_with(&engine)?;
        drop(xs);
        assert_eq!(evens.sum().force_with(&engine)?, 249_500);
        drop(evens);
        // The forced result is the foreign memory itself.
        assert_eq!((same[999], freed.load(SeqCst)), (999, 0));
        let back = Array::from(same);
        let copy = back.to_vec()?;
        std::thread::spawn(move || drop(back)).join().unwrap();
        assert_eq!((copy.len(), freed.load(SeqCst)), (1000, 1));
    }
    Ok(())
}

#[test]
fn memory_of_others_is_not_written() -> Result<()> {
    for engine in engines() {
        let freed = Arc::new(AtomicUsize::new(0));
        let owner = Arc::new(Counted {
            numbers: vec![1, 2, 3, 4],
            freed: freed.clone(),
        });
        let at = NonNull::from(&owner.numbers[..]).cast();
        // SAFETY: nobody changes the numbers.
        let xs = unsafe { Array::<i64>::foreign(at, 4, owner.clone()) };
        let updated = xs.update(0, 10);
        drop(xs);
        assert_eq!(updated.force_with(&engine)?, [10, 2, 3, 4]);
        drop(updated);
        assert_eq!(owner.numbers, [1, 2, 3, 4]);
        assert_eq!((Arc::strong_count(&owner), freed.load(SeqCst)), (1, 0));
    }
    Ok(())
}

#[test]
fn memory_that_is_not_aligned_is_an_error() {
    let freed = Arc::new(AtomicUsize::new(0));
    let owner = Arc::new(Counted {
        numbers: vec![1, 2],
        freed: freed.clone(),
    });
    let at = NonNull::from(&owner.numbers[..]).cast::<u8>();
    // SAFETY: eight bytes from the second one on are the owner's, and nobody changes them.
    let xs = unsafe { Array::<i64>::foreign(at.add(1).cast(), 1, owner) };
    let Err(error) = xs.force() else {
        panic!("expected an error");
    };
    assert!(
        error
            .to_string()
            .contains("expected memory at a multiple of 8 bytes")
    );
    assert_eq!((error.combinator, freed.load(SeqCst)), ("foreign", 1));
}

/// Segments with offsets of any integer type and any first offset are one loop that writes only the
/// result.
fn offsets_of<I: Int>(offsets: Vec<I>) -> Result<()> {
    for engine in engines() {
        let data = Array::<i64>::from(vec![1, 2, 3, 4, 5]);
        let rows = Segmented::from_offsets(&Array::<I>::from(offsets.clone()), &data);
        let sums = rows.sum();
        assert_eq!(shape(&[sums.node()])?, (1, 1));
        assert_eq!(sums.force_with(&engine)?, [3, 0, 12]);
    }
    Ok(())
}

#[test]
fn offsets_are_read_as_they_are() -> Result<()> {
    offsets_of(vec![0i32, 2, 2, 5])?;
    offsets_of(vec![0i64, 2, 2, 5])?;
    offsets_of(vec![7i32, 9, 9, 12])?;
    offsets_of(vec![
        1i64 << 40,
        (1 << 40) + 2,
        (1 << 40) + 2,
        (1 << 40) + 5,
    ])?;
    offsets_of(vec![3u32, 5, 5, 8])?;
    Ok(())
}

#[test]
fn offsets_that_do_not_fit_are_errors() -> Result<()> {
    let data = Array::from(vec![1i64, 2, 3]);
    for offsets in [
        vec![0i32, 2],
        vec![0, 4],
        vec![0, 2, 1, 3],
        vec![3, 0],
        vec![0, i32::MAX],
        vec![0, i32::MIN, 3],
        vec![i32::MIN, i32::MAX],
    ] {
        let rows = Segmented::from_offsets(&Array::from(offsets.clone()), &data);
        for engine in engines() {
            let error: Error = rows.sum().force_with(&engine).unwrap_err();
            assert!(
                matches!(error.kind, ErrorKind::Segments { .. }),
                "{offsets:?}: {error}"
            );
        }
    }
    let none = Segmented::from_offsets(&Array::from(Vec::<i32>::new()), &data.take(0));
    assert_eq!(none.sum().force()?.len(), 0);
    Ok(())
}
