//! Arrow: columns as they lie in memory, in files and in other libraries. With the feature `arrow`.
//!
//! | what there is | what it is here |
//! | --- | --- |
//! | numbers; dates, times and durations, as what they count | scalars, without a copy |
//! | `Boolean`, eight in a byte | scalars that an index tells: nothing is unpacked before it is forced |
//! | `List`, `LargeList` of any of these | lists: their offsets are read as they are, without a copy |
//! | `Utf8`, `LargeUtf8`, dictionaries of such | text |
//! | `Binary`, `LargeBinary` | lists of `u8` |
//! | `Utf8View`, `BinaryView` | as these, copied |
//! | nulls | which values are there, as packed `bool`s |
//!
//! A file may hold other columns; [`Table::types`] says [`Other`](super::Type::Other) of them. A request for one
//! is an error with its type and the conversion that would help. Several batches are put together, which is a copy.
//!
//! Whether offsets are in order and texts are UTF-8 is checked once, when columns come here. Loops over lists check
//! anew that the offsets fit the elements, as they do of all segments.
//!
//! The crates that take these files apart (`arrow-ipc`, `parquet`) panic on some that are damaged. Such a panic ends here and is
//! an error; what its hook prints is printed.

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
pub(super) use texts::Texts;
pub(super) use to::batch;

pub use c::{FFI_ArrowArray, FFI_ArrowSchema, export, import};
pub use ipc::{Writer, create, map, read, write};

use super::Table;
