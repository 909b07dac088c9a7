//! Conversion of columns to Arrow arrays: `bool`s are packed, most others shared.

use super::super::column::{Column, Data, Lists, Unit, bytes_of};
use super::super::error::{ErrorKind, Place, Result};
use super::super::plain::Plain;
use super::super::table::Table;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::{BooleanBuffer, Buffer as Bytes, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use livefusion_backend::Buffer;
use loop_lang::types::Ty;
use std::ptr::NonNull;
use std::sync::Arc;

/// Converts a table to a batch.
pub fn batch(table: &Table) -> Result<RecordBatch> {
    let whole = |kind: ErrorKind| kind.at(table.path(), Place::Whole);
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for (name, column) in table.columns() {
        let array = array(column);
        let array = array.map_err(|kind| kind.at(table.path(), Place::Column(name.clone())))?;
        let is_nullable = column.valid.is_some();
        fields.push(Field::new(name, array.data_type().clone(), is_nullable));
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(table.len()));
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new_with_options(schema, arrays, &options).map_err(|e| whole(refused(e)))
}

/// Names the expected content in messages.
pub const EXPECTED: &str = "a type that Arrow holds";

/// Wraps Arrow's refusal of an array.
pub fn refused(e: ArrowError) -> ErrorKind {
    ErrorKind::malformed(EXPECTED, e.to_string())
}

/// A column as an Arrow array.
fn array(column: &Column) -> Result<ArrayRef, ErrorKind> {
    let valid = column.valid.as_ref().map(|valid| bools(&valid.node));
    let nulls = valid.transpose()?.map(NullBuffer::new);
    let data = match &column.data {
        Data::Scalars(elements) => scalars(elements)?,
        Data::Times(unit, counts) => times(*unit, counts)?,
        Data::Packed(..) => packed(bools(&column.node("arrow")?)?)?,
        Data::Text(text) => texts(&bytes_of(text)?)?,
        Data::Texts(all) => texts(&all.lists)?,
        Data::Lists(lists) => {
            let elements = scalars(&Plain::of(&lists.elements)?.elements)?;
            let field = Arc::new(Field::new_list_field(elements.data_type().clone(), false));
            let (small, large) = (DataType::List(field.clone()), DataType::LargeList(field));
            let (ty, offsets) = offsets(lists, small, large)?;
            let data = ArrayData::builder(ty).len(lists.len());
            let data = data.add_buffer(offsets).add_child_data(elements);
            data.build().map_err(refused)?
        }
        Data::Other(what, _) => {
            return Err(ErrorKind::malformed("scalars, text or lists", what.clone()));
        }
    };
    let data = data.into_builder().nulls(nulls).build().map_err(refused)?;
    Ok(make_array(data))
}

/// Shares a buffer's bytes and keeps the buffer alive.
pub fn shared(elements: &Arc<Buffer>) -> Bytes {
    let bytes = elements.as_bytes();
    // SAFETY: while it is shared, the buffer keeps its elements on the host, in place and unchanged.
    unsafe {
        Bytes::from_custom_allocation(
            NonNull::from(bytes).cast(),
            bytes.len(),
            Arc::new(elements.clone()),
        )
    }
}

fn bools(node: &Arc<crate::ast::Node>) -> Result<BooleanBuffer, ErrorKind> {
    let elements = Plain::of(node)?.elements;
    let all: &[bool] = elements.as_slice().unwrap_or_default();
    Ok(BooleanBuffer::collect_bool(all.len(), |i| all[i]))
}

fn packed(bits: BooleanBuffer) -> Result<ArrayData, ErrorKind> {
    let data = ArrayData::builder(DataType::Boolean).len(bits.len());
    data.add_buffer(bits.into_inner()).build().map_err(refused)
}

fn scalars(elements: &Arc<Buffer>) -> Result<ArrayData, ErrorKind> {
    let ty = match elements.ty() {
        Ty::Bool => {
            let all: &[bool] = elements.as_slice().unwrap_or_default();
            return packed(BooleanBuffer::collect_bool(all.len(), |i| all[i]));
        }
        Ty::I8 => DataType::Int8,
        Ty::I16 => DataType::Int16,
        Ty::I32 => DataType::Int32,
        Ty::I64 => DataType::Int64,
        Ty::U8 => DataType::UInt8,
        Ty::U16 => DataType::UInt16,
        Ty::U32 => DataType::UInt32,
        Ty::U64 => DataType::UInt64,
        Ty::F32 => DataType::Float32,
        Ty::F64 => DataType::Float64,
    };
    let data = ArrayData::builder(ty).len(elements.len());
    data.add_buffer(shared(elements)).build().map_err(refused)
}

/// Dates: 32-bit days, or microseconds without a time zone.
fn times(unit: Unit, counts: &Arc<Buffer>) -> Result<ArrayData, ErrorKind> {
    let (ty, bytes) = match unit {
        Unit::Micros => (
            DataType::Timestamp(TimeUnit::Microsecond, None),
            shared(counts),
        ),
        Unit::Days => {
            let all: &[i64] = counts.as_slice().unwrap_or_default();
            let day = |days: &i64| {
                let got = || unit.show(*days);
                i32::try_from(*days).map_err(|_| ErrorKind::malformed("a date of 32 bits", got()))
            };
            let days = all.iter().map(day).collect::<Result<Vec<i32>, _>>()?;
            (DataType::Date32, Bytes::from_vec(days))
        }
    };
    let data = ArrayData::builder(ty).len(counts.len());
    data.add_buffer(bytes).build().map_err(refused)
}

fn texts(lists: &Lists) -> Result<ArrayData, ErrorKind> {
    let (ty, offsets) = offsets(lists, DataType::Utf8, DataType::LargeUtf8)?;
    let bytes = shared(&Plain::of(&lists.elements)?.elements);
    let data = ArrayData::builder(ty).len(lists.len());
    data.add_buffer(offsets)
        .add_buffer(bytes)
        .build()
        .map_err(refused)
}

/// Offsets from 0 and the type of lists with such offsets. They are copied only if they start
/// elsewhere.
fn offsets(
    lists: &Lists,
    small: DataType,
    large: DataType,
) -> Result<(DataType, Bytes), ErrorKind> {
    let first = lists.offsets.get_word(0).unwrap_or(0);
    let (ty, is_small) = match lists.offsets.ty() {
        Ty::I32 => (small, true),
        _ => (large, false),
    };
    if first == 0 {
        return Ok((ty, shared(&lists.offsets)));
    }
    let n = lists.offsets.len();
    let all = (0..n).map(|i| lists.offsets.get_word(i).unwrap_or(0).wrapping_sub(first));
    let out_of_memory = |_| ErrorKind::Memory {
        bytes: 8 * n as u64,
    };
    Ok((
        ty,
        match is_small {
            true => {
                let mut offsets = Vec::new();
                offsets.try_reserve_exact(n).map_err(out_of_memory)?;
                offsets.extend(all.map(|at| at as i32));
                Bytes::from_vec(offsets)
            }
            false => {
                let mut offsets = Vec::new();
                offsets.try_reserve_exact(n).map_err(out_of_memory)?;
                offsets.extend(all.map(|at| at as i64));
                Bytes::from_vec(offsets)
            }
        },
    ))
}
