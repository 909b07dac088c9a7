//! DLPack: import and export of arrays, any strides, and refused tensors.

use super::fault;
use crate::common::{engines, shape};
use livefusion::ast::Node;
use livefusion::io::dlpack::{
    self, DataType, DlDevice, ManagedTensor, RawTensor, UnversionedTensor, Version,
};
use livefusion::io::{self, Ty};
use livefusion::prelude::*;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A tensor of another library that counts when it is freed.
struct Other {
    data: Vec<u8>,
    shape: Vec<i64>,
    strides: Vec<i64>,
    freed: Arc<AtomicUsize>,
}

unsafe extern "C" fn delete(tensor: *mut ManagedTensor) {
    // SAFETY: both boxes are made below, and this is called once.
    let (tensor, other) = unsafe {
        let tensor = Box::from_raw(tensor);
        let other = Box::from_raw(tensor.manager_ctx.cast::<Other>());
        (tensor, other)
    };
    other.freed.fetch_add(1, SeqCst);
    drop((tensor, other));
}

unsafe extern "C" fn delete_unversioned(tensor: *mut UnversionedTensor) {
    // SAFETY: as above.
    let (tensor, other) = unsafe {
        let tensor = Box::from_raw(tensor);
        let other = Box::from_raw(tensor.manager_ctx.cast::<Other>());
        (tensor, other)
    };
    other.freed.fetch_add(1, SeqCst);
    drop((tensor, other));
}

/// A tensor of another library whose data begins at element `first`.
fn tensor(
    numbers: &[i32],
    first: usize,
    shape: &[i64],
    strides: Option<&[i64]>,
) -> (NonNull<ManagedTensor>, Arc<AtomicUsize>) {
    let freed = Arc::new(AtomicUsize::new(0));
    let mut other = Box::new(Other {
        data: numbers.iter().flat_map(|n| n.to_ne_bytes()).collect(),
        shape: shape.to_vec(),
        strides: strides.unwrap_or_default().to_vec(),
        freed: freed.clone(),
    });
    let raw = RawTensor {
        data: other.data.as_mut_ptr().cast(),
        device: DlDevice { kind: 1, id: 0 },
        ndim: shape.len() as i32,
        dtype: DataType {
            code: 0,
            bits: 32,
            lanes: 1,
        },
        shape: other.shape.as_mut_ptr(),
        strides: match strides {
            Some(_) => other.strides.as_mut_ptr(),
            None => ptr::null_mut(),
        },
        byte_offset: 4 * first as u64,
    };
    let managed = Box::new(ManagedTensor {
        version: Version { major: 1, minor: 1 },
        manager_ctx: Box::into_raw(other).cast(),
        deleter: Some(delete),
        flags: 0,
        tensor: raw,
    });
    (NonNull::from(Box::leak(managed)), freed)
}

fn import(tensor: NonNull<ManagedTensor>) -> io::Result<Arc<Node>> {
    // SAFETY: each test makes its tensor, and uses it once.
    unsafe { dlpack::import_node(tensor) }
}

#[test]
fn there_and_back() {
    fn check<T: Scalar + PartialEq + std::fmt::Debug>(xs: Vec<T>) {
        let n = xs.len();
        let array = Array::from_vec((n, 1), xs.clone());
        let tensor = dlpack::export(&array).unwrap().into_raw();
        // SAFETY: it was made just now, and is used once.
        let back = unsafe { dlpack::import::<T, Ix2>(tensor) }.unwrap();
        let back = back.force().unwrap();
        assert_eq!((back.shape(), back.to_vec().unwrap()), ([n, 1], xs));
    }
    check(vec![true, false, true]);
    check(vec![-1i8, 2]);
    check(vec![-1i16, 2]);
    check(vec![-1i32, 2]);
    check(vec![-1i64, 2]);
    check(vec![1u8, 2]);
    check(vec![1u16, 2]);
    check(vec![1u32, 2]);
    check(vec![1u64, 2]);
    check(vec![1.5f32, 2.0]);
    check(vec![1.5f64, 2.0]);
    check(Vec::<f64>::new());
    let one = dlpack::export(&Array::scalar(7u16)).unwrap().into_raw();
    // SAFETY: as above.
    let one = unsafe { dlpack::import::<u16, Ix0>(one) }.unwrap();
    assert_eq!(one.force().unwrap(), 7);
    // A tensor that is exported and never imported.
    drop(dlpack::export(&iota(9)).unwrap());
}

#[test]
fn nothing_is_copied_and_all_is_freed() {
    let (raw, freed) = tensor(&[1, 2, 3, 4], 0, &[4], None);
    // SAFETY: it was made just now, and is used once.
    let xs = unsafe { dlpack::import::<i32, Ix1>(raw) }.unwrap();
    let held = xs.force().unwrap();
    assert!(held.columns()[0].is_foreign());
    // A tensor exported by us refers to the same memory.
    let out = dlpack::export(&xs).unwrap();
    drop(xs);
    let out = out.into_raw();
    // SAFETY: the tensor is ours until it is imported.
    let data = unsafe { out.as_ref() }.tensor.data.cast_const();
    assert_eq!(data, held.columns()[0].as_ptr().cast());
    drop(held);
    assert_eq!(freed.load(SeqCst), 0);
    drop(import(out).unwrap());
    assert_eq!(freed.load(SeqCst), 1);
}

#[test]
fn elements_lie_in_any_order() {
    let numbers: Vec<i32> = (0..24).collect();
    // Shape, strides, first element, and the elements row by row.
    for (shape_of, strides, first) in [
        (vec![2, 3], vec![3, 1], 0),
        (vec![2, 3], vec![1, 2], 0),
        (vec![3, 2], vec![8, 2], 1),
        (vec![4], vec![-2], 9),
        (vec![2, 3, 2], vec![-12, 4, -1], 13),
        (vec![3, 2], vec![0, 1], 5),
        (vec![1, 4], vec![999, 1], 2),
        (vec![2, 0], vec![1 << 40, 1 << 50], 2),
    ] {
        let (raw, freed) = tensor(&numbers, first, &shape_of, Some(&strides));
        let node = import(raw).unwrap();
        let mut expected = vec![first as i64];
        for (n, stride) in shape_of.iter().zip(&strides) {
            let along = |at: i64| (0..*n).map(move |i| at + i * stride);
            expected = expected.into_iter().flat_map(along).collect();
        }
        let expected: Vec<i32> = expected.into_iter().map(|at| at as i32).collect();
        for engine in engines() {
            let flat = livefusion::ast::Builder::named("flatten").flatten(&node);
            let doubled = Array::<i32>::from_node(flat).unwrap().map(|x| 2 * x);
            // The reading loop computes the addresses.
            assert_eq!(shape(&[doubled.node()]).unwrap(), (1, 1));
            let doubled = doubled.force_with(&engine).unwrap();
            let expected: Vec<i32> = expected.iter().map(|x| 2 * x).collect();
            assert_eq!(
                doubled.to_vec().unwrap(),
                expected,
                "{shape_of:?} {strides:?}"
            );
        }
        drop(node);
        assert_eq!(freed.load(SeqCst), 1);
    }
}

#[test]
fn bools_are_bytes_that_are_not_zero() {
    let (mut raw, _) = tensor(&[0x0001_0200, -1], 0, &[8], None);
    // SAFETY: nobody else has it yet.
    unsafe { raw.as_mut() }.tensor.dtype = DataType {
        code: 6,
        bits: 8,
        lanes: 1,
    };
    // SAFETY: it is used once.
    let bools = unsafe { dlpack::import::<bool, Ix1>(raw) }.unwrap();
    let bools = bools.force().unwrap();
    assert_eq!(bools, [false, true, true, false, true, true, true, true]);
}

#[test]
fn older_versions_are_taken() {
    let (versioned, freed) = tensor(&[1, 2, 3], 1, &[2], None);
    // SAFETY: the box is taken apart, and nobody else has it.
    let versioned = *unsafe { Box::from_raw(versioned.as_ptr()) };
    let old = Box::leak(Box::new(UnversionedTensor {
        tensor: versioned.tensor,
        manager_ctx: versioned.manager_ctx,
        deleter: Some(delete_unversioned),
    }));
    // SAFETY: it was made just now, and is used once.
    let node = unsafe { dlpack::import_unversioned(NonNull::from(old)) }.unwrap();
    assert_eq!(node.types[0], Ty::I32);
    assert_eq!(
        Array::<i32>::from_node(node).unwrap().force().unwrap(),
        [2, 3]
    );
    assert_eq!(freed.load(SeqCst), 1);
}

#[test]
fn dlpack_refuses_and_frees_unusable_tensors() {
    let refused = |change: &dyn Fn(&mut ManagedTensor), expected: &str| {
        let (mut raw, freed) = tensor(&[1, 2, 3], 0, &[3], None);
        // SAFETY: nobody else has it yet.
        change(unsafe { raw.as_mut() });
        assert_eq!(fault(import(raw)), expected);
        assert_eq!(freed.load(SeqCst), 1);
    };
    refused(
        &|t| t.version.major = 2,
        "expected DLPack of version 1, got 2.1",
    );
    refused(
        &|t| t.tensor.device.kind = 2,
        "expected memory of the processor (kind 1), got a device of kind 2",
    );
    refused(
        &|t| t.tensor.dtype.bits = 4,
        "expected elements that are scalars, got those of code 0, 4 bits, 1 lanes",
    );
    refused(
        &|t| t.tensor.dtype.code = 5,
        "expected elements that are scalars, got those of code 5, 32 bits, 1 lanes",
    );
    refused(
        &|t| t.tensor.dtype.lanes = 4,
        "expected elements that are scalars, got those of code 0, 32 bits, 4 lanes",
    );
    refused(&|t| t.tensor.ndim = -1, "expected at most 64 axes, got -1");
    refused(&|t| t.tensor.ndim = 65, "expected at most 64 axes, got 65");
    refused(
        &|t| t.tensor.shape = ptr::null_mut(),
        "expected the length of each axis, got none",
    );
    refused(
        &|t| t.tensor.data = ptr::null_mut(),
        "expected elements in memory, got none",
    );
    let lengths = |shape: &[i64], strides: Option<&[i64]>| {
        let (raw, freed) = tensor(&[1, 2, 3], 0, shape, strides);
        let text = fault(import(raw));
        assert_eq!(freed.load(SeqCst), 1);
        text
    };
    assert_eq!(
        lengths(&[3, -1], None),
        "expected lengths of axes, got [3, -1]"
    );
    let huge = [i64::MAX, 2];
    let text = "expected elements in memory, got [9223372036854775807, 2] of them";
    assert_eq!(lengths(&huge, None), text);
    let text = "expected elements in memory, got [2, 2] of them";
    assert_eq!(lengths(&[2, 2], Some(&[i64::MAX, i64::MAX])), text);
    assert_eq!(lengths(&[2, 2], Some(&[i64::MIN, i64::MAX])), text);
    let (raw, _) = tensor(&[1, 2, 3], 0, &[3], None);
    // SAFETY: it is used once.
    let other = unsafe { dlpack::import::<f32, Ix2>(raw) };
    assert_eq!(fault(other), "expected f32 of rank 2, got i32 of rank 1");
}
