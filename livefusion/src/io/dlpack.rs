//! DLPack: exchange of arrays with other libraries in this process, without a copy.
//!
//! Only CPU memory is supported. The structs are those of `dlpack.h`, version 1. An imported array may have any rank
//! and any strides: the loop that reads it computes each element's address from its index. An exported array is
//! row-major and marked read-only. Structs of older versions have no read-only flag: only import supports them.

use super::column::manifest;
use super::error::{ErrorKind, Place, Result};
use super::plain::{Plain, shape as shape_of, typed};
use crate::array::{Array, Rank};
use crate::ast::{Builder, Field, Node};
use crate::elt::Scalar;
use livefusion_backend::Buffer;
use loop_lang::op::Op;
use loop_lang::types::{Const, Ty};
use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Mirrors `DLPackVersion`, whose unknown major versions have other structs.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Changes when the layout changes.
    pub major: u32,
    /// Changes when something is added.
    pub minor: u32,
}

/// Mirrors `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlDevice {
    /// 1 is the CPU.
    pub kind: i32,
    /// The number of the device within its kind.
    pub id: i32,
}

/// Mirrors `DLDataType`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataType {
    /// 0 signed integers, 1 unsigned ones, 2 floats, 6 `bool`s.
    pub code: u8,
    /// Bits of an element.
    pub bits: u8,
    /// Elements per vector: 1.
    pub lanes: u16,
}

/// Mirrors `DLTensor`.
#[repr(C)]
#[derive(Debug)]
pub struct RawTensor {
    /// The start of the memory.
    pub data: *mut c_void,
    /// The device of the memory.
    pub device: DlDevice,
    /// The number of axes.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DataType,
    /// The length of each axis.
    pub shape: *mut i64,
    /// The distance between neighbours along each axis, in elements. Null if row-major.
    pub strides: *mut i64,
    /// The byte offset of the first element.
    pub byte_offset: u64,
}

/// Mirrors `DLManagedTensorVersioned`.
#[repr(C)]
#[derive(Debug)]
pub struct ManagedTensor {
    /// The version of the structs.
    pub version: Version,
    /// The producer's context.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor and its memory.
    pub deleter: Option<unsafe extern "C" fn(*mut ManagedTensor)>,
    /// Bit 0: read-only.
    pub flags: u64,
    /// The array.
    pub tensor: RawTensor,
}

/// Mirrors `DLManagedTensor`, the struct before version 1.
#[repr(C)]
#[derive(Debug)]
pub struct UnversionedTensor {
    /// The array.
    pub tensor: RawTensor,
    /// The producer's context.
    pub manager_ctx: *mut c_void,
    /// Frees the tensor and its memory.
    pub deleter: Option<unsafe extern "C" fn(*mut UnversionedTensor)>,
}

/// The supported version.
const VERSION: Version = Version { major: 1, minor: 0 };

const READ_ONLY: u64 = 1;

/// `kDLCPU`.
const PROCESSOR: i32 = 1;

/// No library has more axes.
const MOST_AXES: i32 = 64;

/// Owns an array for export, and frees it if it is dropped here.
pub struct Tensor(NonNull<ManagedTensor>);

// SAFETY: it owns what it points to, which is free to move, as a shared buffer is.
unsafe impl Send for Tensor {}

/// A tensor's memory, until its deleter is called.
trait TensorMemory: Send + Sync + 'static {
    fn tensor(&self) -> &RawTensor;
}

struct Versioned(NonNull<ManagedTensor>);
struct Unversioned(NonNull<UnversionedTensor>);

macro_rules! kept {
    ($($T:ident)*) => {$(
        // SAFETY: the importer promises that the deleter may be called, and the memory be read, on any thread.
        unsafe impl Send for $T {}
        // SAFETY: as above; it is only read.
        unsafe impl Sync for $T {}

        impl TensorMemory for $T {
            fn tensor(&self) -> &RawTensor {
                // SAFETY: the importer promises that it is valid until its deleter is called.
                unsafe { &self.0.as_ref().tensor }
            }
        }

        impl Drop for $T {
            fn drop(&mut self) {
                // SAFETY: as above, and this is the only call of the deleter.
                unsafe {
                    if let Some(delete) = self.0.as_ref().deleter {
                        delete(self.0.as_ptr());
                    }
                }
            }
        }
    )*};
}
kept!(Versioned Unversioned);

/// Imports an array from another library, without a copy.
///
/// The deleter is called after the last use of the memory, and also after an error. An array that is not row-major is
/// read in place, as a function of the index. It fuses as [`transpose`](Array::transpose) does.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::dlpack;
/// let m = generate((2, 3), |(i, j)| 10 * i + j);
/// let tensor = dlpack::export(&m)?.into_raw(); // as another library would
/// // SAFETY: it was made just now, and is used once.
/// let m = unsafe { dlpack::import::<u64, Ix2>(tensor)? };
/// assert_eq!(m.along(1).sum().force()?, [3, 33]);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Safety
/// The tensor conforms to DLPack. No other owner uses it or writes to its memory until its deleter is called, on any
/// thread. (A Python deleter must take the interpreter's lock itself, as NumPy's and PyTorch's do.)
///
/// # Errors
/// If it has another major version, is not in CPU memory, or has elements that are not of [`Scalar`]'s types. Also if
/// a length is negative or the whole exceeds memory, or if it holds another type or rank.
#[doc(alias = "from_dlpack")]
#[track_caller]
pub unsafe fn import<T: Scalar, D: Rank>(tensor: NonNull<ManagedTensor>) -> Result<Array<T, D>> {
    // SAFETY: the caller's promise is the required one.
    let node = unsafe { import_node(tensor)? };
    typed(node).map_err(|kind| kind.at(None, Place::Whole))
}

/// Imports an array of any type and rank as an untyped node, as [`import`].
///
/// # Safety
/// As [`import`].
///
/// # Errors
/// As [`import`], but for the type and rank.
#[track_caller]
pub unsafe fn import_node(tensor: NonNull<ManagedTensor>) -> Result<Arc<Node>> {
    let kept = Versioned(tensor);
    // SAFETY: the version, and what deletes it, stand before all that another version may change.
    let version = unsafe { tensor.as_ref().version };
    if version.major != VERSION.major {
        let got = format!("{}.{}", version.major, version.minor);
        return Err(ErrorKind::malformed("DLPack of version 1", got).at(None, Place::Whole));
    }
    node(kept).map_err(|kind| kind.at(None, Place::Whole))
}

/// Imports a node as [`import_node`], from a library with DLPack before version 1.
///
/// # Safety
/// As [`import`].
///
/// # Errors
/// As [`import_node`].
#[track_caller]
pub unsafe fn import_unversioned(tensor: NonNull<UnversionedTensor>) -> Result<Arc<Node>> {
    node(Unversioned(tensor)).map_err(|kind| kind.at(None, Place::Whole))
}

/// The type of elements, and whether they are `bool`s stored as bytes.
fn type_of(dtype: DataType) -> Option<(Ty, bool)> {
    let ty = match (dtype.code, dtype.bits) {
        _ if dtype.lanes != 1 => return None,
        (0, 8) => Ty::I8,
        (0, 16) => Ty::I16,
        (0, 32) => Ty::I32,
        (0, 64) => Ty::I64,
        (1, 8) => Ty::U8,
        (1, 16) => Ty::U16,
        (1, 32) => Ty::U32,
        (1, 64) => Ty::U64,
        (2, 32) => Ty::F32,
        (2, 64) => Ty::F64,
        (6, 8) => return Some((Ty::U8, true)),
        _ => return None,
    };
    Some((ty, false))
}

/// The memory layout of a shape, relative to the element at index 0.
struct Layout {
    shape: Vec<u64>,
    strides: Vec<i64>,
    /// The lowest position of all elements, and one past the highest.
    low: i64,
    high: i64,
}

impl Layout {
    fn of(tensor: &RawTensor) -> Result<Layout, ErrorKind> {
        let rank = usize::try_from(tensor.ndim.min(MOST_AXES + 1)).ok();
        let Some(rank) = rank.filter(|n| *n <= MOST_AXES as usize) else {
            let expected = format!("at most {MOST_AXES} axes");
            return Err(ErrorKind::malformed(expected, tensor.ndim.to_string()));
        };
        let all = |at: *mut i64| match rank {
            0 => Vec::new(),
            // SAFETY: the importer promises one number for each axis.
            _ => unsafe { std::slice::from_raw_parts(at, rank) }.to_vec(),
        };
        if rank > 0 && tensor.shape.is_null() {
            return Err(ErrorKind::malformed("the length of each axis", "none"));
        }
        let lengths = all(tensor.shape);
        let shape = lengths.iter().map(|n| u64::try_from(*n));
        let shape = shape.collect::<Result<Vec<_>, _>>();
        let shape =
            shape.map_err(|_| ErrorKind::malformed("lengths of axes", format!("{lengths:?}")))?;
        let too_large =
            || ErrorKind::malformed("elements in memory", format!("{lengths:?} of them"));
        // An empty axis counts as 1 in the overflow check.
        let total = shape
            .iter()
            .try_fold(1i64, |n, len| n.checked_mul((*len).max(1) as i64));
        total.ok_or_else(too_large)?;
        let strides = match tensor.strides.is_null() {
            false => all(tensor.strides),
            true => by_rows(&shape),
        };
        let is_empty = shape.contains(&0);
        let (mut low, mut high) = (0i64, i64::from(!is_empty));
        for (n, stride) in lengths.iter().zip(&strides).filter(|_| !is_empty) {
            let reach = stride.checked_mul(n - 1).ok_or_else(too_large)?;
            low = low.checked_add(reach.min(0)).ok_or_else(too_large)?;
            high = high.checked_add(reach.max(0)).ok_or_else(too_large)?;
        }
        high.checked_sub(low).ok_or_else(too_large)?;
        Ok(Layout {
            shape,
            strides,
            low,
            high,
        })
    }

    /// Whether the layout is row-major. The stride of an axis of length 1 does not matter.
    fn is_plain(&self) -> bool {
        let plain = by_rows(&self.shape);
        let mut axes = self.shape.iter().zip(self.strides.iter().zip(&plain));
        self.high <= self.low || axes.all(|(n, (stride, plain))| *n == 1 || stride == plain)
    }
}

/// The row-major strides of a shape.
fn by_rows(shape: &[u64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for k in (1..shape.len()).rev() {
        strides[k - 1] = strides[k].saturating_mul(shape[k].max(1) as i64);
    }
    strides
}

#[track_caller]
fn node(kept: impl TensorMemory) -> Result<Arc<Node>, ErrorKind> {
    let tensor = kept.tensor();
    if tensor.device.kind != PROCESSOR {
        let got = format!("a device of kind {}", tensor.device.kind);
        return Err(ErrorKind::malformed(
            "memory of the processor (kind 1)",
            got,
        ));
    }
    let dtype = tensor.dtype;
    let Some((ty, is_bool)) = type_of(dtype) else {
        let DataType { code, bits, lanes } = dtype;
        let got = format!("those of code {code}, {bits} bits, {lanes} lanes");
        return Err(ErrorKind::malformed("elements that are scalars", got));
    };
    let layout = Layout::of(tensor)?;
    let wrong = || ErrorKind::malformed("elements in memory", "none");
    let len = usize::try_from(layout.high - layout.low).map_err(|_| wrong())?;
    let start = layout.low.checked_mul(ty.size() as i64);
    let start = start.zip(isize::try_from(tensor.byte_offset).ok());
    let start = start.and_then(|(low, offset)| isize::try_from(low).ok()?.checked_add(offset));
    let start = start.ok_or_else(wrong)?;
    let elements = match NonNull::new(tensor.data.cast::<u8>()) {
        _ if len == 0 => Buffer::empty(ty),
        None => return Err(wrong()),
        Some(data) => {
            let at = data.as_ptr().wrapping_offset(start);
            let at = NonNull::new(at).ok_or_else(wrong)?;
            let owner = Arc::new(kept);
            // SAFETY: the elements from the lowest to the highest are the tensor's, which stays until the owner is
            // dropped. No one writes to them. Any bytes are elements of a type other than `Bool`, which is read as
            // bytes.
            let shared = unsafe { Buffer::foreign(ty, len, at, owner.clone()) };
            match shared {
                Some(shared) => shared,
                None => {
                    // SAFETY: as above, as bytes.
                    let bytes = unsafe { std::slice::from_raw_parts(at.as_ptr(), len * ty.size()) };
                    let read = Buffer::read_from(ty, len, &mut &bytes[..], false);
                    read.map_err(|_| ErrorKind::Memory {
                        bytes: bytes.len() as u64,
                    })?
                }
            }
        }
    };
    Ok(under(elements, &layout, is_bool))
}

/// The array of elements in memory under a layout.
#[track_caller]
fn under(elements: Buffer, layout: &Layout, is_bool: bool) -> Arc<Node> {
    let (builder, elements) = (Builder::named("dlpack"), Arc::new(elements));
    let flat = manifest(elements.clone(), "dlpack");
    let loc = builder.loc();
    let truth =
        |byte: Field| Field::op(Op::Ne, &[byte, Field::literal(Const::new(Ty::U8, 0))], loc);
    let shape = shape_of(builder, &layout.shape);
    if layout.shape.is_empty() {
        let bits = elements.get_word(0).unwrap_or(0);
        return builder.constant(&[match is_bool {
            true => Const::new(Ty::Bool, u64::from(bits != 0)),
            false => Const::new(elements.ty(), bits),
        }]);
    }
    if layout.is_plain() && !is_bool {
        return builder.reshape(&flat, shape);
    }
    let one_axis = || crate::ast::Shape::new([builder.length(layout.shape[0])]);
    builder.generate_in(&shape.unwrap_or_else(one_axis), |index| {
        let first = Field::literal(Const::u64(layout.low.unsigned_abs()));
        let place = index
            .iter()
            .zip(&layout.strides)
            .fold(first, |at, (i, stride)| {
                // Negative strides wrap around, and the sum wraps back.
                let way = Field::op(
                    Op::Mul,
                    &[*i, Field::literal(Const::u64(*stride as u64))],
                    loc,
                );
                Field::op(Op::Add, &[at, way], loc)
            });
        let element = Field::at(&flat, &[place], loc);
        match is_bool {
            true => element.into_iter().map(truth).collect(),
            false => element,
        }
    })
}

/// Computes an array of any rank and exports it.
///
/// An array in memory is not copied. The export is read-only, since other arrays may share the memory.
///
/// # Errors
/// As [`force`](Array::force).
#[doc(alias = "to_dlpack")]
pub fn export<T: Scalar, D: Rank>(array: &Array<T, D>) -> Result<Tensor> {
    export_node(array.node())
}

/// Exports a node of the untyped graph, as [`export`].
///
/// # Errors
/// As [`export`]. Also if its elements are not scalars.
pub fn export_node(node: &Arc<Node>) -> Result<Tensor> {
    let Plain { shape, elements } = Plain::of(node).map_err(|kind| kind.at(None, Place::Whole))?;
    let (code, bits) = match elements.ty() {
        Ty::Bool => (6, 8),
        Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 => (0, 8 * elements.ty().size()),
        Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64 => (1, 8 * elements.ty().size()),
        Ty::F32 | Ty::F64 => (2, 8 * elements.ty().size()),
    };
    let strides = by_rows(&shape);
    let mut exported = Box::new(Exported {
        shape: shape.iter().map(|n| *n as i64).collect(),
        strides,
        elements,
        managed: ManagedTensor {
            version: VERSION,
            manager_ctx: ptr::null_mut(),
            deleter: Some(delete),
            flags: READ_ONLY,
            tensor: RawTensor {
                data: ptr::null_mut(),
                device: DlDevice {
                    kind: PROCESSOR,
                    id: 0,
                },
                ndim: shape.len() as i32,
                dtype: DataType {
                    code,
                    bits: bits as u8,
                    lanes: 1,
                },
                shape: ptr::null_mut(),
                strides: ptr::null_mut(),
                byte_offset: 0,
            },
        },
    });
    let tensor = &mut exported.managed.tensor;
    tensor.data = exported.elements.as_ptr().cast_mut().cast();
    tensor.shape = exported.shape.as_mut_ptr();
    tensor.strides = exported.strides.as_mut_ptr();
    let all = Box::into_raw(exported);
    // SAFETY: the box was made above; its fields are written, and read, through this pointer only from now on.
    let managed = unsafe {
        (*all).managed.manager_ctx = all.cast();
        NonNull::new_unchecked(&raw mut (*all).managed)
    };
    Ok(Tensor(managed))
}

/// The allocation behind an exported tensor.
struct Exported {
    shape: Vec<i64>,
    strides: Vec<i64>,
    elements: Arc<Buffer>,
    managed: ManagedTensor,
}

/// Frees an exported tensor.
unsafe extern "C" fn delete(tensor: *mut ManagedTensor) {
    // SAFETY: it is called once, with a tensor from `export_node`, whose context is the box around it.
    drop(unsafe { Box::from_raw((*tensor).manager_ctx.cast::<Exported>()) });
}

impl Tensor {
    /// Returns the struct for another library, which owns it and calls its deleter.
    pub fn into_raw(self) -> NonNull<ManagedTensor> {
        ManuallyDrop::new(self).0
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        // SAFETY: it was made by `export_node`, and this is its only owner.
        unsafe { delete(self.0.as_ptr()) }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: it owns what it points to.
        let tensor = unsafe { &self.0.as_ref().tensor };
        write!(f, "Tensor({} axes, {:?})", tensor.ndim, tensor.dtype)
    }
}
