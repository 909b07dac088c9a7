//! The tables of `docs/book/src/coming-from.md`: each row compiles and runs without an error.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion --test coming_from` rewrites the tables. The text between
//! them stays.

#[path = "coming_from/accelerate.rs"]
mod accelerate;
#[path = "coming_from/ndarray.rs"]
mod ndarray;
#[path = "coming_from/numpy.rs"]
mod numpy;

use livefusion::Result;
use livefusion::prelude::*;
use std::fmt::Debug;

/// A row of a table: the other library's expression, ours, a remark, and the results on two
/// engines.
struct Row {
    theirs: &'static str,
    here: &'static str,
    remark: &'static str,
    results: [Result<String>; 2],
}

/// A result of a row: one or several arrays, delayed or in memory.
trait Given {
    /// Returns its value as text, computed on an engine.
    fn text(&self, engine: &Engine) -> Result<String>;
}

impl<T: Elt, D: Rank> Given for Array<T, D>
where
    D::Out<T>: Debug,
{
    fn text(&self, engine: &Engine) -> Result<String> {
        Ok(format!("{:?}", self.force_with(engine)?))
    }
}

impl<T: Elt + Debug> Given for Segmented<T> {
    fn text(&self, engine: &Engine) -> Result<String> {
        (self.lengths(), self.data()).force_with(engine)?;
        Ok(format!("{:?}", self.to_vecs()?))
    }
}

impl<G: Given, const N: usize> Given for [G; N] {
    fn text(&self, engine: &Engine) -> Result<String> {
        let all: Result<Vec<String>> = self.iter().map(|g| g.text(engine)).collect();
        Ok(all?.join(" "))
    }
}

impl<A: Given, B: Given> Given for (A, B) {
    fn text(&self, engine: &Engine) -> Result<String> {
        Ok(format!("{} {}", self.0.text(engine)?, self.1.text(engine)?))
    }
}

/// Implements [`Given`] for values in memory.
macro_rules! in_memory {
    ($($T:ident: $t:ty;)*) => {$(
        impl<$T: Elt + Debug> Given for $t {
            fn text(&self, _: &Engine) -> Result<String> {
                Ok(format!("{self:?}"))
            }
        }
    )*};
}

in_memory! {
    T: Vec<T>;
    T: Manifest<T>;
}

impl Given for f64 {
    fn text(&self, _: &Engine) -> Result<String> {
        Ok(format!("{self:?}"))
    }
}

/// The rows of a table: `"theirs" => here, "remark";`.
macro_rules! rows {
    ($($theirs:literal => $here:expr, $remark:literal;)*) => {
        vec![$({
            let given = $here;
            let on = |engine: &Engine| crate::Given::text(&given, engine);
            crate::Row {
                theirs: $theirs,
                here: stringify!($here),
                remark: $remark,
                results: [on(&Engine::interp()), on(Engine::default_engine())],
            }
        }),*]
    };
}
use rows;

/// The variables that rows use.
struct Common {
    xs: Array<f64>,
    ys: Array<f64>,
    m: Array<f64, Ix2>,
    q: Array<f64, Ix2>,
    b: Array<f64, Ix2>,
    t: Array<f64, Ix3>,
    row: Array<f64>,
    tags: Array<bool>,
    at: Array<u64>,
    keys: Array<u64>,
    lengths: Array<u64>,
    n: usize,
}

fn common() -> Common {
    Common {
        xs: Array::from(vec![3.0, -1.0, 2.0, 5.0, -4.0, 1.0]),
        ys: Array::from(vec![1.0, 2.0, 2.0, 3.0, 5.0, 8.0]),
        m: Array::from([
            [4.0, 1.0, 7.0, 2.0],
            [3.0, 8.0, 5.0, 6.0],
            [9.0, 0.0, 2.0, 1.0],
        ]),
        q: Array::from([
            [1.0, 1.0, 2.0, 2.0],
            [3.0, 5.0, 8.0, 1.0],
            [0.0, 4.0, 4.0, 2.0],
        ]),
        b: Array::from([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0], [1.0, 1.0]]),
        t: generate((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k).cast::<f64>()),
        row: Array::from(vec![10.0, 20.0, 30.0, 40.0]),
        tags: Array::from(vec![true, false, true, true, false, true]),
        at: Array::from(vec![2u64, 0, 1]),
        keys: Array::from(vec![0u64, 2, 2, 1, 0, 2]),
        lengths: Array::from(vec![1u64, 0, 3]),
        n: 6,
    }
}

/// Formats a table as Markdown.
fn table(name: &str, rows: &[Row]) -> String {
    let cell = |code: &str| {
        let words: Vec<&str> = code.split_whitespace().collect();
        format!("`{}`", words.join(" ").replace('|', "\\|"))
    };
    let mut text = format!("| {name} | here | remark |\n| --- | --- | --- |\n");
    for row in rows {
        let cells = [cell(row.theirs), cell(row.here), row.remark.to_string()];
        text += &format!("| {} | {} | {} |\n", cells[0], cells[1], cells[2]).replace("  |", " |");
    }
    text
}

/// Compares a table with the one of the same name in the file.
fn check(name: &str, rows: Vec<Row>) {
    for row in &rows {
        match &row.results {
            [Ok(a), Ok(b)] => assert_eq!(a, b, "{}", row.here),
            [Err(e), _] | [_, Err(e)] => panic!("{}: {e}", row.here),
        }
    }
    let path = format!(
        "{}/../docs/book/src/coming-from.md",
        env!("CARGO_MANIFEST_DIR")
    );
    // Tests take turns to write the file.
    static WRITING: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _writing = WRITING.lock().unwrap_or_else(|e| e.into_inner());
    let text = std::fs::read_to_string(&path).expect("docs/book/src/coming-from.md");
    let begin = text
        .find(&format!("| {name} | here |"))
        .expect("a table of this name");
    let len = text[begin..]
        .find("\n\n")
        .map_or(text.len() - begin, |n| n + 1);
    let expected = table(name, &rows);
    if std::env::var_os("LOOP_BLESS").is_some() {
        let new = format!("{}{expected}{}", &text[..begin], &text[begin + len..]);
        std::fs::write(&path, new).expect("docs/book/src/coming-from.md");
        return;
    }
    assert_eq!(
        &text[begin..begin + len],
        expected,
        "LOOP_BLESS=1 writes the table anew"
    );
}

#[test]
fn from_numpy() -> Result<()> {
    check("NumPy", numpy::rows()?);
    Ok(())
}

#[test]
fn from_ndarray() -> Result<()> {
    check("ndarray", ndarray::rows()?);
    Ok(())
}

#[test]
fn from_accelerate() -> Result<()> {
    check("Accelerate", accelerate::rows()?);
    Ok(())
}

/// The documentation knows each NumPy name as a function's own name or as an alias.
#[test]
fn names_of_numpy_lead_somewhere() -> Result<()> {
    let mut folders = vec![format!("{}/src", env!("CARGO_MANIFEST_DIR")).into()];
    let mut sources = String::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir::<std::path::PathBuf>(folder).expect("a folder") {
            let path = entry.expect("a file").path();
            match path.is_dir() {
                true => folders.push(path),
                false => sources += &std::fs::read_to_string(path).expect("a text"),
            }
        }
    }
    let aliases: Vec<&str> = sources
        .lines()
        .filter(|l| l.contains("doc(alias"))
        .collect();
    let is_known = |name: &str| {
        let quoted = format!("\"{name}\"");
        // A row of a macro's table: `sqrt Sqrt;`.
        let row = |l: &str| l.trim().starts_with(&format!("{name} ")) && l.ends_with(';');
        sources.contains(&format!("pub fn {name}"))
            || aliases.iter().any(|l| l.contains(&quoted))
            || sources.lines().any(row)
    };
    let name = |c: char| !c.is_alphanumeric() && c != '_';
    for row in numpy::rows()? {
        for rest in row.theirs.split("np.").skip(1) {
            let function = rest.split(name).next().unwrap_or_default();
            // Names that are a type or an expression here.
            let is_none = matches!(function, "array" | "eye" | "flatnonzero" | "int32");
            assert!(is_none || is_known(function), "{function}");
        }
    }
    Ok(())
}
