//! CSV: a line of names, then lines with one field per name.

mod cells;
mod gaps;
mod records;
mod times;
mod write;

pub(super) use cells::{Why, dictionary};
pub use write::save_csv;

use super::error::{ErrorKind, Place, Result, shown};
use super::table::{Table, no_column};
use super::value::{Type, Value, type_of};
use crate::elt::Scalar;
use cells::{ColumnCells, Markers};
use records::{Records, TableRecord};
use rustc_hash::FxHashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Seek};
use std::path::{Path, PathBuf};

/// Holds the options for reading a table.
///
/// [`csv()`] and [`csv_text`] create it. [`read`](Csv::read) reads the table.
#[derive(Clone, Debug)]
#[must_use = "nothing is read before `read`"]
pub struct Csv {
    source: CsvSource,
    delimiter: u8,
    comment: Option<u8>,
    has_header: bool,
    names: Option<Vec<String>>,
    only: Option<Vec<String>>,
    types: Vec<(String, Type)>,
    fills: Vec<(String, Value)>,
    fill: Option<Value>,
    markers: Vec<String>,
}

#[derive(Clone, Debug)]
enum CsvSource {
    Path(PathBuf),
    Text(Vec<u8>),
}

/// Reads a table from a file.
///
/// Lines may end as on any system. A field with the delimiter, a quote or a line break is quoted; a
/// quote in it is doubled. A byte order mark and empty lines are skipped. The first line has the
/// columns' names.
///
/// The type of a column depends on its fields, but not on the order of lines:
/// - `i64` if all are integers;
/// - `f64` if all are numbers;
/// - `bool` if all are `true` or `false`;
/// - dates if all are dates of one form;
/// - text otherwise.
///
/// Surrounding blanks count in text only. No integer loses a digit: a column of integers is text if
/// one is beyond `i64`. A column with floats is text if `f64` does not represent an integer
/// exactly, such as `2^53 + 1`. Fractions such as `0.1` are rounded to the nearest `f64`.
/// [`column`](Csv::column) requests another type. An empty field is a missing value in all columns
/// except text. That is an error, unless [`missing`](Csv::missing) gives a substitute.
///
/// Dates are written as `2010-01-31`, `2010/01/31` or `Jan 31 2010`, alone ([`Date`](super::Date))
/// or followed by a time ([`DateTime`](super::DateTime)): `05:00`, `05:00:00`, `05:00:00.5`. They
/// have no time zone. A date with a zone is text.
///
/// The file is read once, and again if a column turns out to be text below its first line. Memory
/// holds the columns, not the file.
///
/// ```
/// use livefusion::io::csv_text;
/// for text in ["a\n1.5\n9007199254740993\n", "a\n9007199254740993\n1.5\n"] {
///     assert!(csv_text(text).read()?.text("a")?.any(|x| x == "9007199254740993"));
///     assert_eq!(csv_text(text).column::<f64>("a").read()?.column::<f64>("a")?.max().force()?, 9007199254740992.0);
/// }
/// # Ok::<(), livefusion::io::Error>(())
/// ```
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io;
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("people.csv");
/// # std::fs::write(&path, "name;age;height\nAda;36;1.65\n\"Babbage; Charles\";79;\n").unwrap();
/// let people = io::csv(&path).delimiter(b';').missing("height", f64::NAN).read()?;
/// assert_eq!(people.types().map(|t| t.to_string()).collect::<Vec<_>>(), ["text", "i64", "f64"]);
/// assert_eq!(people.column::<f64>("age")?.mean().force()?, 57.5);
/// assert_eq!(people.text("name")?.last(), Some("Babbage; Charles"));
/// # Ok::<(), livefusion::io::Error>(())
/// ```
#[doc(alias("loadtxt", "genfromtxt", "read_csv"))]
pub fn csv(path: impl AsRef<Path>) -> Csv {
    Csv::new(CsvSource::Path(path.as_ref().to_path_buf()))
}

/// Reads a table from text in memory.
///
/// It is otherwise as [`csv()`].
///
/// ```
/// use livefusion::prelude::*;
/// use livefusion::io;
/// let table = io::csv_text("x,y\n1,2\n3,4\n").read()?;
/// let (x, y) = (table.column::<i64>("x")?, table.column::<f64>("y")?);
/// assert_eq!(zip((&x, &y)).force()?, [(1, 2.0), (3, 4.0)]);
/// # Ok::<(), livefusion::io::Error>(())
/// ```
pub fn csv_text(text: impl Into<Vec<u8>>) -> Csv {
    Csv::new(CsvSource::Text(text.into()))
}

impl Csv {
    fn new(source: CsvSource) -> Csv {
        Csv {
            source,
            delimiter: b',',
            comment: None,
            has_header: true,
            names: None,
            only: None,
            types: Vec::new(),
            fills: Vec::new(),
            fill: None,
            markers: Vec::new(),
        }
    }

    /// Sets the field delimiter.
    ///
    /// The default is a comma; common others are a semicolon or a tab.
    pub fn delimiter(mut self, delimiter: u8) -> Csv {
        self.delimiter = delimiter;
        self
    }

    /// Skips lines that begin with this byte.
    ///
    /// ```
    /// use livefusion::io;
    /// let table = io::csv_text("# measured\nx\n1\n").comment(b'#').read()?;
    /// assert_eq!(table.len(), 1);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    pub fn comment(mut self, mark: u8) -> Csv {
        self.comment = Some(mark);
        self
    }

    /// Sets whether the first line has the names of the columns.
    ///
    /// If not, they are `0`, `1`, ..., or as given by [`names`](Csv::names).
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io;
    /// let m = io::csv_text("1,2\n3,4\n").header(false).read()?.matrix::<f64>()?;
    /// assert_eq!(m.force()?, [[1.0, 2.0], [3.0, 4.0]]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    pub fn header(mut self, has_header: bool) -> Csv {
        self.has_header = has_header;
        self
    }

    /// Sets the names of the columns, from the left, instead of the file's.
    pub fn names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Csv {
        self.names = Some(names.into_iter().map(S::into).collect());
        self
    }

    /// Reads only these columns, in the file's order.
    ///
    /// The contents of the others are ignored.
    ///
    /// ```
    /// use livefusion::io;
    /// let table = io::csv_text("a,b,c\n1,?,2\n").only(["a", "c"]).read()?;
    /// assert_eq!(table.names().collect::<Vec<_>>(), ["a", "c"]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    #[doc(alias = "usecols")]
    pub fn only<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Csv {
        self.only = Some(names.into_iter().map(S::into).collect());
        self
    }

    /// Sets the type of a column.
    ///
    /// Each field must be of this type and within its range. A `bool` may also be 0 or 1. A float
    /// or integer in a float column is rounded to the nearest float.
    ///
    /// ```
    /// use livefusion::io;
    /// let table = io::csv_text("id,level\n18446744073709551615,3\n");
    /// let table = table.column::<u64>("id").column::<u8>("level").read()?;
    /// assert_eq!(table.types().map(|t| t.to_string()).collect::<Vec<_>>(), ["u64", "u8"]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    #[doc(alias = "dtype")]
    pub fn column<T: Scalar>(self, name: impl Into<String>) -> Csv {
        self.typed(name, type_of::<T>())
    }

    /// Reads a column as text, independent of its contents.
    ///
    /// ```
    /// use livefusion::io;
    /// let table = io::csv_text("zip\n02139\n").text("zip").read()?;
    /// assert_eq!(table.text("zip")?.next(), Some("02139"));
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    pub fn text(self, name: impl Into<String>) -> Csv {
        self.typed(name, Type::Text)
    }

    /// Sets the type of a column, where it is known at run time only.
    pub fn typed(mut self, name: impl Into<String>, ty: Type) -> Csv {
        self.types.push((name.into(), ty));
        self
    }

    /// Substitutes a value for missing ones in a column.
    ///
    /// An integer column with the substitute `f64::NAN` becomes an `f64` column.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io;
    /// let text = "x,n\n1.5,1\n,\n2.5,3\n";
    /// let wrong = io::csv_text(text).read().unwrap_err().to_string();
    /// assert!(wrong.starts_with(r#"line 3, column "x": expected f64, got nothing"#), "{wrong}");
    /// let table = io::csv_text(text).missing("x", f64::NAN).missing("n", -1).read()?;
    /// assert_eq!(table.column::<f64>("x")?.filter(|x| !x.is_nan()).sum().force()?, 4.0);
    /// assert_eq!(table.column::<i64>("n")?.force()?, [1, -1, 3]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    #[doc(alias = "filling_values")]
    pub fn missing(mut self, name: impl Into<String>, value: impl Into<Value>) -> Csv {
        self.fills.push((name.into(), value.into()));
        self
    }

    /// Substitutes a value for missing ones in all other columns.
    ///
    /// It applies to columns that [`missing`](Csv::missing) does not name.
    pub fn missing_anywhere(mut self, value: impl Into<Value>) -> Csv {
        self.fill = Some(value.into());
        self
    }

    /// Adds fields that mean a missing value.
    ///
    /// An empty field always does.
    ///
    /// ```
    /// use livefusion::prelude::*;
    /// use livefusion::io;
    /// let table = io::csv_text("x\n1\nNA\n").missing_is(["NA", "-"]).missing_anywhere(0).read()?;
    /// assert_eq!(table.column::<i64>("x")?.force()?, [1, 0]);
    /// # Ok::<(), livefusion::io::Error>(())
    /// ```
    #[doc(alias = "na_values")]
    pub fn missing_is<S: Into<String>>(mut self, fields: impl IntoIterator<Item = S>) -> Csv {
        self.markers.extend(fields.into_iter().map(S::into));
        self
    }

    /// Reads the table.
    ///
    /// # Errors
    /// If the file cannot be read, or if there is not enough memory. Each other error gives the
    /// line and the column:
    /// - a line has more or fewer fields than the first one;
    /// - a quote is not closed;
    /// - a field is not UTF-8, does not have its column's type, or is missing;
    /// - a given name has no column, or two columns of the table have one name.
    pub fn read(self) -> Result<Table> {
        match &self.source {
            CsvSource::Path(path) => {
                let file = File::open(path).map_err(|e| ErrorKind::from(e).of(path))?;
                self.read_from(BufReader::with_capacity(1 << 16, file), Some(path))
            }
            CsvSource::Text(text) => self.read_from(Cursor::new(text), None),
        }
    }

    fn read_from(&self, mut source: impl BufRead + Seek, path: Option<&Path>) -> Result<Table> {
        let whole = |kind: ErrorKind| kind.at(path, Place::Whole);
        let begin = |names| self.begin(names).map_err(whole);
        let (mut columns, len) = self.pass(&mut source, path, begin)?;
        for column in &mut columns {
            column.close().map_err(|(line, kind)| {
                let column = Some(column.name.clone());
                kind.at(path, Place::Line { line, column })
            })?;
        }
        if columns.iter().any(ColumnCells::needs_reread) {
            source.rewind().map_err(|e| whole(e.into()))?;
            let reread = |_| Ok(columns.iter().map(ColumnCells::for_reread).collect());
            let (texts, lines) = self.pass(&mut source, path, reread)?;
            if lines != len {
                let expected = format!("{len} lines, as when they were read before");
                return Err(whole(ErrorKind::malformed(expected, lines.to_string())));
            }
            for (column, text) in columns.iter_mut().zip(texts) {
                if column.needs_reread() {
                    *column = text;
                }
            }
        }
        let columns = columns.into_iter().filter_map(ColumnCells::finish);
        Ok(Table::of(path, len, columns.collect()))
    }

    /// Reads all lines into columns, which `begin` creates from the names. Counts the lines.
    fn pass(
        &self,
        source: &mut impl BufRead,
        path: Option<&Path>,
        begin: impl FnOnce(Vec<String>) -> Result<Vec<ColumnCells>>,
    ) -> Result<(Vec<ColumnCells>, usize)> {
        let in_line = |line, kind: ErrorKind| kind.at(path, Place::Line { line, column: None });
        let wrong = |(line, kind)| in_line(line, kind);
        let markers = Markers(self.markers.clone());
        let mut records = Records::new(source, self.delimiter, self.comment);
        records.skip_mark().map_err(wrong)?;
        let first = records.next().map_err(wrong)?;
        let names = match (&first, self.has_header) {
            (Some(line), true) => self
                .header_of(line)
                .map_err(|kind| in_line(line.line, kind))?,
            (None, true) => {
                let kind = ErrorKind::malformed("a line of names", "no line");
                return Err(kind.at(path, Place::Whole));
            }
            (line, false) => self.numbered(line.as_ref().map_or(0, TableRecord::len)),
        };
        let mut columns = begin(names)?;
        let mut take = |record: &TableRecord<'_>| {
            let line = record.line;
            if record.len() != columns.len() {
                let got = record.len().to_string();
                let expected = format!("{} fields", columns.len());
                return Err(in_line(line, ErrorKind::malformed(expected, got)));
            }
            for (column, field) in columns.iter_mut().zip(record.fields()) {
                column.push(field, line, &markers).map_err(|kind| {
                    let column = Some(column.name.clone());
                    kind.at(path, Place::Line { line, column })
                })?;
            }
            Ok(())
        };
        let mut len = 0;
        if let (Some(record), false) = (&first, self.has_header) {
            take(record)?;
            len += 1;
        }
        while let Some(record) = records.next().map_err(wrong)? {
            take(&record)?;
            len += 1;
        }
        Ok((columns, len))
    }

    /// The names in the first line, or their replacements.
    fn header_of(&self, line: &TableRecord<'_>) -> Result<Vec<String>, ErrorKind> {
        if self.names.is_some() {
            return Ok(self.numbered(line.len()));
        }
        line.fields()
            .map(|name| cells::utf8(name).map(str::to_string))
            .collect()
    }

    /// Names for a number of columns: the given ones, else numbers.
    fn numbered(&self, columns: usize) -> Vec<String> {
        match &self.names {
            Some(names) => names.clone(),
            None => (0..columns).map(|k| k.to_string()).collect(),
        }
    }

    /// Creates the columns of these names, without fields.
    fn begin(&self, names: Vec<String>) -> Result<Vec<ColumnCells>, ErrorKind> {
        let types = self.types.iter().map(|(name, _)| name);
        let fills = self.fills.iter().map(|(name, _)| name);
        for name in types.chain(fills).chain(self.only.iter().flatten()) {
            if !names.contains(name) {
                return Err(no_column(&names, name));
            }
        }
        let is_read = |ty: &Type| !matches!(ty, Type::List(_) | Type::Other);
        if let Some((name, ty)) = self.types.iter().find(|(_, ty)| !is_read(ty)) {
            let got = format!("{ty} for {}", shown(name));
            return Err(ErrorKind::malformed(
                "columns of scalars, dates or text",
                got,
            ));
        }
        let wanted = |name: &String| self.only.as_ref().is_none_or(|only| only.contains(name));
        let mut seen = FxHashSet::default();
        if let Some(twice) = names.iter().find(|n| wanted(n) && !seen.insert(*n)) {
            let got = format!("{} twice", shown(twice));
            return Err(ErrorKind::malformed("columns with names that differ", got));
        }
        // The last setting of a name wins.
        let cells = names.iter().map(|name| {
            if !wanted(name) {
                return ColumnCells::skipped(name.clone());
            }
            let given = self.types.iter().rev().find(|(n, _)| n == name);
            let fill = self.fills.iter().rev().find(|(n, _)| n == name);
            let fill = fill.map(|(_, value)| value).or(self.fill.as_ref());
            ColumnCells::new(name.clone(), given.map(|(_, ty)| *ty), fill.cloned())
        });
        Ok(cells.collect())
    }
}
