//! Columns with names, in memory.

use super::super::error::{Error, ErrorKind, Place, Result, shown};
use super::super::plain::{Plain, by_type, typed};
use super::cells::{Why, dictionary};
use super::value::Type;
use crate::array::{Array, Ix1, Ix2};
use crate::ast::Node;
use crate::elt::{Scalar, collected};
use livefusion_backend::{Buffer, Prim};
use loop_lang::types::{Const, Ty};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Columns of one length, each with a name and a type. [`csv`](super::csv()) reads one; [`new`](Table::new) begins one that is
/// to be saved.
///
/// A column of text is kept as a code for each row, and the texts, each once: [`codes`](Table::codes) is an array that programs
/// compare, count and group by, and [`labels`](Table::labels) says what a code means.
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io;
/// let sales = io::csv_text("city,amount\nRome,2.5\nOslo,4\nRome,1\n").read()?;
/// let cities = sales.labels("city")?;
/// let amounts = sales.column::<f64>("amount")?;
/// let by_city = reduce_by_index(cities.len(), 0.0, &sales.codes("city")?, &amounts, |a, b| a + b);
/// assert_eq!((cities, by_city.force()?.to_vec()?), (&["Rome".to_string(), "Oslo".into()][..], vec![3.5, 4.0]));
/// # Ok::<(), livefusion::io::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Table {
    path: Option<PathBuf>,
    /// None as long as there is no column.
    len: Option<usize>,
    columns: Vec<(String, Data)>,
}

/// What a column holds.
#[derive(Clone)]
pub enum Data {
    Scalars(Arc<Buffer>),
    Text(Text),
}

/// Texts as codes.
#[derive(Clone)]
pub struct Text {
    pub codes: Arc<Buffer>,
    pub labels: Vec<String>,
    /// Why they are text, where nobody asked for it.
    pub why: Why,
}

impl Data {
    fn len(&self) -> usize {
        self.buffer().len()
    }

    /// Its elements; of text the codes.
    pub fn buffer(&self) -> &Arc<Buffer> {
        match self {
            Data::Scalars(elements) => elements,
            Data::Text(text) => &text.codes,
        }
    }
}

impl Table {
    /// A table without columns.
    pub fn new() -> Table {
        Table::default()
    }

    /// Columns that were read.
    pub(super) fn of(path: Option<&Path>, len: usize, columns: Vec<(String, Data)>) -> Table {
        Table {
            path: path.map(Path::to_path_buf),
            len: Some(len),
            columns,
        }
    }

    /// The names of the columns, from the left.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The types of the columns, from the left.
    pub fn types(&self) -> impl ExactSizeIterator<Item = Type> {
        self.columns.iter().map(|(_, data)| match data {
            Data::Scalars(elements) => Type::Scalar(elements.ty()),
            Data::Text(_) => Type::Text,
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len.unwrap_or(0)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A column of scalars as an array. No copy if it is of type `T`. Integers may be asked for as any type of numbers that has
    /// all of them exactly, and `f32` as `f64`.
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
    /// If there is no such column, or if it is of a type whose elements are none of `T`.
    #[track_caller]
    pub fn column<T: Scalar>(&self, name: &str) -> Result<Array<T>> {
        let elements = self.converted::<T>(name)?;
        let shape = vec![elements.len() as u64];
        let node = Plain { shape, elements }.node("csv");
        typed::<T, Ix1>(node).map_err(|kind| self.fault(name, kind))
    }

    /// All columns as a matrix, a row for each row.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io;
    /// let m = io::csv_text("x,y\n1,2.5\n3,4\n").read()?.matrix::<f64>()?;
    /// assert_eq!(m.sum_axis(1).force()?, [3.5, 7.0]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`column`](Table::column) for each, and if there is no memory for the matrix.
    #[doc(alias = "loadtxt")]
    #[track_caller]
    pub fn matrix<T: Scalar>(&self) -> Result<Array<T, Ix2>> {
        let columns = self.names().map(|name| self.converted::<T>(name));
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

    /// A column as a node of the untyped graph, of its own type; text as its codes.
    ///
    /// ```
    /// use livefusion::io;
    /// let table = io::csv_text("n\n1\n").read()?;
    /// assert_eq!(table.node("n")?.types[0].name(), "i64");
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such column.
    #[track_caller]
    pub fn node(&self, name: &str) -> Result<Arc<Node>> {
        let elements = self.find(name)?.buffer().clone();
        let shape = vec![elements.len() as u64];
        Ok(Plain { shape, elements }.node("csv"))
    }

    /// A column of text as numbers: equal texts have equal codes, counted from 0 in the order in which they come.
    ///
    /// # Errors
    /// If there is no such column, or if it is none of text ([`Csv::text`](super::Csv::text) makes it one).
    #[track_caller]
    pub fn codes(&self, name: &str) -> Result<Array<u32>> {
        let elements = self.find_text(name)?.codes.clone();
        let shape = vec![elements.len() as u64];
        let node = Plain { shape, elements }.node("csv");
        typed::<u32, Ix1>(node).map_err(|kind| self.fault(name, kind))
    }

    /// The texts of a column, each once: the one of a code is at its place.
    ///
    /// # Errors
    /// As [`codes`](Table::codes).
    pub fn labels(&self, name: &str) -> Result<&[String]> {
        Ok(&self.find_text(name)?.labels)
    }

    /// The texts of a column, row by row.
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

    /// Computes an array and adds it as a column, in place of one of this name.
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
    /// As [`force`](Array::force), and if it is not as long as the table.
    pub fn with<T: Scalar>(self, name: impl Into<String>, array: &Array<T>) -> Result<Table> {
        self.with_node(name, array.node())
    }

    /// As [`with`](Table::with), of a node of the untyped graph.
    ///
    /// # Errors
    /// As [`with`](Table::with), and if it is no array of scalars of rank 1.
    pub fn with_node(self, name: impl Into<String>, node: &Arc<Node>) -> Result<Table> {
        let name = name.into();
        match Plain::of(node) {
            Ok(all) if all.shape.len() == 1 => self.put(name, Data::Scalars(all.elements)),
            Ok(all) => {
                let got = format!("one of rank {}", all.shape.len());
                Err(self.fault(&name, ErrorKind::malformed("an array of rank 1", got)))
            }
            Err(kind) => Err(self.fault(&name, kind)),
        }
    }

    /// Adds a column of text, in place of one of this name.
    ///
    /// ```
    /// use livefusion::io::Table;
    /// let table = Table::new().with_text("name", ["Smith", "Wang"])?;
    /// assert_eq!(table.len(), 2);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there are not as many texts as the table has rows.
    pub fn with_text<S: AsRef<str>>(
        self,
        name: impl Into<String>,
        texts: impl IntoIterator<Item = S>,
    ) -> Result<Table> {
        let name = name.into();
        match dictionary(texts) {
            Ok(text) => self.put(name, Data::Text(text)),
            Err(kind) => Err(self.fault(&name, kind)),
        }
    }

    /// Computes a matrix and adds its columns, each under its name.
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
    /// As [`force`](Array::force), if there are not as many names as columns, or if it has not as many rows as the table.
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
            table = table.put(name.to_string(), data)?;
        }
        Ok(table)
    }

    pub(super) fn put(mut self, name: String, data: Data) -> Result<Table> {
        let (expected, got) = (*self.len.get_or_insert(data.len()), data.len());
        if expected != got {
            let expected = format!("{expected} rows");
            return Err(self.fault(&name, ErrorKind::malformed(expected, got.to_string())));
        }
        match self.columns.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = data,
            None => self.columns.push((name, data)),
        }
        Ok(self)
    }

    /// The columns, with their names.
    pub(super) fn columns(&self) -> &[(String, Data)] {
        &self.columns
    }

    fn find(&self, name: &str) -> Result<&Data> {
        let found = self.columns.iter().find(|(n, _)| n == name);
        found.map(|(_, data)| data).ok_or_else(|| {
            let names: Vec<&str> = self.names().collect();
            no_column(&names, name).at(self.path.as_deref(), Place::Whole)
        })
    }

    fn find_text(&self, name: &str) -> Result<&Text> {
        match self.find(name)? {
            Data::Text(text) => Ok(text),
            Data::Scalars(elements) => {
                let got = elements.ty().name();
                Err(self.fault(name, ErrorKind::malformed("text", got)))
            }
        }
    }

    fn fault(&self, name: &str, kind: ErrorKind) -> Error {
        kind.at(self.path.as_deref(), Place::Column(name.to_string()))
    }

    /// The elements of a column as a type.
    fn converted<T: Scalar>(&self, name: &str) -> Result<Arc<Buffer>> {
        let wrong = |got: String| {
            let kind = ErrorKind::malformed(T::TY.name(), got);
            Err(self.fault(name, kind))
        };
        match self.find(name)? {
            Data::Scalars(elements) if elements.ty() == T::TY => Ok(elements.clone()),
            Data::Text(_) if self.is_empty() => Ok(Arc::new(Buffer::empty(T::TY))),
            Data::Text(Text { why, .. }) => wrong(match why {
                Some((line, text)) => format!("text, in line {line} {}", shown(text)),
                None => "text".to_string(),
            }),
            Data::Scalars(elements) => match convert::<T>(elements) {
                Ok(values) => Ok(Arc::new(Buffer::from_vec(values))),
                Err(Some((row, x))) => wrong(format!("{}, in row {row} {x}", elements.ty())),
                Err(None) => wrong(elements.ty().to_string()),
            },
        }
    }
}

/// Elements as another type, each exactly. Else the first integer that is none of them, or nothing if no conversion is exact.
fn convert<T: Scalar>(elements: &Buffer) -> Result<Vec<T>, Option<(usize, i128)>> {
    let from = elements.ty();
    let word = |row| {
        let word = elements.get_word(row).unwrap_or(0);
        match (Const::new(from, word).integer(), from, T::TY) {
            (Some(x), ..) => Const::exactly(T::TY, x)
                .map(|c| c.bits)
                .ok_or(Some((row, x))),
            (None, Ty::F32, Ty::F64) => Ok(f64::from(f32::from_word(word)).to_bits()),
            _ => Err(None),
        }
    };
    (0..elements.len())
        .map(|row| word(row).map(T::from_word))
        .collect()
}

/// There is no column of this name.
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
    /// Names, types, and the number of rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} rows", self.len())?;
        for (name, ty) in self.names().zip(self.types()) {
            write!(f, ", {name:?}: {ty}")?;
        }
        f.write_str(")")
    }
}

/// Writes an element as a field that reads as the same.
pub fn write_word(
    to: &mut (impl std::io::Write + ?Sized),
    elements: &Buffer,
    row: usize,
) -> std::io::Result<()> {
    let word = elements.get_word(row).unwrap_or(0);
    // A float as `{:?}` shows it has a point or an exponent, and so is one when it is read.
    by_type!(elements.ty(), T => write!(to, "{:?}", T::from_word(word)))
}
