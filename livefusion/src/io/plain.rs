//! Plain arrays for files: row-major elements of one scalar type and a shape.

use super::error::ErrorKind;
use crate::array::{Array, Rank, delayed_axes};
use crate::ast::{Builder, Node, Shape, Value, show_types};
use crate::elt::Scalar;
use crate::error::Error;
use crate::runtime::{Engine, force_nodes, lost};
use livefusion_backend::Buffer;
use loop_lang::types::Const;
use std::sync::Arc;

/// Evaluates an expression with `$T` standing for the element type `$ty`.
macro_rules! by_type {
    ($ty:expr, $T:ident => $e:expr) => {
        by_type!($ty, $T => $e; Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F32 f32, F64 f64)
    };
    ($ty:expr, $T:ident => $e:expr; $($V:ident $t:ty),*) => {
        match $ty {
            $(loop_lang::types::Ty::$V => {
                type $T = $t;
                $e
            })*
        }
    };
}
pub(super) use by_type;

/// Holds an array in memory with its shape.
pub struct Plain {
    pub shape: Vec<u64>,
    pub elements: Arc<Buffer>,
}

impl Plain {
    /// Computes a node.
    pub fn of(node: &Arc<Node>) -> Result<Plain, ErrorKind> {
        let mut nodes = vec![node.clone()];
        nodes.extend(delayed_axes(node).cloned());
        let mut values = force_nodes(Engine::default_engine(), &nodes)?.into_iter();
        let elements = match values.next() {
            Some(Value::Array(columns)) => match <[_; 1]>::try_from(columns) {
                Ok([column]) => column,
                Err(_) => return Err(several(node)),
            },
            Some(Value::Scalar(fields)) => match fields[..] {
                [c] => Arc::new(one(c)?),
                _ => return Err(several(node)),
            },
            None => return Err(several(node)),
        };
        // The array may be in device memory.
        elements.here().map_err(|why| lost(&elements, why))?;
        let axes = match &node.shape {
            Some(shape) => shape.axes(),
            None if node.rank == 0 => &[],
            None => {
                let shape = vec![elements.len() as u64];
                return Ok(Plain { shape, elements });
            }
        };
        let mut shape = Vec::with_capacity(axes.len());
        for axis in axes {
            let length = axis.node().literal().or_else(|| values.next());
            shape.push(match length {
                Some(Value::Scalar(fields)) => fields.first().map_or(0, |c| c.bits),
                _ => return Err(several(node)),
            });
        }
        Ok(Plain { shape, elements })
    }
}

/// The shape of an array of rank 2 or more. None for rank 1.
pub(super) fn shape(builder: Builder, lengths: &[u64]) -> Option<Shape> {
    let axes = lengths.iter().map(|n| builder.length(*n));
    (lengths.len() > 1).then(|| Shape::new(axes))
}

/// An array of one element.
fn one(c: Const) -> Result<Buffer, ErrorKind> {
    Buffer::fill(c.ty, 1, c.bits).ok_or(ErrorKind::Memory { bytes: 8 })
}

fn several(node: &Node) -> ErrorKind {
    ErrorKind::malformed("an array of scalars", show_types(&node.types))
}

/// Converts a node from a file to a typed array.
pub fn typed<T: Scalar, D: Rank>(node: Arc<Node>) -> Result<Array<T, D>, ErrorKind> {
    Array::from_node(node).map_err(|e: Error| match e.kind {
        crate::ErrorKind::Malformed { expected, got } => ErrorKind::Malformed { expected, got },
        _ => e.into(),
    })
}
