//! Tables: named columns in memory.

use super::column::{Column, Data, Lists, Text, Valid, manifest};
use super::csv::dictionary;
use super::error::{Error, ErrorKind, Place, Result, shown};
use super::plain::{Plain, by_type, typed};
use super::value::Type;
use crate::array::{Array, Ix1, Ix2};
use crate::ast::Node;
use crate::elt::{Scalar, collected};
use crate::force::{Force, Spare};
use crate::segmented::{Segmented, Segments};
use livefusion_backend::{Buffer, Prim};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Holds named, typed columns of one length.
///
/// [`csv`](super::csv()) and other formats read one. [`new`](Table::new) starts one for saving.
///
/// A text column has a code for each row and a list of distinct texts. [`codes`](Table::codes) is
/// an array that programs compare, count and group by. [`labels`](Table::labels) gives the text of
/// each code.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io;
/// let sales = io::csv_text("city,amount\nRome,2.5\nOslo,4\nRome,1\n").read()?;
/// let cities = sales.labels("city")?;
/// let amounts = sales.column::<f64>("amount")?;
/// let by_city = amounts.reduce_by_index(&sales.codes("city")?, Bins { count: cities.len(), start: 0.0 }, |a, b| a + b);
/// assert_eq!((cities, by_city.force()?.to_vec()?), (&["Rome".to_string(), "Oslo".into()][..], vec![3.5, 4.0]));
/// # Ok::<(), livefusion::io::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Table {
    path: Option<PathBuf>,
    /// None while there is no column.
    len: Option<usize>,
    columns: Vec<(String, Column)>,
}

impl Table {
    /// Creates a table without columns.
    pub fn new() -> Table {
        Table::default()
    }

    /// Computes arrays in one force and makes them the columns of a table.
    ///
    /// The arrays are a tuple, slice or `Vec` of arrays of one length. Each needs a name. An array
    /// of tuples or structs has a column for each field, and needs a name for each.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io::Table;
    /// let xs = iota(3);
    /// let table = Table::computed(&["i", "half", "is_last"], (&xs, &xs.map(|i| (i.cast::<f64>() / 2.0, i.eq(2)))))?;
    /// assert_eq!(table.column::<f64>("half")?.force()?, [0.0, 0.5, 1.0]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`force`](Force::force). Also if a column has no name, if two columns have the same name,
    /// or if the arrays differ in length or are not of rank 1.
    pub fn computed(names: &[&str], arrays: impl Force) -> Result<Table> {
        let wrong = |kind: ErrorKind| kind.at(None, Place::Whole);
        let mut nodes = Vec::new();
        arrays.nodes(&mut nodes);
        if let Some(odd) = nodes.iter().find(|n| n.error.is_none() && n.rank != 1) {
            let got = format!("rank {}", odd.rank);
            return Err(wrong(ErrorKind::malformed("arrays of rank 1", got)));
        }
        let mut results = arrays.force().map_err(|e| wrong(e.into()))?;
        let mut columns = Spare::new();
        arrays.give(Some(&mut results), &mut columns);
        let columns: Vec<_> = columns.into_iter().flatten().collect();
        if names.len() != columns.len() {
            let expected = format!("{} names, one for each column", columns.len());
            return Err(wrong(ErrorKind::malformed(
                expected,
                names.len().to_string(),
            )));
        }
        let mut table = Table::new();
        for (name, column) in names.iter().zip(columns) {
            if table.names().any(|n| n == *name) {
                let got = format!("{name:?} twice");
                return Err(wrong(ErrorKind::malformed("names that differ", got)));
            }
            table = table.put(name.to_string(), Data::Scalars(column).into())?;
        }
        Ok(table)
    }

    /// The source file.
    #[cfg(feature = "arrow")]
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Creates a table from columns that were read.
    pub(super) fn of(path: Option<&Path>, len: usize, columns: Vec<(String, Column)>) -> Table {
        Table {
            path: path.map(Path::to_path_buf),
            len: Some(len),
            columns,
        }
    }

    /// Lists the names of the columns, from the left.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// Lists the types of the columns, from the left.
    pub fn types(&self) -> impl ExactSizeIterator<Item = Type> {
        self.columns.iter().map(|(_, column)| column.ty())
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.len.unwrap_or(0)
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a column of scalars as an array.
    ///
    /// If the column is of type `T`, it is not copied. An integer column converts to any type of
    /// numbers that represents all its values exactly. `f32` converts to `f64`.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io;
    /// let table = io::csv_text("n\n1\n300\n").read()?;
    /// assert_eq!(table.column::<f32>("n")?.force()?, [1.0, 300.0]);
    /// let wrong = table.column::<u8>("n").unwrap_err().to_string();
    /// assert_eq!(wrong, r#"column "n": expected u8, got i64, in row 1 300"#);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such column, if its type does not convert to `T`, or if it has missing
    /// values. [`nullable`](Table::nullable) tells missing values apart.
    #[track_caller]
    pub fn column<T: Scalar>(&self, name: &str) -> Result<Array<T>> {
        let complete = self.find(name)?.complete();
        complete.map_err(|kind| self.fault(name, kind))?;
        Ok(self.nullable(name)?.0)
    }

    /// Returns a column of scalars with missing values.
    ///
    /// The values are as those of [`column`](Table::column). The second array tells which values
    /// are present. A missing value is replaced by an arbitrary number.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io::Table;
    /// let table = Table::new().with_nullable("x", &Array::from(vec![1.5, 2.5]), &Array::from(vec![true, false]))?;
    /// let (xs, there) = table.nullable::<f64>("x")?;
    /// assert_eq!((&xs, &there).zip_with(|x, t| t.cond(x, 0.0)).force()?, [1.5, 0.0]);
    /// let wrong = table.column::<f64>("x").unwrap_err().to_string();
    /// assert_eq!(wrong, r#"column "x": expected a value in each row, got 1 without"#);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such column, or if its type does not convert to `T`.
    #[track_caller]
    pub fn nullable<T: Scalar>(&self, name: &str) -> Result<(Array<T>, Array<bool>)> {
        let column = self.find(name)?;
        let node = match column.ty() == Type::Scalar(T::TY) {
            true => column.node("table"),
            false => column.converted::<T>().map(|e| manifest(e, "table")),
        };
        let values = node.and_then(typed::<T, Ix1>);
        Ok((
            values.map_err(|kind| self.fault(name, kind))?,
            self.valid(name)?,
        ))
    }

    /// Counts the missing values of a column.
    ///
    /// # Errors
    /// If there is no such column.
    pub fn missing(&self, name: &str) -> Result<usize> {
        Ok(self.find(name)?.valid.as_ref().map_or(0, |v| v.missing))
    }

    /// Returns for each row whether the column's value is present.
    ///
    /// # Errors
    /// If there is no such column.
    #[track_caller]
    pub fn valid(&self, name: &str) -> Result<Array<bool>> {
        let column = self.find(name)?;
        Ok(match &column.valid {
            Some(valid) => Array::wrap(valid.node.clone()),
            None => crate::array::replicate(column.len() as u64, true),
        })
    }

    /// Returns a column of lists as segments.
    ///
    /// The offsets of the lists are used in place, without a copy. A column of text gives its UTF-8
    /// bytes. The elements of a missing list are meaningless; [`valid`](Table::valid) marks missing
    /// lists.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io::{self, Table};
    /// let rows = Segmented::from_vecs(vec![vec![1.5, 2.0], vec![], vec![0.5]]);
    /// let table = Table::new().with_segments("row", &rows)?;
    /// assert_eq!(table.segments::<f64>("row")?.sum().force()?, [3.5, 0.0, 0.5]);
    /// let names = io::csv_text("name\nAda\nBo\n").read()?;
    /// let lengths = names.segments::<u8>("name")?.lengths().force()?;
    /// assert_eq!(lengths, [3, 2]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such column, or if its elements are not of type `T`. When forced: if the
    /// lists do not fit their elements.
    #[doc(alias("explode", "ListArray"))]
    #[track_caller]
    pub fn segments<T: Scalar>(&self, name: &str) -> Result<Segmented<T>> {
        let segments = self.segments_node(name)?;
        let lengths = Array::<u64>::wrap(segments.lengths);
        let data = typed::<T, Ix1>(segments.data).map_err(|kind| self.fault(name, kind))?;
        Ok(Segmented::new(&lengths, &data))
    }

    /// Returns a column of lists as segments of the untyped graph.
    ///
    /// It is as [`segments`](Table::segments), for the column's own type.
    ///
    /// # Errors
    /// As [`segments`](Table::segments), but for the type.
    #[track_caller]
    pub fn segments_node(&self, name: &str) -> Result<Segments> {
        let segments = self.find(name)?.segments("table");
        segments.map_err(|kind| self.fault(name, kind))
    }

    /// Returns all columns as a matrix with one row per table row.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io;
    /// let m = io::csv_text("x,y\n1,2.5\n3,4\n").read()?.matrix::<f64>()?;
    /// assert_eq!(m.along(1).sum().force()?, [3.5, 7.0]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`column`](Table::column) for each, and if there is no memory for the matrix.
    #[doc(alias = "loadtxt")]
    #[track_caller]
    pub fn matrix<T: Scalar>(&self) -> Result<Array<T, Ix2>> {
        let columns = self.columns.iter().map(|(name, column)| {
            let elements = column.complete().and_then(|()| column.converted::<T>());
            elements.map_err(|kind| self.fault(name, kind))
        });
        let columns: Vec<Arc<Buffer>> = columns.collect::<Result<_>>()?;
        let columns: Vec<&[T]> = columns.iter().filter_map(|c| c.as_slice()).collect();
        let (rows, width) = (self.len(), columns.len());
        let bytes = (rows as u64).saturating_mul((width * size_of::<T>()) as u64);
        let mut values = Vec::new();
        let room = rows.checked_mul(width).map(|n| values.try_reserve_exact(n));
        if !matches!(room, Some(Ok(()))) {
            return Err(ErrorKind::Memory { bytes }.at(self.path.as_deref(), Place::Whole));
        }
        for row in 0..rows {
            values.extend(columns.iter().map(|c| c[row]));
        }
        Ok(Array::from_vec((rows, width), values))
    }

    /// Returns a column as a node of the untyped graph.
    ///
    /// It has the column's own type. Text gives its codes, dates give their counts. A missing value
    /// is replaced by an arbitrary one; [`valid`](Table::valid) marks missing values.
    ///
    /// ```
    /// use livefusion::io;
    /// let table = io::csv_text("n\n1\n").read()?;
    /// assert_eq!(table.node("n")?.types[0].name(), "i64");
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such column, or if it has neither scalars nor text. For lists use
    /// [`segments_node`](Table::segments_node).
    #[track_caller]
    pub fn node(&self, name: &str) -> Result<Arc<Node>> {
        let node = self.find(name)?.node("table");
        node.map_err(|kind| self.fault(name, kind))
    }

    /// Returns a column of text as codes.
    ///
    /// Equal texts have equal codes. Codes are numbered from 0 in the order of first occurrence.
    ///
    /// # Errors
    /// If there is no such column, or if it is not text. [`Csv::text`](super::Csv::text) reads a
    /// column as text.
    #[track_caller]
    pub fn codes(&self, name: &str) -> Result<Array<u32>> {
        let codes = manifest(self.find_text(name)?.codes.clone(), "table");
        typed::<u32, Ix1>(codes).map_err(|kind| self.fault(name, kind))
    }

    /// Returns the distinct texts of a column, indexed by code.
    ///
    /// # Errors
    /// As [`codes`](Table::codes).
    pub fn labels(&self, name: &str) -> Result<&[String]> {
        Ok(&self.find_text(name)?.labels)
    }

    /// Lists the texts of a column, row by row.
    ///
    /// A missing text ([`valid`](Table::valid)) is usually empty.
    ///
    /// ```
    /// use livefusion::io;
    /// let table = io::csv_text("name\nSmith\nWang\nSmith\n").read()?;
    /// assert_eq!(table.text("name")?.collect::<Vec<_>>(), ["Smith", "Wang", "Smith"]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`codes`](Table::codes).
    pub fn text(
        &self,
        name: &str,
    ) -> Result<impl DoubleEndedIterator<Item = &str> + ExactSizeIterator> {
        let text = self.find_text(name)?;
        let codes: &[u32] = text.codes.as_slice().unwrap_or_default();
        Ok(codes.iter().map(|c| text.labels[*c as usize].as_str()))
    }

    /// Computes an array and adds it as a column.
    ///
    /// It replaces a column of the same name.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("squares.csv");
    /// let table = io::csv_text("name,x\na,1.5\nb,2\n").read()?;
    /// let squares = table.column::<f64>("x")?.map(|x| x * x);
    /// table.with("square", &squares)?.save(&path)?;
    /// assert_eq!(std::fs::read_to_string(&path).unwrap(), "name,x,square\na,1.5,2.25\nb,2.0,4.0\n");
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`force`](Array::force). Also if the array's length differs from the table's.
    pub fn with<T: Scalar>(self, name: impl Into<String>, array: &Array<T>) -> Result<Table> {
        self.with_node(name, array.node())
    }

    /// Computes an untyped node and adds it as a column.
    ///
    /// It is as [`with`](Table::with), for a node of the untyped graph.
    ///
    /// # Errors
    /// As [`with`](Table::with). Also if the node is not an array of scalars of rank 1.
    pub fn with_node(self, name: impl Into<String>, node: &Arc<Node>) -> Result<Table> {
        let name = name.into();
        match Plain::of(node) {
            Ok(all) if all.shape.len() == 1 => self.put(name, Data::Scalars(all.elements).into()),
            Ok(all) => {
                let got = format!("one of rank {}", all.shape.len());
                Err(self.fault(&name, ErrorKind::malformed("an array of rank 1", got)))
            }
            Err(kind) => Err(self.fault(&name, kind)),
        }
    }

    /// Computes values and their presence in one force and adds a nullable column.
    ///
    /// # Errors
    /// As [`with`](Table::with) for each.
    pub fn with_nullable<T: Scalar>(
        self,
        name: impl Into<String>,
        array: &Array<T>,
        valid: &Array<bool>,
    ) -> Result<Table> {
        let name = name.into();
        let forced = (array, valid).force();
        let (mut values, there) = forced.map_err(|e| self.fault(&name, e.into()))?;
        let fetched = values.fetch().and_then(|()| there.fetch());
        fetched.map_err(|e| self.fault(&name, e.into()))?;
        if values.len() != there.len() {
            let expected = format!("{} values that are there or not", values.len());
            let kind = ErrorKind::malformed(expected, there.len().to_string());
            return Err(self.fault(&name, kind));
        }
        let missing = there.iter().filter(|there| !**there).count();
        let node = Array::from(there).node().clone();
        let column = Column {
            data: Data::Scalars(values.take_columns().swap_remove(0)),
            valid: (missing > 0).then_some(Valid { node, missing }),
        };
        self.put(name, column)
    }

    /// Computes segments in one force and adds them as a column of lists.
    ///
    /// # Errors
    /// As [`force`](Array::force). Also if the number of segments differs from the table's number
    /// of rows.
    pub fn with_segments<T: Scalar>(
        self,
        name: impl Into<String>,
        segments: &Segmented<T>,
    ) -> Result<Table> {
        self.with_segments_node(name, &segments.nodes())
    }

    /// Computes untyped segments and adds them as a column of lists.
    ///
    /// It is as [`with_segments`](Table::with_segments), for segments of the untyped graph.
    ///
    /// # Errors
    /// As [`with_segments`](Table::with_segments). Also if the elements are not scalars.
    pub fn with_segments_node(self, name: impl Into<String>, segments: &Segments) -> Result<Table> {
        let name = name.into();
        let lists = Lists::of(segments);
        let lists = lists.map_err(|kind| self.fault(&name, kind))?;
        self.put(name, Data::Lists(lists).into())
    }

    /// Adds a column of text.
    ///
    /// It replaces a column of the same name.
    ///
    /// ```
    /// use livefusion::io::Table;
    /// let table = Table::new().with_text("name", ["Smith", "Wang"])?;
    /// assert_eq!(table.len(), 2);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the number of texts differs from the table's number of rows.
    pub fn with_text<S: AsRef<str>>(
        self,
        name: impl Into<String>,
        texts: impl IntoIterator<Item = S>,
    ) -> Result<Table> {
        let name = name.into();
        match dictionary(texts) {
            Ok(text) => self.put(name, Data::Text(text).into()),
            Err(kind) => Err(self.fault(&name, kind)),
        }
    }

    /// Computes a matrix and adds each of its columns under its name.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io::Table;
    /// let m = Array::from([[1i64, 2], [3, 4], [5, 6]]);
    /// let table = Table::new().with_matrix(&["x", "y"], &m)?;
    /// assert_eq!(table.column::<i64>("y")?.force()?, [2, 4, 6]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`force`](Array::force). Also if the numbers of names and of columns differ, or if the
    /// matrix and the table differ in rows.
    #[doc(alias = "savetxt")]
    pub fn with_matrix<T: Scalar>(self, names: &[&str], m: &Array<T, Ix2>) -> Result<Table> {
        let m = m.force()?;
        m.fetch()?;
        let [rows, width] = m.shape();
        let path = self.path.clone();
        let fault = |kind: ErrorKind| kind.at(path.as_deref(), Place::Whole);
        if names.len() != width {
            let expected = format!("{width} names, one for each column");
            return Err(fault(ErrorKind::malformed(
                expected,
                names.len().to_string(),
            )));
        }
        let mut table = self;
        for (k, name) in names.iter().enumerate() {
            let bytes = (rows * size_of::<T>()) as u64;
            let column = m.iter().skip(k).step_by(width).copied();
            let column =
                collected(rows, column).ok_or_else(|| fault(ErrorKind::Memory { bytes }))?;
            let data = Data::Scalars(Arc::new(Buffer::from_vec(column)));
            table = table.put(name.to_string(), data.into())?;
        }
        Ok(table)
    }

    pub(super) fn put(mut self, name: String, column: Column) -> Result<Table> {
        let (expected, got) = (*self.len.get_or_insert(column.len()), column.len());
        if expected != got {
            let expected = format!("{expected} rows");
            return Err(self.fault(&name, ErrorKind::malformed(expected, got.to_string())));
        }
        match self.columns.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = column,
            None => self.columns.push((name, column)),
        }
        Ok(self)
    }

    /// The columns with their names.
    pub(super) fn columns(&self) -> &[(String, Column)] {
        &self.columns
    }

    pub(super) fn find(&self, name: &str) -> Result<&Column> {
        let found = self.columns.iter().find(|(n, _)| n == name);
        found.map(|(_, column)| column).ok_or_else(|| {
            let names: Vec<&str> = self.names().collect();
            no_column(&names, name).at(self.path.as_deref(), Place::Whole)
        })
    }

    pub(super) fn find_text(&self, name: &str) -> Result<&Text> {
        let text = self.find(name)?.text();
        text.map_err(|kind| self.fault(name, kind))
    }

    pub(super) fn fault(&self, name: &str, kind: ErrorKind) -> Error {
        kind.at(self.path.as_deref(), Place::Column(name.to_string()))
    }
}

/// Describes the error of an unknown column.
pub fn no_column<S: AsRef<str>>(names: &[S], name: &str) -> ErrorKind {
    const MOST: usize = 20;
    let mut all: Vec<String> = names.iter().take(MOST).map(|n| shown(n.as_ref())).collect();
    if names.len() > MOST {
        all.push(format!("{} more", names.len() - MOST));
    }
    ErrorKind::malformed(
        format!("one of the columns {}", all.join(", ")),
        shown(name),
    )
}

impl fmt::Debug for Table {
    /// Formats names, types, and the number of rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} rows", self.len())?;
        for (name, ty) in self.names().zip(self.types()) {
            write!(f, ", {name:?}: {ty}")?;
        }
        f.write_str(")")
    }
}

/// Writes an element as text that reads back as the same value.
pub fn write_word(
    to: &mut (impl std::io::Write + ?Sized),
    elements: &Buffer,
    row: usize,
) -> std::io::Result<()> {
    let word = elements.get_word(row).unwrap_or(0);
    // `{:?}` shows a float with a point or an exponent, so that it reads back as a float.
    by_type!(elements.ty(), T => write!(to, "{:?}", T::from_word(word)))
}
