//! Arrow's C data interface: exchange of columns within a process, without a copy.

use super::super::error::{ErrorKind, Place, Result};
use super::super::table::Table;
use super::from::column;
use super::to::refused;
use super::{batch, guarded};
use arrow_array::ffi::from_ffi;
use arrow_array::{Array, StructArray};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType};

/// An array of another library, as `struct ArrowArray` of the interface.
pub use arrow_array::ffi::FFI_ArrowArray;
/// Its type, as `struct ArrowSchema` of the interface.
pub use arrow_array::ffi::FFI_ArrowSchema;

/// Imports columns from another library.
///
/// A struct gives its fields by name; another array gives one column, named by its schema. Nothing
/// is copied. The library's release function is called when the last dependent array is dropped.
/// The two structs have one layout in all languages: a pointer to another library's struct may be
/// read as these (`FFI_ArrowArray::from_raw`).
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io::{Table, arrow};
/// let table = Table::computed(&["x"], &iota(4))?;
/// let (array, schema) = arrow::export(&table)?; // as another library would
/// // SAFETY: both were made just now, by a library that keeps to the interface.
/// let table = unsafe { arrow::import(array, &schema)? };
/// assert_eq!(table.column::<u64>("x")?.sum().force()?, 6);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// # Safety
/// The two conform to the interface, were not released, and belong together. No one writes to the
/// memory before it is released, which may happen on any thread.
///
/// # Errors
/// If the type is unknown, offsets are not in order, or texts are not UTF-8. These are checked
/// once, here. Also if two fields have one name, or if the struct has nulls.
#[track_caller]
pub unsafe fn import(array: FFI_ArrowArray, schema: &FFI_ArrowSchema) -> Result<Table> {
    let whole = |kind: ErrorKind| kind.at(None, Place::Whole);
    let data = guarded("an array of the C data interface", || {
        // SAFETY: the caller's promise is the required one.
        let data = unsafe { from_ffi(array, schema)? };
        let data = without_remains(data)?;
        data.validate_full()?;
        Ok::<_, ArrowError>(data)
    });
    let data = data.map_err(whole)?;
    let (len, mut columns) = (data.len(), Vec::new());
    let DataType::Struct(fields) = data.data_type() else {
        let name = schema.name().unwrap_or_default().to_string();
        columns.push((name, column(&data).map_err(whole)?));
        return Ok(Table::of(None, len, columns));
    };
    if data.null_count() > 0 {
        let got = format!("{} missing", data.null_count());
        return Err(whole(ErrorKind::malformed("a struct in each row", got)));
    }
    super::schema_of(&arrow_schema::Schema::new(fields.clone())).map_err(whole)?;
    for (field, child) in fields.iter().zip(data.child_data()) {
        let at = |kind: ErrorKind| kind.at(None, Place::Column(field.name().clone()));
        let part = child.slice(data.offset(), len);
        columns.push((field.name().clone(), column(&part).map_err(at)?));
    }
    Ok(Table::of(None, len, columns))
}

/// The same array, but empty parts lose their buffers. The length of such a leftover buffer is
/// unknown: offsets of texts may point past the end of the exported bytes.
fn without_remains(data: ArrayData) -> Result<ArrayData, ArrowError> {
    if data.is_empty() {
        return Ok(ArrayData::new_empty(data.data_type()));
    }
    if data.child_data().is_empty() {
        return Ok(data);
    }
    let children = data.child_data().iter().cloned().map(without_remains);
    let children = children.collect::<Result<_, _>>()?;
    data.into_builder().child_data(children).build()
}

/// Exports a table to another library.
///
/// The export is an array of structs with a field for each column. A column in Arrow's layout is
/// not copied: its memory lives until both libraries have released it. (Dropping the two structs
/// instead of passing them on releases them.)
///
/// # Errors
/// If a column is [`Other`](super::super::Type::Other).
pub fn export(table: &Table) -> Result<(FFI_ArrowArray, FFI_ArrowSchema)> {
    let data = StructArray::from(batch(table)?).into_data();
    let whole = |e| refused(e).at(table.path(), Place::Whole);
    let schema = FFI_ArrowSchema::try_from(data.data_type()).map_err(whole)?;
    Ok((FFI_ArrowArray::new(&data), schema))
}
