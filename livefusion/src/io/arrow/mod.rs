//! Arrow: columns in Arrow's memory layout, in files and in other libraries.
//!
//! It needs the feature `arrow`.
//!
//! | Arrow type | column type |
//! | --- | --- |
//! | numbers; dates, times and durations as their counts | scalars, without a copy |
//! | `Boolean`, packed as bits | scalars computed from the index: bits are unpacked only when forced |
//! | `List`, `LargeList` of any of these | lists: their offsets are used in place, without a copy |
//! | `Utf8`, `LargeUtf8`, dictionaries of these | text |
//! | `Binary`, `LargeBinary` | lists of `u8` |
//! | `Utf8View`, `BinaryView` | the same as `Utf8` and `Binary`, copied |
//! | nulls | the validity of values, as packed `bool`s |
//!
//! A file may hold other columns; [`Table::types`] gives [`Other`](super::Type::Other) for them. A
//! request for one is an error that states its type and a helpful conversion. Several batches are
//! concatenated, which is a copy.
//!
//! The order of offsets and the UTF-8 of texts are checked once, on import. As for all segments,
//! loops over lists check again that the offsets fit the elements.
//!
//! The crates that parse these files (`arrow-ipc`, `parquet`) panic on some damaged files. This
//! module catches the panic and returns an error. The panic hook's output is still printed.

mod appending;
mod batches;
mod c;
mod from;
mod guard;
mod ipc;
mod texts;
mod to;

pub(super) use appending::{Appending, Format};
pub(super) use batches::{joined, schema_of};
pub(super) use guard::guarded;
pub(super) use texts::TextsInPlace;
pub(super) use to::batch;

pub use c::{FFI_ArrowArray, FFI_ArrowSchema, export, import};
pub use ipc::{Writer, create, map, read, write};

use super::Table;
