//! Tests of buffers and views.

use super::*;
use proptest::prelude::*;

#[test]
fn zeroed_is_aligned_and_zero() {
    for ty in Ty::ALL {
        for len in [0, 1, 7, 64, 10_000] {
            let b = Buffer::zeroed(ty, len).unwrap();
            assert_eq!((b.ty(), b.len()), (ty, len));
            assert_eq!(b.as_ptr().addr() % ALIGN, 0);
            assert!((0..len).all(|i| b.get_word(i) == Some(0)));
            assert_eq!(b.get_word(len), None);
        }
    }
}

#[test]
fn too_large_is_none() {
    assert!(Buffer::zeroed(Ty::F64, usize::MAX).is_none());
    assert!(Buffer::zeroed(Ty::F64, usize::MAX / 8).is_none());
    assert!(Buffer::zeroed(Ty::U8, isize::MAX as usize).is_none());
    assert!(Buffer::fill(Ty::I16, usize::MAX / 2, 1).is_none());
}

#[test]
fn vectors_come_back_without_a_copy() {
    let mut v = vec![1.5f64, 2.5, -0.0];
    v.reserve(100);
    let (ptr, capacity) = (v.as_ptr(), v.capacity());
    let b = Buffer::from_vec(v);
    assert_eq!(b.as_ptr(), ptr.cast());
    let back = b.into_vec::<f64>().unwrap();
    assert_eq!((back.as_ptr(), back.capacity()), (ptr, capacity));
    assert_eq!(back, [1.5, 2.5, 0.0]);
}

#[test]
fn types_are_checked() {
    let mut b = Buffer::from_vec(vec![1u64, 2, 3]);
    assert_eq!(b.as_slice::<usize>(), Some(&[1usize, 2, 3][..]));
    assert_eq!(b.as_slice::<i64>(), None);
    assert_eq!(b.as_mut_slice::<f64>(), None);
    let b = b.into_vec::<i64>().unwrap_err();
    assert_eq!(b.into_vec::<usize>().unwrap(), [1, 2, 3]);
    assert_eq!(Buffer::from_vec(vec![true]).as_slice::<u8>(), None);
}

#[test]
fn bools_stay_zero_or_one() {
    let mut b = Buffer::fill(Ty::Bool, 3, 0xff).unwrap();
    assert!(b.set_word(1, 2));
    assert!(b.set_word(2, 3));
    assert!(!b.set_word(3, 1));
    assert_eq!(b.as_slice::<bool>(), Some(&[true, false, true][..]));
}

#[test]
fn truncate_gives_memory_back() {
    let mut b = Buffer::zeroed(Ty::I32, 1 << 20).unwrap();
    for i in 0..100 {
        b.set_word(i, i as u64);
    }
    b.truncate(100);
    assert!(b.bytes() <= 4096); // A page.
    assert_eq!(b.as_ptr().addr() % ALIGN, 0);
    assert!((0..100).all(|i| b.get_word(i) == Some(i as u64)));
    b.truncate(200);
    assert_eq!(b.len(), 100);
    b.truncate(0);
    assert_eq!(b.into_vec::<i32>().unwrap(), []);
}

#[test]
fn views_slice_within_bounds() {
    let b = Buffer::from_vec(vec![1i8, -2, 3]);
    assert_eq!(
        b.slice(1, 2).unwrap().as_slice::<i8>(),
        Some(&[-2i8, 3][..])
    );
    assert_eq!(b.slice(1, 1).unwrap().get_word(0), Some(-2i64 as u64));
    assert!(b.slice(3, 0).unwrap().is_empty());
    assert!(b.slice(2, 2).is_none());
    assert!(b.slice(usize::MAX, 2).is_none());
    assert!(View::new::<f32>(&[]).get_word(0).is_none());
}

#[test]
fn empty_vectors_work() {
    let b = Buffer::from_vec(Vec::<u16>::new());
    assert!(b.is_empty());
    assert_eq!(b.as_slice::<u16>(), Some(&[][..]));
    assert_eq!(b.into_vec::<u16>().unwrap(), []);
    let b = Buffer::from_vec(Vec::<u16>::with_capacity(4));
    assert_eq!(b.into_vec::<u16>().unwrap().capacity(), 4);
}

/// Draws a type, a word of it, a length and a position.
fn any_case() -> impl Strategy<Value = (Ty, u64, usize, usize)> {
    (0..Ty::ALL.len(), any::<u64>(), 0..300usize, 0..300usize)
        .prop_map(|(t, w, n, i)| (Ty::ALL[t], loop_lang::types::canonical(Ty::ALL[t], w), n, i))
}

proptest! {
    #[test]
    fn words_written_are_read((ty, word, len, i) in any_case()) {
        let mut b = Buffer::zeroed(ty, len).unwrap();
        prop_assert_eq!(b.set_word(i, word), i < len);
        for k in 0..len {
            prop_assert_eq!(b.get_word(k), Some(if k == i { word } else { 0 }));
        }
    }

    #[test]
    fn fills_hold_the_word((ty, word, len, i) in any_case()) {
        let mut b = Buffer::fill(ty, len, word).unwrap();
        b.truncate(i);
        let copy = Buffer::copy_of(b.view()).unwrap();
        prop_assert_eq!(copy.len(), len.min(i));
        prop_assert!((0..copy.len()).all(|k| copy.get_word(k) == Some(word)));
    }

    #[test]
    fn vectors_round_trip(v in proptest::collection::vec(any::<i16>(), 0..200), cut in 0..250usize) {
        let mut b = Buffer::from_vec(v.clone());
        b.truncate(cut);
        let n = v.len().min(cut);
        prop_assert_eq!(b.as_slice::<i16>(), Some(&v[..n]));
        prop_assert_eq!(b.into_vec::<i16>().unwrap(), &v[..n]);
    }
}

/// Locks and empties the shared pool, so that recycling tests run one after the other.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    recycle::clear();
    alone
}

/// Larger than any array of other tests.
const LARGE: usize = 10 << 20;

#[test]
fn memory_of_dropped_arrays_is_used_again() {
    let _alone = alone();
    let b = Buffer::fill(Ty::U8, LARGE, 7).unwrap();
    let at = b.as_ptr();
    drop(b);
    assert!(recycle::kept() >= LARGE);
    let b = Buffer::uncleared(Ty::F32, LARGE / 4).unwrap();
    assert_eq!(b.as_ptr(), at);
    drop(b);
    // Reuse with another type, a shorter length, and zeros requested.
    let b = Buffer::zeroed(Ty::I16, LARGE / 2 - 1000).unwrap();
    assert_eq!(b.as_ptr(), at);
    assert!(b.as_slice::<i16>().unwrap().iter().all(|x| *x == 0));
    let other = Buffer::zeroed(Ty::U8, LARGE).unwrap();
    assert_ne!(other.as_ptr(), at);
    assert!(other.as_slice::<u8>().unwrap().iter().all(|x| *x == 0));
}

/// A huge page is faulted in at once, so the next block's first page costs nothing.
#[cfg(target_os = "linux")]
#[test]
fn short_blocks_share_a_huge_page() {
    let mut region = pages::Region::default();
    let [a, b] = [100_000, 70_000].map(|n| region.block(n).unwrap());
    assert_eq!(
        b.base(),
        a.base().map_addr(|at| at.saturating_add(a.bytes()))
    );
    assert_eq!(a.bytes() % pages::PAGE, 0);
    drop(a);
    // SAFETY: the block is alive, and nobody else knows it.
    let bytes = unsafe { std::slice::from_raw_parts_mut(b.base().as_ptr(), b.bytes()) };
    assert!(bytes.iter().all(|x| *x == 0));
    bytes.fill(7);
    let long = region.block(100 << 20).unwrap();
    assert_eq!(long.bytes(), 100 << 20);
    assert!(bytes.iter().all(|x| *x == 7));
}

#[test]
fn buffer_given_back_by_a_filter_grows_again() {
    let _alone = alone();
    let mut b = Buffer::fill(Ty::U8, 2 * LARGE, 9).unwrap();
    b.truncate(LARGE);
    assert!(b.bytes() < LARGE + LARGE / 100);
    assert!(b.as_slice::<u8>().unwrap().iter().all(|x| *x == 9));
    drop(b);
    let b = Buffer::uncleared(Ty::U8, 2 * LARGE).unwrap();
    let all = b.as_slice::<u8>().unwrap();
    assert_eq!((all[LARGE - 1], all[2 * LARGE - 1]), (9, 0));
}

#[test]
fn buffer_kept_for_reuse_raises_no_peak() {
    let _alone = alone();
    let [a, b] = [1, 2].map(|n| Buffer::zeroed(Ty::U8, n * LARGE).unwrap());
    drop((a, b));
    let most = recycle::kept();
    assert!(most >= 3 * LARGE);
    // Neither block suits, so both must be freed.
    let c = Buffer::zeroed(Ty::U8, 5 * LARGE / 2).unwrap();
    assert!(recycle::kept() + c.bytes() <= most);
    recycle::clear();
    assert!(recycle::kept() < LARGE);
}

#[test]
fn no_more_is_kept_than_wanted() {
    let _alone = alone();
    let before = recycle::limit();
    recycle::set_limit(LARGE);
    drop([1, 1].map(|n| Buffer::zeroed(Ty::U8, n * LARGE).unwrap()));
    let kept = recycle::kept();
    recycle::set_limit(0);
    let none = recycle::kept();
    recycle::set_limit(before);
    assert!(kept <= LARGE);
    assert_eq!(none, 0);
}

#[test]
fn foreign_buffer_is_only_read() {
    let owner = std::sync::Arc::new([1u32, 2, 3]);
    let ptr = NonNull::from(owner.as_ref()).cast::<u8>();
    let foreign = |ptr| {
        // SAFETY: the owner keeps its numbers, and nobody changes them.
        unsafe { Buffer::foreign(Ty::U32, 2, ptr, owner.clone()) }
    };
    // SAFETY: inside of the first number; nothing is read there.
    assert!(foreign(unsafe { ptr.add(2) }).is_none());
    let mut b = foreign(ptr).unwrap();
    assert!(!b.set_word(0, 7) && b.as_mut_slice::<u32>().is_none());
    assert_eq!((b.as_slice::<u32>(), b.bytes()), (Some(&[1, 2][..]), 0));
    b.truncate(1);
    assert_eq!(b.as_bytes(), 1u32.to_ne_bytes());
    // Foreign memory serves neither another array,
    let mut spare = Spare::default();
    spare.offer(0, b);
    let made = spare.make(0, Ty::U32, 0, Content::Any).unwrap();
    assert!(!made.is_foreign() && spare.used() == 0);
    // nor a loop,
    let mut held = crate::Held::from(foreign(ptr).unwrap());
    assert!(held.set_word(0, 7));
    // nor a vector.
    let mut vec = foreign(ptr).unwrap().into_vec::<u32>().unwrap();
    vec[0] = 9;
    assert_eq!(*owner, [1, 2, 3]);
    assert_eq!(std::sync::Arc::strong_count(&owner), 1);
}

#[cfg(feature = "map")]
#[test]
fn files_are_mapped_where_elements_lie_right() {
    use std::io::Write;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&[1, 0, 0, 0, 2, 0, 0, 0, 3]).unwrap();
    // SAFETY: nobody else has the file.
    let map = |ty, at, n| unsafe { Buffer::mapped(ty, &file, at, n) };
    let b = map(Ty::U32, 4, 1).unwrap().unwrap();
    assert_eq!(b.as_bytes(), [2, 0, 0, 0]);
    assert_eq!(map(Ty::U8, 3, 6).unwrap().unwrap().len(), 6);
    assert!(map(Ty::U32, 1, 1).unwrap().is_none());
    assert!(map(Ty::Bool, 0, 1).unwrap().is_none());
    assert!(map(Ty::U32, 0, 0).unwrap().unwrap().is_empty());
    for (at, n) in [(0, 3), (8, 1), (u64::MAX, 1), (4, usize::MAX), (10, 0)] {
        assert!(map(Ty::U32, at, n).is_err(), "{at} {n}");
    }
}
