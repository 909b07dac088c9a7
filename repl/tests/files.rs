//! Files in the shell: round trips in each format, table options, and name errors.

use livefusion::io::{Table, arrow};
use livefusion::prelude::*;
use livefusion_repl::session::Session;
use tempfile::TempDir;

fn session() -> (TempDir, Session) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = Session::new();
    session.folder = folder.path().into();
    (folder, session)
}

#[track_caller]
fn right(session: &mut Session, text: &str, out: &str) {
    let answer = session.submit("<1>", text);
    assert_eq!(
        (answer.err.as_str(), answer.out.as_str()),
        ("", out),
        "{text}"
    );
}

#[track_caller]
fn wrong(session: &mut Session, text: &str, message: &str) {
    let err = session.submit("<1>", text).err;
    assert!(err.starts_with(&format!("error: {message}\n")), "{err}");
}

#[test]
fn complex_numbers() {
    let (folder, mut s) = session();
    right(
        &mut s,
        "let zs = [1.0, 2.0, 3.0, 4.0].rfft()\nzs |> save \"z.npy\"\nload \"z.npy\"",
        "[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]\n",
    );
    let bytes = std::fs::read(folder.path().join("z.npy")).expect("a file");
    assert!(bytes.windows(4).any(|name| name == b"<c16"));
    right(
        &mut s,
        "(zs, [(0.5f32, 1.5f32)]) |> save \"z.npz\"\nload(\"z.npz\").1",
        "[(0.5, 1.5)]\n",
    );
    let error = s.submit("<1>", "[(1, 2)] |> save \"n.npy\"").err;
    let expected = "expected an array of scalars or complex numbers, got (i64, i64)";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn archives() {
    let (_folder, mut s) = session();
    right(&mut s, "let m = generate((2, 2), |(i, j)| i + j)", "");
    right(
        &mut s,
        "(m, [0.5], sum(m)) |> save(\"all.npz\", \"m\", \"rate\", \"total\")",
        "",
    );
    right(&mut s, "load(\"all.npz\", \"m\")", "[[0, 1],\n [1, 2]]\n");
    right(
        &mut s,
        "let (a, b) = load(\"all.npz\", \"total\", \"rate\")\na\nb",
        "4\n[0.5]\n",
    );
    right(&mut s, "load(\"all.npz\").2 + 1", "5\n");
    right(
        &mut s,
        "1..4 |> save \"one.npz\"\nload(\"one.npz\", \"arr_0\")",
        "[1, 2, 3]\n",
    );
    let none = s.submit("<1>", "load(\"all.npz\", \"n\")").err;
    assert!(
        none.contains("expected one of the arrays \"m\", \"rate\", \"total\", got \"n\""),
        "{none}"
    );
    wrong(
        &mut s,
        "(m, m) |> save(\"all.npz\", \"m\")",
        "expected 2 names, got 1",
    );
    wrong(
        &mut s,
        "(m, |x| x) |> save \"all.npz\"",
        "expected arrays, got a function of 1 argument",
    );
}

#[test]
fn elements_and_nothing_else() {
    let (_folder, mut s) = session();
    right(&mut s, "(1..=6).map(_ as u16) |> save \"six.bin\"", "");
    right(&mut s, "load(\"six.bin\", \"u16\")", "[1, 2, 3, 4, 5, 6]\n");
    right(
        &mut s,
        "load(\"six.bin\", \"u16\", (2, 3))",
        "[[1, 2, 3],\n [4, 5, 6]]\n",
    );
    right(&mut s, "load(\"six.bin\", \"u8\").len()", "12\n");
    let type_missing =
        "expected a file that ends in .csv, .tsv, .parquet, .arrow, .npy or .npz, got `six.bin`";
    wrong(&mut s, "load \"six.bin\"", type_missing);
    wrong(
        &mut s,
        "load(\"six.bin\", \"u17\")",
        "expected a type such as \"f64\", got a string",
    );
    let shape = s.submit("<1>", "load(\"six.bin\", \"u16\", (2, 2))").err;
    assert!(shape.contains("expected a shape"), "{shape}");
    let size = s.submit("<1>", "load(\"six.bin\", \"f64\")").err;
    assert!(size.contains("expected a multiple of 8 bytes"), "{size}");
}

#[test]
fn options_of_tables() {
    let (folder, mut s) = session();
    let text = "# of a year\nx;n;t\n1.5;1;007\nNA;;12\n";
    std::fs::write(folder.path().join("t.csv"), text).expect("a file");
    let options = "(\"delimiter\", \";\"), (\"comment\", \"#\"), (\"missing_is\", \"NA\"), (\"missing\", \"x\", f64::NAN), (\"missing_anywhere\", -1)";
    right(
        &mut s,
        &format!(
            "let t = load(\"t.csv\", {options}, (\"column\", \"t\", \"text\"), (\"column\", \"n\", \"i8\"))"
        ),
        "",
    );
    right(
        &mut s,
        ":type t",
        "table of 2 rows (x: f64, n: i8, t: text)\n",
    );
    right(&mut s, "t.n\nt.x", "[1, -1]\n[1.5, NaN]\n");
    right(
        &mut s,
        &format!("load(\"t.csv\", {options}, (\"only\", \"n\")).n"),
        "[1, -1]\n",
    );
    let plain = "(\"delimiter\", \";\"), (\"comment\", \"#\"), (\"missing_anywhere\", 0)";
    right(
        &mut s,
        &format!(
            "load(\"t.csv\", {plain}, (\"header\", false), (\"names\", \"a\", \"b\", \"c\")).b.len()"
        ),
        "3\n",
    );
    right(
        &mut s,
        "(1..3, [0.5, 1.5]) |> save(\"u.csv\", \"k\", \"v\")\n(load \"u.csv\").v",
        "[0.5, 1.5]\n",
    );
    wrong(
        &mut s,
        "load(\"t.csv\", (\"separator\", \";\"))",
        "there is no option `separator`",
    );
    wrong(
        &mut s,
        "load(\"t.csv\", (\"delimiter\", 3))",
        "expected an option such as `(\"delimiter\", \";\")`",
    );
    wrong(
        &mut s,
        "load(\"t.csv\", \";\")",
        "expected an option, got a string",
    );
    wrong(
        &mut s,
        "[1] |> save(\"x.npy\", \"x\")",
        "one array has no name",
    );
}

#[test]
fn columns_of_others() {
    let (folder, mut s) = session();
    right(
        &mut s,
        "(1..4, ragged [[1.5], [], [2.0, 0.5]], [true, false, true]) |> save(\"t.parquet\", \"k\", \"row\", \"is\")",
        "",
    );
    right(&mut s, "let t = load \"t.parquet\"", "");
    right(
        &mut s,
        ":type t",
        "table of 3 rows (k: i64, row: list of f64, is: bool)\n",
    );
    right(
        &mut s,
        "t",
        "  k          row     is\ni64  list of f64   bool\n  1            …   true\n  2            …  false\n  3            …   true\n",
    );
    right(
        &mut s,
        "t.row.sum()\nt.k.pack(t.is)",
        "[1.5, 0.0, 2.5]\n[1, 3]\n",
    );
    right(
        &mut s,
        "t |> save \"t.arrow\"\n(load \"t.arrow\").row",
        "ragged [[1.5],\n        [],\n        [2.0, 0.5]]\n",
    );
    right(
        &mut s,
        "load(\"t.parquet\", (\"only\", \"k\"))",
        "  k\ni64\n  1\n  2\n  3\n",
    );
    let (x, is) = (Array::from(vec![1.5, 2.5]), Array::from(vec![true, false]));
    let table = Table::new().with_nullable("x", &x, &is);
    let table = table.and_then(|t| t.with_text("name", ["a", "b"]));
    let written = table.and_then(|t| arrow::write(folder.path().join("n.feather"), &t));
    written.expect("a file");
    right(
        &mut s,
        "let n = load \"n.feather\"\nn",
        "  x  name\nf64  text\n1.5     a\n  -     b\n",
    );
    right(&mut s, "let (x, is) = n.x\nx.pack(is)", "[1.5]\n");
    let rust = s.submit("<1>", ":rust t.row.sum()");
    assert!(
        rust.out
            .contains("livefusion::io::parquet::read(\"t.parquet\")?.segments::<f64>(\"row\")?")
            || rust.out.contains("segments::<f64>(\"row\")?"),
        "{} {}",
        rust.out,
        rust.err
    );
    wrong(
        &mut s,
        "load(\"t.parquet\", (\"header\", false))",
        "expected an option such as `(\"only\", \"x\", \"y\")`",
    );
    let broken = folder.path().join("broken.parquet");
    std::fs::write(&broken, b"PAR1").expect("a file");
    let err = s.submit("<1>", "load \"broken.parquet\"").err;
    assert!(err.contains("expected a Parquet file, got "), "{err}");
    wrong(&mut s, "t.none", "there is no column `none`");
}

/// `:time` reads a file once for each set of load arguments.
#[test]
fn timed_files() {
    let (_folder, mut s) = session();
    right(&mut s, "iota(1000).map(_ as u8) |> save \"a.bin\"", "");
    right(
        &mut s,
        "let xs = load(\"a.bin\", \"u8\")\nlet ys = load(\"a.bin\", \"u16\")",
        "",
    );
    let answer = s.submit("<1>", ":time (xs.sum(), ys.sum())");
    assert_eq!(answer.err, "");
}
