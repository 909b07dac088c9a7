//! File input and output: `load`, `save`.

use super::{Combinator, Kind, row};
use crate::diagnostic::{Diagnostic, shown};
use crate::eval::{Call, Result};
use crate::nearest;
use crate::source::Span;
use crate::syntax::Literal;
use crate::value::{Array, Column, Columns, Elt, Save, Saved, Table, Value};
use livefusion::ast::{Node, Shape, Ty};
use livefusion::io::{self, npy, npz, raw};
#[cfg(feature = "arrow")]
use livefusion::io::{arrow, parquet};
use livefusion::segmented::Segments;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Lists the combinators.
#[rustfmt::skip]
pub static ROWS: &[Combinator] = &[
    row("load", &[Kind::Text], "(\"file\", option, …) => table, array or arrays", "load \"examples/data/airports.csv\"", load).repeated().also(&["read_csv"]),
    row("save", &[Kind::Any, Kind::Text], "([T] or table or ([T], …), \"file\", \"name\", …) => ()", "[1, 2, 3] |> save \"squares.npy\"", save).repeated(),
];

/// Options of CSV files, named like the methods of [`io::Csv`], with examples for messages.
const OPTIONS: &[(&str, &str)] = &[
    ("delimiter", "(\"delimiter\", \";\")"),
    ("comment", "(\"comment\", \"#\")"),
    ("header", "(\"header\", false)"),
    ("names", "(\"names\", \"x\", \"y\")"),
    ("only", "(\"only\", \"x\", \"y\")"),
    (
        "column",
        "(\"column\", \"x\", \"f32\"), and `text`, `date` and `datetime` are types",
    ),
    ("missing", "(\"missing\", \"x\", 0)"),
    ("missing_anywhere", "(\"missing_anywhere\", f64::NAN)"),
    ("missing_is", "(\"missing_is\", \"NA\", \"-\")"),
];

/// Loads a file by its ending. CSV, Parquet and Arrow files give a table, an NPY file an array, and
/// an NPZ file its arrays. Any other ending means raw elements.
fn load(c: &mut Call<'_, '_>) -> Result<Value> {
    let path = path(c, 0)?;
    // Delayed values are graphs, which cannot be cache keys.
    let is_plain = c.from(0).all(|k| !c.value(k).has_delayed());
    let key = (is_plain && c.eval.loaded.is_some()).then(|| {
        let args = c.from(0).map(|k| format!("{:?}", c.value(k)));
        args.collect::<Vec<_>>()
    });
    if let (Some(key), Some(all)) = (&key, &c.eval.loaded)
        && let Some(value) = all.get(key)
    {
        return Ok(value.clone());
    }
    is_there(c, &path)?;
    let start = Instant::now();
    let value = match extension(&path) {
        "npy" => {
            no_more(c, 1, "an NPY file has one array")?;
            let read = npy::read_node(&path);
            array(done(c, read)?)
        }
        "npz" => arrays(c, &path)?,
        "csv" | "txt" => table(c, io::csv(&path))?,
        "tsv" => table(c, io::csv(&path).delimiter(b'\t'))?,
        #[cfg(feature = "arrow")]
        "parquet" => {
            let read = match only(c)? {
                Some(names) => {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    parquet::read_only(&path, &names)
                }
                None => parquet::read(&path),
            };
            read_table(c, read)?
        }
        #[cfg(feature = "arrow")]
        "arrow" | "feather" => {
            no_more(c, 1, "an Arrow file has no options")?;
            let read = arrow::read(&path);
            read_table(c, read)?
        }
        #[cfg(not(feature = "arrow"))]
        "parquet" | "arrow" | "feather" => {
            let message = "this `lf` is built without the feature `arrow`";
            return c.eval.refuse(message, c.at(0));
        }
        _ => elements(c, &path)?,
    };
    if let (Some(key), Some(all)) = (key, &mut c.eval.loaded) {
        all.insert(key, value.clone(), &path, start.elapsed());
    }
    Ok(value)
}

/// The endings of loadable files.
const LOADED: &str = match cfg!(feature = "arrow") {
    true => ".csv, .tsv, .parquet, .arrow, .npy or .npz",
    false => ".csv, .tsv, .npy or .npz",
};

/// The endings of savable files.
const SAVED: &str = match cfg!(feature = "arrow") {
    true => ".npy, .npz, .csv, .parquet, .arrow, .raw or .bin",
    false => ".npy, .npz, .csv, .raw or .bin",
};

/// Checks that the file exists. The error suggests similar names in its folder.
fn is_there(c: &Call<'_, '_>, path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let name = text(c.value(0)).unwrap_or_default();
    let message = format!("there is no file `{}`", shown(name));
    let mut missing = Diagnostic::new(message, c.at(0));
    let (before, last) = match name.rfind('/') {
        Some(at) => name.split_at(at + 1),
        None => ("", name),
    };
    let files = path.parent().and_then(|folder| folder.read_dir().ok());
    let files = files.into_iter().flatten().flatten();
    let files: Vec<String> = files
        .filter_map(|file| file.file_name().into_string().ok())
        .collect();
    for other in nearest(last, files.iter().map(String::as_str)) {
        let whole = Literal::Text(format!("{before}{other}")).to_string();
        missing = missing.suggest("you may have meant", c.at(0), whole);
    }
    Err(Box::new(missing))
}

/// Wraps a table that was read.
fn read_table(c: &Call<'_, '_>, read: io::Result<io::Table>) -> Result<Value> {
    Ok(Value::Table(Rc::new(Table::new(done(c, read)?))))
}

/// The arrays of these names; without names, all of them.
fn arrays(c: &mut Call<'_, '_>, path: &Path) -> Result<Value> {
    let opened = npz::open(path);
    let mut archive = done(c, opened)?;
    let names = texts(c, 1)?;
    let all = || archive.names().map(String::from).collect();
    let wanted: Vec<String> = if names.is_empty() { all() } else { names };
    let is_one = c.from(1).len() == 1;
    let mut found = Vec::new();
    for name in wanted {
        let read = archive.read_node(&name);
        found.push(array(done(c, read)?));
    }
    Ok(match found.pop() {
        Some(one) if is_one => one,
        last => {
            found.extend(last);
            Value::Tuple(found)
        }
    })
}

/// Raw elements of the given type, and an optional shape.
fn elements(c: &mut Call<'_, '_>, path: &Path) -> Result<Value> {
    if c.from(1).is_empty() {
        let note = "of a file of elements and nothing else the type is told, and perhaps the shape: `load(\"a.bin\", \"f32\", (2, 3))`";
        let wrong = unknown(c, 0, LOADED);
        return Err(Box::new(wrong.note(note)));
    }
    no_more(c, 3, "expected nothing behind a type and a shape")?;
    let Some(ty) = text(c.value(1)).and_then(Ty::from_name) else {
        let message = format!(
            "expected a type such as \"f64\", got {}",
            c.value(1).describe()
        );
        return c.eval.refuse(message, c.at(1));
    };
    let read = raw::read_node(path, ty);
    let node = done(c, read)?;
    if c.from(2).is_empty() {
        return Ok(array(node));
    }
    let shape = Shape::new(c.shape(2)?);
    c.give_flat(c.builder.reshape(&node, Some(shape)))
}

/// Reads a table with options: tuples that begin with the option's name.
fn table(c: &mut Call<'_, '_>, mut csv: io::Csv) -> Result<Value> {
    for k in c.from(1) {
        let (name, rest) = match c.value(k) {
            Value::Tuple(parts) => match parts.as_slice() {
                [Value::Text(name), rest @ ..] => (name.clone(), rest.to_vec()),
                _ => return Err(no_option("expected the name of an option".into(), c.at(k))),
            },
            other => {
                let message = format!("expected an option, got {}", other.describe());
                return Err(no_option(message, c.at(k)));
            }
        };
        csv = match with_option(csv, &name, &rest) {
            Some(csv) => csv,
            None => {
                let message = match OPTIONS.iter().find(|(known, _)| *known == &*name) {
                    Some((_, example)) => format!("expected an option such as `{example}`"),
                    None => format!("there is no option `{name}`"),
                };
                return Err(no_option(message, c.at(k)));
            }
        };
    }
    let read = csv.read();
    read_table(c, read)
}

/// The requested columns, or `None` for all.
#[cfg(feature = "arrow")]
fn only(c: &Call<'_, '_>) -> Result<Option<Vec<String>>> {
    let Some(k) = c.from(1).next() else {
        return Ok(None);
    };
    no_more(c, 2, "expected one option, `(\"only\", \"x\", \"y\")`")?;
    let words = match c.value(k) {
        Value::Tuple(parts) => parts.iter().map(text).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    match words.as_deref() {
        Some(["only", names @ ..]) => Ok(Some(names.iter().map(|n| n.to_string()).collect())),
        _ => {
            let message = "expected an option such as `(\"only\", \"x\", \"y\")`";
            c.eval.refuse(message, c.at(k))
        }
    }
}

/// Applies an option to the reader. Returns `None` for an unknown option.
fn with_option(csv: io::Csv, name: &str, rest: &[Value]) -> Option<io::Csv> {
    let words = || rest.iter().map(text).collect::<Option<Vec<_>>>();
    match (name, rest) {
        ("delimiter", [mark]) => Some(csv.delimiter(byte(mark)?)),
        ("comment", [mark]) => Some(csv.comment(byte(mark)?)),
        ("header", [has]) => match filling(has)? {
            io::Value::Bool(has) => Some(csv.header(has)),
            _ => None,
        },
        ("names", _) => Some(csv.names(words()?)),
        ("only", _) => Some(csv.only(words()?)),
        ("missing_is", _) => Some(csv.missing_is(words()?)),
        ("column", [name, ty]) => match text(ty)? {
            "text" => Some(csv.text(text(name)?)),
            "date" => Some(csv.typed(text(name)?, io::Type::Date)),
            "datetime" => Some(csv.typed(text(name)?, io::Type::DateTime)),
            ty => Some(csv.typed(text(name)?, io::Type::Scalar(Ty::from_name(ty)?))),
        },
        ("missing", [name, value]) => Some(csv.missing(text(name)?, filling(value)?)),
        ("missing_anywhere", [value]) => Some(csv.missing_anywhere(filling(value)?)),
        _ => None,
    }
}

fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn byte(value: &Value) -> Option<u8> {
    match text(value)?.as_bytes() {
        [one] => Some(*one),
        _ => None,
    }
}

/// The literal that replaces missing values.
fn filling(value: &Value) -> Option<io::Value> {
    match value {
        Value::Int(n) => Some(io::Value::Int(*n)),
        Value::Float(x) => Some(io::Value::Float(*x)),
        Value::Text(text) => Some(io::Value::Text(text.to_string())),
        Value::Scalar(fields, Elt::Scalar(ty)) => {
            let literal = fields.first()?.as_literal()?;
            Some(match literal.integer() {
                Some(n) => io::Value::Int(n),
                None if *ty == Ty::Bool => io::Value::Bool(literal.bits != 0),
                None => io::Value::Float(literal.number()),
            })
        }
        _ => None,
    }
}

/// The error for an unknown option.
fn no_option(message: String, at: Span) -> Box<Diagnostic> {
    let names: Vec<_> = OPTIONS.iter().map(|(name, _)| *name).collect();
    let known = format!("options are {}", names.join(", "));
    Box::new(Diagnostic::new(message, at).note(known))
}

/// Plans how to save a value, by the file's ending. Arrays become NPY, raw or NPZ files. Tables and
/// columns become CSV, Parquet or Arrow files.
fn save(c: &mut Call<'_, '_>) -> Result<Value> {
    let path = path(c, 1)?;
    let what = match (extension(&path), c.value(0).clone()) {
        ("npy", _) => Saved::Npy(one(c)?),
        ("raw" | "bin", _) => Saved::Raw(one(c)?),
        ("npz", value) => Saved::Npz(named(c, value, "arr_")?),
        (ending, value) => match (columns(ending), value) {
            (Some(format), Value::Table(table)) => {
                no_more(c, 2, "a table has names")?;
                Saved::Table(table, format)
            }
            (Some(format), value) if value.columns().is_some() => {
                no_more(c, 2, "a table has names")?;
                let names = value.columns().unwrap_or_default();
                let names: Vec<String> = names.into_iter().map(String::from).collect();
                let mut all = Vec::new();
                for name in names {
                    let column = c.eval.column(&value, &name, c.at(0))?;
                    all.push((name, column_of(c, column)?));
                }
                Saved::Columns(all, format)
            }
            (Some(format), value) => Saved::Columns(named_columns(c, value)?, format),
            (None, _) => {
                return Err(Box::new(unknown(c, 1, SAVED)));
            }
        },
    };
    let at = c.at(1);
    Ok(Value::Save(Save { path, at, what }))
}

/// The single array for a file of one array.
fn one(c: &mut Call<'_, '_>) -> Result<Arc<Node>> {
    no_more(c, 2, "one array has no name")?;
    Ok(c.numbers(0)?.node)
}

/// The column format of a file ending.
fn columns(ending: &str) -> Option<Columns> {
    match ending {
        "csv" => Some(Columns::Csv),
        #[cfg(feature = "arrow")]
        "parquet" => Some(Columns::Parquet),
        #[cfg(feature = "arrow")]
        "arrow" | "feather" => Some(Columns::Arrow),
        _ => None,
    }
}

/// Arrays and segments, with the given names or numbered.
fn named_columns(c: &mut Call<'_, '_>, value: Value) -> Result<Vec<(String, Column)>> {
    let mut all = Vec::new();
    for (name, part) in named_parts(c, value, "c")? {
        all.push((name, column_of(c, part)?));
    }
    Ok(all)
}

/// Converts a value to a column.
fn column_of(c: &mut Call<'_, '_>, value: Value) -> Result<Column> {
    Ok(match value {
        Value::Segmented(s) => {
            c.of_numbers(0, &s.data.elt)?;
            let (lengths, data) = (s.lengths, s.data.node);
            Column::Lists(Segments { lengths, data })
        }
        Value::Array(Array {
            node,
            elt: Elt::Text(labels),
        }) => Column::Text(node, labels),
        Value::Array(Array {
            node,
            elt: Elt::Time(time),
        }) => match time.column() {
            Some(ty) => Column::Times(node, ty),
            None => {
                let message = "a column cannot hold differences of dates";
                let note = "`span / days(1)` and `span / seconds(1)` are numbers";
                return Err(Box::new(Diagnostic::new(message, c.at(0)).note(note)));
            }
        },
        other => Column::Scalars(node_of(c, other)?),
    })
}

/// Arrays with the given names, or numbered.
fn named(c: &mut Call<'_, '_>, value: Value, prefix: &str) -> Result<Vec<(String, Arc<Node>)>> {
    let parts = named_parts(c, value, prefix)?;
    let nodes = parts
        .into_iter()
        .map(|(name, part)| Ok((name, node_of(c, part)?)));
    nodes.collect()
}

/// An array to save.
fn node_of(c: &mut Call<'_, '_>, value: Value) -> Result<Arc<Node>> {
    match value {
        Value::Array(a) => c.of_numbers(0, &a.elt).map(|()| a.node),
        Value::Range(range) => Ok(c.eval.range(*range, c.at(0))?.node),
        other => {
            let message = format!("expected arrays, got {}", other.describe());
            c.eval.refuse(message, c.at(0))
        }
    }
}

/// Values with the given names, or numbered.
fn named_parts(c: &mut Call<'_, '_>, value: Value, prefix: &str) -> Result<Vec<(String, Value)>> {
    let parts = match value {
        Value::Tuple(parts) => parts,
        one => vec![one],
    };
    let mut names = texts(c, 2)?;
    if names.is_empty() {
        names = (0..parts.len()).map(|k| format!("{prefix}{k}")).collect();
    }
    if names.len() != parts.len() {
        let message = format!("expected {} names, got {}", parts.len(), names.len());
        return c.eval.refuse(message, c.at(2));
    }
    Ok(names.into_iter().zip(parts).collect())
}

impl Save {
    /// Writes the file from computed values.
    pub fn write(&self) -> io::Result<()> {
        match &self.what {
            Saved::Npy(node) => npy::write_node(&self.path, node),
            Saved::Raw(node) => raw::write_node(&self.path, node),
            Saved::Npz(arrays) => {
                let mut file = npz::create(&self.path)?;
                for (name, node) in arrays {
                    file = file.add_node(name, node)?;
                }
                file.finish()
            }
            Saved::Table(table, format) => write_table(&self.path, &table.read, *format),
            Saved::Columns(columns, format) => {
                let mut table = io::Table::new();
                for (name, column) in columns {
                    table = match column {
                        Column::Scalars(node) => table.with_node(name.as_str(), node)?,
                        Column::Text(codes, labels) => {
                            let codes = livefusion::Array::<u32>::from_node(codes.clone())?;
                            table.with_texts(name.as_str(), &io::Texts::new(&codes, labels))?
                        }
                        Column::Times(node, ty) => {
                            table.with_times_node(name.as_str(), *ty, node)?
                        }
                        Column::Lists(s) => table.with_segments_node(name.as_str(), s)?,
                    };
                }
                write_table(&self.path, &table, *format)
            }
        }
    }
}

fn write_table(path: &Path, table: &io::Table, format: Columns) -> io::Result<()> {
    match format {
        Columns::Csv => table.save(path),
        #[cfg(feature = "arrow")]
        Columns::Parquet => parquet::write(path, table),
        #[cfg(feature = "arrow")]
        Columns::Arrow => arrow::write(path, table),
    }
}

fn array(node: Arc<Node>) -> Value {
    let elt = Elt::of(&node.types);
    Value::Array(Array { node, elt })
}

/// Unwraps a read result; the error points to the first argument.
fn done<T>(c: &Call<'_, '_>, read: io::Result<T>) -> Result<T> {
    read.or_else(|e| c.eval.refuse(e.to_string(), c.at(0)))
}

/// A file name argument, relative to the session's folder.
fn path(c: &Call<'_, '_>, k: usize) -> Result<PathBuf> {
    match c.value(k) {
        Value::Text(name) => Ok(c.eval.folder.join(&**name)),
        other => {
            let message = format!("expected the name of a file, got {}", other.describe());
            c.eval.refuse(message, c.at(k))
        }
    }
}

/// The arguments from `first` on, which must be names.
fn texts(c: &Call<'_, '_>, first: usize) -> Result<Vec<String>> {
    let text = |k: usize| match c.value(k) {
        Value::Text(name) => Ok(name.to_string()),
        other => {
            let message = format!("expected a name, got {}", other.describe());
            c.eval.refuse(message, c.at(k))
        }
    };
    c.from(first).map(text).collect()
}

/// Checks that there are no arguments from `first` on.
fn no_more(c: &Call<'_, '_>, first: usize, why: &str) -> Result<()> {
    match c.from(first).is_empty() {
        true => Ok(()),
        false => c.eval.refuse(why, c.at(first)),
    }
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or("")
}

/// The error for an unknown file ending.
fn unknown(c: &Call<'_, '_>, k: usize, known: &str) -> Diagnostic {
    let name = text(c.value(k)).unwrap_or_default();
    let message = format!("expected a file that ends in {known}, got `{name}`");
    Diagnostic::new(message, c.at(k))
}
