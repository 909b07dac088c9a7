//! Types of CSV columns: independent of line order, exact for integers.

use super::fault;
use livefusion::io::{Csv, Type, Value, csv_text};
use proptest::prelude::*;

/// A table with one column and a column of zeros, so that no line is empty.
fn column(cells: &[&str], fill: Option<Value>) -> Csv {
    let lines: String = cells.iter().map(|cell| format!("{cell},0\n")).collect();
    let csv = csv_text(format!("a,b\n{lines}"));
    match fill {
        Some(fill) => csv.missing("a", fill),
        None => csv,
    }
}

/// The column's type, and each cell as a text that shows all of its bits.
fn values(cells: &[&str], fill: Option<Value>) -> Result<(Type, Vec<String>), String> {
    let table = column(cells, fill).read().map_err(|e| e.kind.to_string())?;
    let ty = table.types().next().unwrap();
    let all = match ty {
        Type::Text => table.text("a").unwrap().map(str::to_string).collect(),
        Type::Scalar(livefusion::io::Ty::Bool) => {
            let all = table.column::<bool>("a").unwrap().force().unwrap();
            all.iter().map(ToString::to_string).collect()
        }
        Type::Scalar(livefusion::io::Ty::I64) => {
            let all = table.column::<i64>("a").unwrap().force().unwrap();
            all.iter().map(ToString::to_string).collect()
        }
        _ => {
            let all = table.column::<f64>("a").unwrap().force().unwrap();
            let shown = |x: &f64| match x.fract() == 0.0 {
                true => format!("{x:.0}"),
                false => format!("{x:?}"),
            };
            all.iter().map(shown).collect()
        }
    };
    Ok((ty, all))
}

/// The type of a column, which must be equal for reversed lines.
#[track_caller]
fn ty(cells: &[&str]) -> String {
    let (ty, _) = values(cells, None).unwrap();
    let turned: Vec<&str> = cells.iter().rev().copied().collect();
    assert_eq!(values(&turned, None).unwrap().0, ty, "{cells:?}");
    ty.to_string()
}

#[test]
fn csv_types_a_large_integer_and_a_float_text_in_any_order() {
    assert_eq!(ty(&["1.5", "12345678901234567890"]), "text");
    assert_eq!(ty(&["9007199254740993", "1.5"]), "text");
    assert_eq!(ty(&["9007199254740993", "1", "nan"]), "text");
    // An `f64` represents these exactly.
    assert_eq!(ty(&["9007199254740992", "1.5"]), "f64");
    assert_eq!(ty(&["1.5", "9223372036854775808"]), "f64");
    assert_eq!(ty(&["100000000000000000000", "1", "0.5"]), "f64");
}

#[test]
fn csv_types_integers_alone_i64_or_text() {
    assert_eq!(ty(&["9007199254740993", "1"]), "i64");
    assert_eq!(ty(&["9223372036854775807", "-9223372036854775808"]), "i64");
    assert_eq!(ty(&["9223372036854775808", "1"]), "text");
    assert_eq!(ty(&["18446744073709551615"]), "text");
    // Only text represents both.
    assert_eq!(ty(&["9007199254740993", "9223372036854775808"]), "text");
    assert_eq!(ty(&["true", "9007199254740993"]), "text");
    assert_eq!(ty(&["-0", "9007199254740993"]), "text");
}

/// A numeric request reports the field that made the column text: the integer, not the float next
/// to it.
#[test]
fn csv_types_numbers_of_text_the_integer_is_named() {
    for (cells, line) in [
        (["1.5", "9007199254740993"], 3),
        (["9007199254740993", "1.5"], 2),
    ] {
        let table = column(&cells, None).read().unwrap();
        assert_eq!(
            fault(table.column::<f64>("a")),
            format!("column \"a\": expected f64, got text, in line {line} \"9007199254740993\"")
        );
        // A request for floats returns the nearest ones.
        let asked = column(&cells, None).column::<f64>("a").read().unwrap();
        let asked = asked.column::<f64>("a").unwrap().sum().force().unwrap();
        assert_eq!(asked, 9007199254740992.0 + 1.5);
    }
}

/// A substitute for missing values counts as a cell, wherever a value is missing.
#[test]
fn csv_types_missing_values_stand_ins_count_as_cells() {
    let nan = || Some(f64::NAN.into());
    for cells in [["", "9007199254740993"], ["9007199254740993", ""]] {
        let (ty, values) = values(&cells, nan()).unwrap();
        assert_eq!(
            (ty, values.as_slice()),
            (Type::Text, &cells.map(String::from)[..])
        );
    }
    let (ty, all) = values(&["", "100000000000000000000"], nan()).unwrap();
    assert_eq!(
        (ty.to_string(), all.join(" ")),
        ("f64".into(), "NaN 100000000000000000000".into())
    );
    for cells in [["", "x"], ["x", ""]] {
        let mut all = values(&cells, Some("?".into())).unwrap().1;
        all.sort();
        assert_eq!(all, ["?", "x"]);
    }
    assert_eq!(values(&["", ""], Some("?".into())).unwrap().1, ["?", "?"]);
    for cells in [["", "true"], ["true", ""]] {
        assert_eq!(
            values(&cells, Some(0.into())),
            Err("expected a stand-in for missing values of type bool, got 0".into())
        );
    }
}

const CELLS: &[&str] = &[
    "",
    "true",
    "FALSE",
    "0",
    "1",
    "-7",
    "007",
    "-0",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "-9223372036854775809",
    "12345678901234567890",
    "18446744073709551616",
    "100000000000000000000",
    "1.5",
    "0.1",
    "1e300",
    "nan",
    "-inf",
    "x",
    "-",
    "1 ",
];

/// Lines of few kinds, and a permutation of them.
fn lines() -> impl Strategy<Value = (Vec<&'static str>, Vec<&'static str>)> {
    let kinds = proptest::sample::subsequence(CELLS, 1..5);
    let lines = kinds
        .prop_flat_map(|kinds| proptest::collection::vec(proptest::sample::select(kinds), 1..7));
    lines.prop_flat_map(|lines| (Just(lines.clone()), Just(lines).prop_shuffle()))
}

fn fills() -> impl Strategy<Value = Option<Value>> {
    let fills: [Value; 6] = [
        f64::NAN.into(),
        0.into(),
        9007199254740993i64.into(),
        u64::MAX.into(),
        true.into(),
        "?".into(),
    ];
    proptest::option::of(proptest::sample::select(fills.to_vec()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn csv_types_lines_in_another_order_same_types_and_values((lines, others) in lines(), fill in fills()) {
        let paired = |lines: &[&'static str]| {
            values(lines, fill.clone()).map(|(ty, all)| {
                let mut pairs: Vec<_> = lines.iter().copied().zip(all).collect();
                pairs.sort();
                (ty, pairs)
            })
        };
        prop_assert_eq!(paired(&lines), paired(&others));
    }

    #[test]
    fn csv_types_integers_each_digit_is_kept((lines, _) in lines(), fill in fills()) {
        let Ok((ty, all)) = values(&lines, fill) else { return Ok(()) };
        for (cell, value) in lines.iter().zip(all) {
            let expected = match (cell.trim().parse::<i128>(), ty) {
                (Err(_), _) => continue,
                (Ok(_), Type::Text) => (*cell).to_string(),
                (Ok(0), _) if *cell == "-0" => "-0".into(),
                (Ok(n), _) => n.to_string(),
            };
            prop_assert_eq!(value, expected, "{:?} as {}", lines, ty);
        }
    }
}
