//! CSV files.

use super::{fault, file, files, folder};
use livefusion::io::{self, Table, Type, csv_text};
use livefusion::prelude::*;

/// The inferred types of columns.
fn types(text: &str) -> String {
    let table = csv_text(text).read().unwrap();
    let types: Vec<String> = table.types().map(|t| t.to_string()).collect();
    types.join(" ")
}

#[test]
fn types_are_found() {
    assert_eq!(
        types("a,b,c,d\n1,2.5,true,x\n-3,4,FALSE,y\n"),
        "i64 f64 bool text"
    );
    // At any line, a column may turn out to have another type.
    assert_eq!(types("a\n1\n2.5\n"), "f64");
    assert_eq!(types("a\n2.5\n1\n"), "f64");
    assert_eq!(types("a\n1\n2\nx\n"), "text");
    assert_eq!(types("a\ntrue\n1\n"), "text");
    assert_eq!(types("a\n-9223372036854775808\n"), "i64");
    // No digit is lost.
    assert_eq!(types("a\n9223372036854775808\n"), "text");
    assert_eq!(types("a\n1.5\n9223372036854775808\n"), "f64");
    assert_eq!(types("a\n-0\n"), "f64");
    assert_eq!(types("a\n1e5\nnan\n-inf\n"), "f64");
    assert_eq!(types("a,b\n 1 ,\" 2.5\"\n"), "i64 f64");
    assert_eq!(types("a,b\n,1\n,2\n"), "text i64");
    assert_eq!(types("a\n"), "text");
}

#[test]
fn a_column_that_turns_out_to_be_text_is_as_it_was_written() {
    let text = "a,b,c\n007,1,1\n1.50, 2,2\n,3,3\nx,y,4\n";
    let folder = folder();
    let path = file(&folder, "a.csv", text);
    for table in [csv_text(text).read(), io::csv(path).read()] {
        let table = table.unwrap();
        let texts = |name| table.text(name).unwrap().collect::<Vec<_>>();
        assert_eq!(texts("a"), ["007", "1.50", "", "x"]);
        assert_eq!(texts("b"), ["1", " 2", "3", "y"]);
        assert!(
            fault(table.column::<f64>("a")).ends_with("expected f64, got text, in line 5 \"x\"")
        );
        assert_eq!(
            table.column::<u8>("c").unwrap().force().unwrap(),
            [1, 2, 3, 4]
        );
    }
}

#[test]
fn text_may_be_anything() {
    let table = csv_text("\u{feff}\"a,\"\"b\",c\r\n\"x\r\ny\",1\r\n\r\n\"\",2\r\n'é',3").read();
    let table = table.unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), ["a,\"b", "c"]);
    assert_eq!(
        table.text("a,\"b").unwrap().collect::<Vec<_>>(),
        ["x\r\ny", "", "'é'"]
    );
    assert_eq!(table.column::<u8>("c").unwrap().force().unwrap(), [1, 2, 3]);
    assert_eq!(
        (table.len(), format!("{table:?}")),
        (3, r#"Table(3 rows, "a,\"b": text, "c": i64)"#.into())
    );
}

#[test]
fn csv_error_has_a_line_and_a_column() {
    let read = |text: &[u8]| fault(csv_text(text).read());
    assert_eq!(read(b""), "expected a line of names, got no line");
    assert_eq!(read(b"a,b\n1,2\n3\n"), "line 3: expected 2 fields, got 1");
    assert_eq!(
        read(b"a,b\r\n\r\n1,2,3\r\n"),
        "line 3: expected 2 fields, got 3"
    );
    assert_eq!(
        read(b"a\n\"x\ny\"\n1,2\n"),
        "line 4: expected 1 fields, got 2"
    );
    assert_eq!(
        read(b"a,b\n1,2\n,3\n"),
        "line 3, column \"a\": expected i64, got nothing (`missing` gives a stand-in)"
    );
    assert_eq!(
        read(b"a\n1\n\"2\n"),
        "line 3: expected a closing quote, got the end of the file"
    );
    assert_eq!(
        read(b"a\n1\n\xff\n"),
        "line 3, column \"a\": expected text in UTF-8, got \"\u{fffd}\""
    );
    assert_eq!(
        read(b"a,\xff\n"),
        "line 1: expected text in UTF-8, got \"\u{fffd}\""
    );
    assert_eq!(
        read(b"a,a\n1,2\n"),
        "expected columns with names that differ, got \"a\" twice"
    );
    let typed = |text: &str| fault(csv_text(text).column::<u8>("a").read());
    assert_eq!(
        typed("a\n1\n256\n"),
        "line 3, column \"a\": expected u8, got \"256\""
    );
    assert_eq!(
        typed("a\n1.5\n"),
        "line 2, column \"a\": expected u8, got \"1.5\""
    );
    assert_eq!(
        typed("b\n1\n"),
        "expected one of the columns \"b\", got \"a\""
    );
    let long = format!("a\n{}\n", "é".repeat(1000));
    assert!(
        typed(&long).ends_with("and 1880 bytes more"),
        "{}",
        typed(&long)
    );
    let nowhere = fault(io::csv("no/such/file.csv").read());
    assert!(!nowhere.is_empty());
}

#[test]
fn comments_and_blank_lines_are_passed_over_and_counted() {
    let text = "# one\n\n#two, \"\na\n1\n# three\n\nx\n";
    let e = fault(csv_text(text).comment(b'#').column::<i32>("a").read());
    assert_eq!(e, "line 8, column \"a\": expected i32, got \"x\"");
    let table = csv_text("a\n#b\n").read().unwrap();
    assert_eq!(table.text("a").unwrap().next(), Some("#b"));
}

/// Either line break ends a line, comments included.
#[test]
fn a_comment_ends_with_its_line() {
    for end in ["\n", "\r", "\r\n"] {
        let text = ["# first", "a", "1", "# second", "2", ""].join(end);
        let table = csv_text(text).comment(b'#').read().unwrap();
        let column = table.column::<i64>("a").unwrap();
        assert_eq!(*column.force().unwrap(), [1, 2], "{end:?}");
    }
}

#[test]
fn missing_values_have_a_stand_in() {
    let text = "x,n,b,t\n1.5,1,true,a\n,,,\nNA,NA,false,NA\n";
    let csv = || csv_text(text).missing_is(["NA"]);
    let table = csv().missing_anywhere(f64::NAN).missing("b", false).read();
    let table = table.unwrap();
    let sum = |name| {
        table
            .column::<f64>(name)
            .unwrap()
            .filter(|x| !x.is_nan())
            .sum()
    };
    assert_eq!((sum("x"), sum("n")).force().unwrap(), (1.5, 1.0));
    assert_eq!(
        table.column::<bool>("b").unwrap().force().unwrap(),
        [true, false, false]
    );
    assert_eq!(
        table.text("t").unwrap().collect::<Vec<_>>(),
        ["a", "", "NA"]
    );
    let table = csv()
        .missing_anywhere(0)
        .missing("b", true)
        .missing("t", "?");
    let table = table.column::<u8>("n").column::<f32>("x").read().unwrap();
    assert_eq!(table.column::<u8>("n").unwrap().force().unwrap(), [1, 0, 0]);
    assert_eq!(
        table.column::<f32>("x").unwrap().force().unwrap(),
        [1.5, 0.0, 0.0]
    );
    assert_eq!(
        table.text("t").unwrap().collect::<Vec<_>>(),
        ["a", "?", "?"]
    );
    let wrong = fault(csv().missing_anywhere(f64::NAN).read());
    assert_eq!(
        wrong,
        "line 3, column \"b\": expected a stand-in for missing values of type bool, got NaN"
    );
    let wrong = fault(
        csv()
            .missing_anywhere(0)
            .missing("n", 256)
            .column::<u8>("n")
            .read(),
    );
    assert!(
        wrong.starts_with("line 3, column \"n\": expected a stand-in"),
        "{wrong}"
    );
    // Only missing values.
    let table = csv_text("a,b\n,\n,\n").missing("a", -1).read().unwrap();
    assert_eq!(table.column::<i64>("a").unwrap().force().unwrap(), [-1, -1]);
    assert_eq!(table.text("b").unwrap().collect::<Vec<_>>(), ["", ""]);
}

#[test]
fn columns_without_a_line_of_names() {
    let table = csv_text("1\t2\n3\t4\n").delimiter(b'\t').header(false);
    assert_eq!(
        table.clone().read().unwrap().names().collect::<Vec<_>>(),
        ["0", "1"]
    );
    let named = table.names(["x", "y"]).read().unwrap();
    assert_eq!(named.column::<i16>("y").unwrap().force().unwrap(), [2, 4]);
    assert_eq!(csv_text("").header(false).read().unwrap().len(), 0);
    let named = csv_text("a,b\n1,2\n").names(["x", "y"]).read().unwrap();
    assert_eq!(named.column::<i16>("y").unwrap().force().unwrap(), [2]);
    let few = fault(csv_text("a,b\n1,2\n").names(["x"]).read());
    assert_eq!(few, "line 2: expected 1 fields, got 2");
}

#[test]
fn conversions_are_exact() {
    let table = csv_text("n,x,b,t\n9007199254740993,0.1,true,a\n").column::<f32>("x");
    let table = table.read().unwrap();
    assert_eq!(
        fault(table.column::<f64>("n")),
        "column \"n\": expected f64, got i64, in row 0 9007199254740993"
    );
    assert_eq!(
        table.column::<u64>("n").unwrap().force().unwrap(),
        [9007199254740993]
    );
    assert_eq!(
        table.column::<f64>("x").unwrap().force().unwrap(),
        [f64::from(0.1f32)]
    );
    assert_eq!(
        fault(table.column::<i64>("x")),
        "column \"x\": expected i64, got f32"
    );
    assert_eq!(
        fault(table.column::<u8>("b")),
        "column \"b\": expected u8, got bool"
    );
    assert_eq!(
        fault(table.column::<u8>("t")),
        "column \"t\": expected u8, got text, in line 2 \"a\""
    );
    assert_eq!(
        fault(table.codes("n")),
        "column \"n\": expected text, got i64"
    );
    assert_eq!(
        fault(table.labels("none")),
        "expected one of the columns \"n\", \"x\", \"b\", \"t\", got \"none\""
    );
    let empty = csv_text("n\n").read().unwrap();
    assert_eq!(
        empty.column::<f32>("n").unwrap().force().unwrap(),
        [0.0f32; 0]
    );
    assert_eq!(empty.text("n").unwrap().len(), 0);
}

#[test]
fn the_end_of_a_file_may_be_anywhere() {
    // Line lengths around the growth steps of the line buffer.
    for n in [1, 15, 16, 17, 1022, 1023, 1024, 1025, 4096, 70_000] {
        for end in ["", "\n", "\r\n"] {
            let long = "x".repeat(n);
            let table = csv_text(format!("a\n\"{long}\"{end}")).read().unwrap();
            assert_eq!(
                table.text("a").unwrap().collect::<Vec<_>>(),
                [long.as_str()]
            );
            let wide = vec!["1"; n].join(",");
            let table = csv_text(format!("{wide}{end}"))
                .header(false)
                .read()
                .unwrap();
            assert_eq!((table.names().len(), table.len()), (n, 1));
        }
        let open = format!("a\n\"{}", "x".repeat(n));
        assert!(fault(csv_text(open).read()).contains("a closing quote"));
    }
}

#[test]
fn tables_are_saved_as_they_are_read() {
    let folder = folder();
    let path = folder.path().join("t.csv");
    let texts = ["", "a,b", "say \"hi\"", "two\r\nlines", " blank ", "é"];
    let xs = [0.1, -0.0, 1e300, f64::INFINITY, f64::MIN_POSITIVE, 5.0];
    let table = Table::new().with_text("a \"name\", or so", texts).unwrap();
    let table = table.with("x", &Array::from(xs)).unwrap();
    let table = table.with("n", &iota(6).map(|i| i.cast::<i64>())).unwrap();
    let table = table.with("b", &iota(6).map(|i| i.lt(3))).unwrap();
    table.save(&path).unwrap();
    let read = io::csv(&path).read().unwrap();
    assert_eq!(
        read.names().collect::<Vec<_>>(),
        table.names().collect::<Vec<_>>()
    );
    assert_eq!(
        read.types().collect::<Vec<_>>(),
        table.types().collect::<Vec<_>>()
    );
    let bits = |xs: &[f64]| xs.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let x = read.column::<f64>("x").unwrap().force().unwrap();
    assert_eq!(bits(&x), bits(&xs));
    assert_eq!(
        read.text("a \"name\", or so").unwrap().collect::<Vec<_>>(),
        texts
    );
    // A single text column still has lines.
    let alone = Table::new().with_text("", ["", "x", ""]).unwrap();
    alone.save(&path).unwrap();
    let read = io::csv(&path).read().unwrap();
    assert_eq!(read.text("").unwrap().collect::<Vec<_>>(), ["", "x", ""]);
    assert_eq!(files(folder.path()), ["t.csv"]);
    let long = table.with("long", &iota(7));
    assert_eq!(fault(long), "column \"long\": expected 6 rows, got 7");
}

/// Temporary files of a killed process remain. Another process with its number can still save.
#[test]
fn csv_saves_beside_files_of_a_killed_process() {
    let folder = folder();
    for n in 0..200 {
        let name = format!(".t.csv.{}.{n}.tmp", std::process::id());
        file(&folder, &name, "half a li");
    }
    let path = folder.path().join("t.csv");
    io::save_csv(&path, &["i"], iota(2)).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "i\n0\n1\n");
    assert_eq!(files(folder.path()).len(), 201);
}

#[test]
fn arrays_are_saved_side_by_side() {
    let folder = folder();
    let path = folder.path().join("t.csv");
    let (xs, ys) = (iota(2), Array::from(vec![(1.5f32, true), (0.1, false)]));
    io::save_csv(&path, &["i", "x", "b"], (&xs, &ys)).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "i,x,b\n0,1.5,true\n1,0.1,false\n"
    );
    let table = io::csv(&path).column::<f32>("x").read().unwrap();
    assert_eq!(table.types().nth(1), Some(Type::Scalar(io::Ty::F32)));
    let wrong = |names: &[&str], arrays: &[Array<u64>]| fault(io::save_csv(&path, names, arrays));
    assert_eq!(
        wrong(&["i"], &[xs.clone(), xs.clone()]),
        "expected 2 names, one for each column, got 1"
    );
    assert_eq!(
        wrong(&["i", "i"], &[xs.clone(), xs.clone()]),
        "expected names that differ, got \"i\" twice"
    );
    assert!(wrong(&["i", "j"], &[xs.clone(), iota(3)]).contains("expected 2 rows, got 3"));
    assert!(wrong(&["i"], &[xs.gather(&iota(3))]).contains("`gather` at"));
    assert_eq!(
        fault(io::save_csv(&path, &["m"], xs.reshape((1, 2)))),
        "expected arrays of rank 1, got rank 2"
    );
    assert_eq!(
        fault(io::save_csv(&path, &["m"], xs.sum())),
        "expected arrays of rank 1, got rank 0"
    );
    // The file is unchanged.
    assert_eq!(io::csv(&path).read().unwrap().len(), 2);
}

#[test]
fn matrices_are_saved_column_by_column() {
    let folder = folder();
    let path = folder.path().join("m.csv");
    let m = generate((3, 2), |(i, j)| (10 * i + j).cast::<f64>());
    let names = ["a", "b"];
    Table::new()
        .with_matrix(&names, &m)
        .unwrap()
        .save(&path)
        .unwrap();
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "a,b\n0.0,1.0\n10.0,11.0\n20.0,21.0\n"
    );
    let read = io::csv(&path).read().unwrap().matrix::<f64>().unwrap();
    assert_eq!(read.force().unwrap(), m.force().unwrap());
    let none = Table::new()
        .with_matrix(&names, &m.slice((..0, ..)))
        .unwrap();
    assert_eq!((none.len(), none.names().len()), (0, 2));
    let few = fault(Table::new().with_matrix(&["a"], &m));
    assert_eq!(few, "expected 2 names, one for each column, got 1");
    let long = fault(none.with_matrix(&names, &m));
    assert_eq!(long, "column \"a\": expected 0 rows, got 3");
}

#[test]
fn fields_are_no_lists() {
    let lists = csv_text("x\n1\n").typed("x", io::Type::List(io::Ty::F64));
    assert_eq!(
        fault(lists.read()),
        "expected columns of scalars, dates or text, got list of f64 for \"x\""
    );
}
