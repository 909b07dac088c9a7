//! Conversion of Arrow arrays to columns, without a copy where possible.

use super::super::column::{Column, Data, Lists, Text, Unit, Valid, manifest};
use super::super::date::SECOND;
use super::super::error::ErrorKind;
use super::TextsInPlace;
use crate::array::{Array, generate};
use crate::ast::Node;
use arrow_array::cast::AsArray;
use arrow_array::{Array as _, ArrayRef, make_array};
use arrow_buffer::{Buffer as Bytes, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, TimeUnit};
use livefusion_backend::Buffer;
use livefusion_backend::buffer::ReadError;
use loop_lang::types::Ty;
use std::ptr::NonNull;
use std::sync::Arc;

/// Converts an array with checked contents to a column.
#[track_caller]
pub fn column(data: &ArrayData) -> Result<Column, ErrorKind> {
    let valid = data.nulls().filter(|nulls| nulls.null_count() > 0);
    let valid = valid.map(valid_of).transpose()?;
    let data = contents(data)?;
    Ok(Column { data, valid })
}

#[track_caller]
fn valid_of(nulls: &NullBuffer) -> Result<Valid, ErrorKind> {
    Ok(Valid {
        node: bits(nulls.buffer(), nulls.offset(), nulls.len())?,
        missing: nulls.null_count(),
    })
}

#[track_caller]
fn contents(data: &ArrayData) -> Result<Data, ErrorKind> {
    let (ty, len) = (data.data_type(), data.len());
    if let Some(times) = times(data)? {
        return Ok(times);
    }
    if let Some(ty) = scalar(ty) {
        let elements = elements(ty, len, first(data)?, data.offset())?;
        return Ok(Data::Scalars(Arc::new(elements)));
    }
    Ok(match ty {
        DataType::Boolean => Data::Packed(bits(first(data)?, data.offset(), len)?, len),
        DataType::Utf8 => Data::Texts(Arc::new(TextsInPlace::new(bytes(data, Ty::I32)?))),
        DataType::LargeUtf8 => Data::Texts(Arc::new(TextsInPlace::new(bytes(data, Ty::I64)?))),
        DataType::Binary => Data::Lists(bytes(data, Ty::I32)?),
        DataType::LargeBinary => Data::Lists(bytes(data, Ty::I64)?),
        DataType::List(_) => list(data, Ty::I32)?,
        DataType::LargeList(_) => list(data, Ty::I64)?,
        DataType::Utf8View => {
            let views = make_array(data.clone());
            let texts = views.as_string_view().iter();
            let lists = gathered(texts.map(|text| text.unwrap_or_default().as_bytes()))?;
            Data::Texts(Arc::new(TextsInPlace::new(lists)))
        }
        DataType::BinaryView => {
            let views = make_array(data.clone());
            let parts = views.as_binary_view().iter();
            Data::Lists(gathered(parts.map(Option::unwrap_or_default))?)
        }
        DataType::Dictionary(_, values)
            if matches!(
                **values,
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
            ) =>
        {
            Data::Text(coded(&make_array(data.clone()))?)
        }
        other => unusable(other, len),
    })
}

/// Dates without a time zone: days or microseconds. None if the type differs or if a count
/// overflows.
fn times(data: &ArrayData) -> Result<Option<Data>, ErrorKind> {
    let (ty, factor) = match data.data_type() {
        DataType::Date32 => (Ty::I32, 1),
        DataType::Timestamp(TimeUnit::Second, None) => (Ty::I64, SECOND),
        DataType::Timestamp(TimeUnit::Millisecond, None) => (Ty::I64, SECOND / 1000),
        DataType::Timestamp(TimeUnit::Microsecond, None) => (Ty::I64, 1),
        _ => return Ok(None),
    };
    let unit = if ty == Ty::I32 {
        Unit::Days
    } else {
        Unit::Micros
    };
    let counts = elements(ty, data.len(), first(data)?, data.offset())?;
    if ty == Ty::I64 && factor == 1 {
        return Ok(Some(Data::Times(unit, Arc::new(counts))));
    }
    let count = |row| match (counts.get_word(row).unwrap_or(0), ty) {
        (word, Ty::I32) => Some(i64::from(word as i32)),
        (word, _) => (word as i64).checked_mul(factor),
    };
    let mut all = Vec::new();
    let bytes = 8 * data.len() as u64;
    let reserved = all.try_reserve_exact(data.len());
    reserved.map_err(|_| ErrorKind::Memory { bytes })?;
    for row in 0..data.len() {
        match count(row) {
            Some(count) => all.push(count),
            None => return Ok(None),
        }
    }
    Ok(Some(Data::Times(unit, Arc::new(Buffer::from_vec(all)))))
}

/// Values of a type that programs cannot use: the type's name and a helpful conversion.
fn unusable(ty: &DataType, len: usize) -> Data {
    let first = match ty {
        DataType::List(_) | DataType::LargeList(_) => "take its elements out as a column",
        DataType::Struct(_) | DataType::Map(..) | DataType::Union(..) => {
            "take its fields out as columns"
        }
        _ => "cast it to numbers, text or lists of numbers",
    };
    Data::Other(format!("{ty} ({first} first)"), len)
}

/// The type of scalars that are used in place. Other dates and times give their counts.
fn scalar(ty: &DataType) -> Option<Ty> {
    Some(match ty {
        DataType::Int8 => Ty::I8,
        DataType::Int16 => Ty::I16,
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => Ty::I32,
        DataType::Int64 | DataType::Date64 | DataType::Time64(_) => Ty::I64,
        DataType::Timestamp(..) | DataType::Duration(_) => Ty::I64,
        DataType::UInt8 => Ty::U8,
        DataType::UInt16 => Ty::U16,
        DataType::UInt32 => Ty::U32,
        DataType::UInt64 => Ty::U64,
        DataType::Float32 => Ty::F32,
        DataType::Float64 => Ty::F64,
        _ => return None,
    })
}

fn first(data: &ArrayData) -> Result<&Bytes, ErrorKind> {
    let found = data.buffers().first();
    found.ok_or_else(|| ErrorKind::malformed("a buffer of elements", "none"))
}

/// Elements of a type other than `Bool`, starting at number `from`. They are shared if they are
/// aligned, else copied.
fn elements(ty: Ty, len: usize, bytes: &Bytes, from: usize) -> Result<Buffer, ErrorKind> {
    let size = ty.size();
    let part = from.checked_mul(size).zip(len.checked_mul(size));
    let part = part.and_then(|(at, n)| bytes.get(at..at.checked_add(n)?).map(|part| (at, part)));
    let Some((at, part)) = part else {
        let expected = format!("{len} elements of type {ty}");
        return Err(ErrorKind::malformed(
            expected,
            format!("{} bytes", bytes.len()),
        ));
    };
    if len == 0 {
        return Ok(Buffer::empty(ty));
    }
    let kept = bytes.slice_with_length(at, part.len());
    let ptr = NonNull::from(kept.as_slice()).cast();
    // SAFETY: an Arrow buffer keeps its bytes in place and unchanged as long as it lives. There are
    // enough of them, and any bytes are elements of a type other than `Bool`.
    let shared = unsafe { Buffer::foreign(ty, len, ptr, Arc::new(kept)) };
    match shared {
        Some(shared) => Ok(shared),
        None => Buffer::read_from(ty, len, &mut &part[..], false).map_err(|e| match e {
            ReadError::Memory(bytes) => ErrorKind::Memory { bytes },
            ReadError::System(e) => e.into(),
            ReadError::NotBool { byte, .. } => ErrorKind::malformed("elements", byte.to_string()),
        }),
    }
}

/// Packed `bool`s from bit `from` on, as a function of the index.
#[track_caller]
fn bits(bytes: &Bytes, from: usize, len: usize) -> Result<Arc<Node>, ErrorKind> {
    let (skipped, from) = (from / 8, (from % 8) as u64);
    let n = (from as usize + len).div_ceil(8);
    let bytes = elements(Ty::U8, n, bytes, skipped)?;
    let bytes = Array::<u8>::wrap(manifest(Arc::new(bytes), "arrow"));
    let bit = generate(len as u64, |i| {
        let at = i + from;
        let byte = bytes.at(at / 8);
        ((byte >> (at % 8).cast::<u8>()) & 1u8).eq(1)
    });
    Ok(bit.node().clone())
}

/// The offsets of lists, and the start and length of their elements.
fn offsets(data: &ArrayData, ty: Ty) -> Result<(Arc<Buffer>, usize, usize), ErrorKind> {
    let bytes = first(data)?;
    // An empty array may have no offsets.
    if data.is_empty() {
        let none = Buffer::fill(ty, 1, 0).ok_or(ErrorKind::Memory { bytes: 8 })?;
        return Ok((Arc::new(none), 0, 0));
    }
    let offsets = elements(ty, data.len() + 1, bytes, data.offset())?;
    let ends = [0, data.len()].map(|i| offsets.get_word(i).unwrap_or(0) as i64);
    let ends = match ty {
        Ty::I32 => ends.map(|at| i64::from(at as i32)),
        _ => ends,
    };
    match ends.map(usize::try_from) {
        [Ok(first), Ok(last)] if first <= last => Ok((Arc::new(offsets), first, last - first)),
        _ => {
            let got = format!("from {} to {}", ends[0], ends[1]);
            Err(ErrorKind::malformed("offsets in order", got))
        }
    }
}

/// Lists of bytes.
#[track_caller]
fn bytes(data: &ArrayData, ty: Ty) -> Result<Lists, ErrorKind> {
    let (offsets, first, len) = offsets(data, ty)?;
    let bytes = data.buffers().get(1);
    let bytes = bytes.ok_or_else(|| ErrorKind::malformed("a buffer of bytes", "none"))?;
    let elements = manifest(Arc::new(elements(Ty::U8, len, bytes, first)?), "arrow");
    Ok(Lists { offsets, elements })
}

/// Lists, if their elements are scalars.
#[track_caller]
fn list(data: &ArrayData, ty: Ty) -> Result<Data, ErrorKind> {
    let (offsets, first, len) = offsets(data, ty)?;
    let child = data.child_data().first();
    let child = child.filter(|c| first.checked_add(len).is_some_and(|end| end <= c.len()));
    let child = child.ok_or_else(|| ErrorKind::malformed("elements for all lists", "fewer"))?;
    let inner = column(&child.slice(first, len))?;
    if let Some(valid) = &inner.valid {
        let what = format!(
            "{} with {} elements missing (fill or drop them first)",
            data.data_type(),
            valid.missing
        );
        return Ok(Data::Other(what, data.len()));
    }
    let elements = match inner.data {
        Data::Scalars(elements) | Data::Times(_, elements) => manifest(elements, "arrow"),
        Data::Packed(node, _) => node,
        _ => return Ok(unusable(data.data_type(), data.len())),
    };
    Ok(Data::Lists(Lists { offsets, elements }))
}

/// Copies scattered byte lists into one buffer.
#[track_caller]
fn gathered<'a>(
    parts: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
) -> Result<Lists, ErrorKind> {
    let (mut offsets, mut bytes) = (Vec::new(), Vec::new());
    let spine = parts.len() + 1;
    // Views may overlap, so that their total may exceed the file's size.
    let total = parts
        .clone()
        .fold(0usize, |n, part| n.saturating_add(part.len()));
    let out_of_memory = |bytes: usize| ErrorKind::Memory {
        bytes: bytes as u64,
    };
    let reserved = offsets.try_reserve_exact(spine);
    reserved.map_err(|_| out_of_memory(8 * spine))?;
    bytes
        .try_reserve_exact(total)
        .map_err(|_| out_of_memory(total))?;
    offsets.push(0i64);
    for part in parts {
        bytes.extend_from_slice(part);
        offsets.push(bytes.len() as i64);
    }
    Ok(Lists {
        offsets: Arc::new(Buffer::from_vec(offsets)),
        elements: manifest(Arc::new(Buffer::from_vec(bytes)), "arrow"),
    })
}

/// Text codes of a dictionary. A missing text gets the code of the empty text.
fn coded(array: &ArrayRef) -> Result<Text, ErrorKind> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    let labels = match values.data_type() {
        DataType::Utf8 => labels(values.as_string::<i32>().iter()),
        DataType::LargeUtf8 => labels(values.as_string::<i64>().iter()),
        _ => labels(values.as_string_view().iter()),
    };
    // Equal texts must have equal codes; a foreign dictionary may repeat a text.
    let known = super::super::csv::dictionary(labels.iter().map(String::as_str))?;
    let of: &[u32] = known.codes.as_slice().unwrap_or_default();
    // Without values, all elements are missing, and no key can be in range.
    let keys = match values.is_empty() {
        true => vec![0; array.len()],
        false => dictionary.normalized_keys(),
    };
    let texts = keys.iter().enumerate();
    let nulls = array.nulls();
    let is_there = |row: usize| nulls.is_none_or(|nulls| nulls.is_valid(row));
    let mut labels = known.labels.clone();
    let mut empty = None;
    let mut codes = Vec::new();
    let reserved = codes.try_reserve_exact(keys.len());
    let room = 4 * keys.len() as u64;
    reserved.map_err(|_| ErrorKind::Memory { bytes: room })?;
    for (row, key) in texts {
        codes.push(match of.get(*key).filter(|_| is_there(row)) {
            Some(code) => *code,
            None => *empty.get_or_insert_with(|| {
                let found = labels.iter().position(String::is_empty);
                found.unwrap_or_else(|| {
                    labels.push(String::new());
                    labels.len() - 1
                }) as u32
            }),
        });
    }
    Ok(Text {
        codes: Arc::new(Buffer::from_vec(codes)),
        labels,
        why: None,
    })
}

fn labels<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Vec<String> {
    texts
        .map(|text| text.unwrap_or_default().to_string())
        .collect()
}
