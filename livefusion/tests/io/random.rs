//! Random tables and arrays survive a round trip, and random bytes never panic.

use super::{file, folder, map_npy, map_raw};
#[cfg(feature = "npz")]
use livefusion::io::npz;
use livefusion::io::{self, Date, DateTime, Table, csv_text, npy};
use livefusion::prelude::*;
use proptest::prelude::*;

/// Bytes, many of which have a meaning in a table.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => proptest::sample::select(&b"\",\n\r 01.-e#\xef\xbb\xbf"[..]),
        1 => any::<u8>(),
    ];
    proptest::collection::vec(byte, 0..80)
}

/// Positions to change in a file, with new values.
fn changes() -> impl Strategy<Value = Vec<(proptest::sample::Index, u8)>> {
    proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4)
}

/// Dates in several forms, and texts that resemble one.
const DATES: &[&str] = &[
    "2010-01-31",
    " 2012-02-29",
    "2010/01/31",
    "Jan 31 2010",
    "2010-01-31 05:00",
    "2010-01-31T05:00:00.5",
    "2010-02-30",
];

/// A text that often begins like a number or like a date.
fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(
            proptest::sample::select(
                &[',', '"', '\n', '\r', ' ', 'a', 'é', '1', '.', '\u{feff}'][..]
            ),
            0..6
        )
        .prop_map(|chars| chars.into_iter().collect()),
        any::<f64>().prop_map(|x| x.to_string()),
        any::<i64>().prop_map(|x| x.to_string()),
        proptest::sample::select(DATES).prop_map(String::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_table_or_an_error(text in text(), header: bool, comment: bool, fill: bool) {
        let mut csv = csv_text(text).header(header);
        if comment {
            csv = csv.comment(b'#');
        }
        if fill {
            csv = csv.missing_anywhere(0.5).missing_is(["-"]);
        }
        if let Ok(table) = csv.read() {
            let names: Vec<&str> = table.names().collect();
            for name in names {
                let _ = table.column::<f64>(name).map(|xs| assert_eq!(xs.force().unwrap().len(), table.len()));
                let _ = table.text(name).map(|t| assert_eq!(t.count(), table.len()));
            }
        }
    }

    #[test]
    fn tables_round_trip(
        rows in proptest::collection::vec((field(), any::<f64>(), any::<i64>(), any::<bool>(), any::<u64>()), 0..20),
        name in "[a ,\"\n]{0,5}",
    ) {
        let folder = folder();
        let path = folder.path().join("t.csv");
        let name = format!("t{name}");
        let table = Table::new().with_text(name.clone(), rows.iter().map(|r| &r.0)).unwrap();
        let table = table.with("f64", &rows.iter().map(|r| r.1).collect()).unwrap();
        let table = table.with("f32", &rows.iter().map(|r| r.1 as f32).collect()).unwrap();
        let table = table.with("i64", &rows.iter().map(|r| r.2).collect()).unwrap();
        let table = table.with("bool", &rows.iter().map(|r| r.3).collect()).unwrap();
        let table = table.with("u64", &rows.iter().map(|r| r.4).collect()).unwrap();
        table.save(&path).unwrap();
        let read = io::csv(&path).text(name.clone()).column::<f32>("f32").column::<u64>("u64").read().unwrap();
        prop_assert!(read.text(&name).unwrap().eq(rows.iter().map(|r| r.0.as_str())));
        let words = |table: &Table, name: &str| {
            let node = table.node(name).unwrap();
            let Some(livefusion::ast::Value::Array(columns)) = node.value.get() else { panic!() };
            let word = |i| columns[0].get_word(i).unwrap();
            (0..columns[0].len()).map(word).collect::<Vec<_>>()
        };
        for name in ["f32", "u64", "f64", "i64", "bool"] {
            if !rows.is_empty() {
                prop_assert_eq!(words(&table, name), words(&read, name), "{}", name);
            }
        }
    }

    #[test]
    fn inferred_text_is_as_it_was(rows in proptest::collection::vec(field(), 1..8)) {
        let folder = folder();
        let path = folder.path().join("t.csv");
        Table::new().with_text("t", &rows).unwrap().save(&path).unwrap();
        match io::csv(&path).missing_is(["?"]).read() {
            Ok(table) => match table.text("t") {
                Ok(texts) => prop_assert!(texts.eq(rows.iter().map(String::as_str))),
                Err(_) if table.times::<Date>("t").is_ok() => {
                    let days = table.times::<Date>("t").unwrap().to_vec().unwrap();
                    prop_assert!(days.iter().zip(&rows).all(|(day, row)| *day == row.parse().unwrap()));
                }
                Err(_) if table.times::<DateTime>("t").is_ok() => {
                    let times = table.times::<DateTime>("t").unwrap().to_vec().unwrap();
                    prop_assert!(times.iter().zip(&rows).all(|(time, row)| *time == row.parse().unwrap()));
                }
                Err(_) => {
                    let xs = table.column::<f64>("t").or_else(|_| {
                        table.column::<i64>("t").map(|xs| xs.map(|x| x.cast::<f64>()))
                    });
                    let xs = xs.unwrap().force().unwrap();
                    let same = |(x, row): (&f64, &String)| x.to_bits() == row.trim_ascii().parse::<f64>().unwrap().to_bits();
                    prop_assert!(xs.iter().zip(&rows).all(same));
                }
            },
            // Numbers, and a field with blanks only.
            Err(e) => prop_assert!(e.to_string().contains("got nothing"), "{}", e),
        }
    }

    #[test]
    fn a_changed_npy_is_an_array_or_an_error(
        changes in changes(),
        complex: bool,
        cut in any::<proptest::sample::Index>(),
    ) {
        let folder = folder();
        let path = folder.path().join("a.npy");
        match complex {
            true => npy::write(&path, &generate((3, 4), |(i, j)| (i.cast::<f32>(), j.cast::<f32>()))).unwrap(),
            false => npy::write(&path, &generate((3, 4), |(i, j)| i.lt(j))).unwrap(),
        }
        let mut bytes = std::fs::read(&path).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len() + 40));
        let path = file(&folder, "a.npy", bytes);
        let _ = npy::read_node(&path);
        let _ = npy::read::<(f32, f32), Ix2>(&path).map(|m| m.force());
        // SAFETY: nobody else has the file.
        let _ = unsafe { npy::map_node(&path) };
        let _ = map_npy::<bool, Ix2>(&path).map(|m| m.force());
        let _ = map_raw::<bool>(&path);
    }

    #[cfg(feature = "npz")]
    #[test]
    fn a_changed_archive_is_one_or_an_error(changes in changes(), packed: bool, cut in any::<proptest::sample::Index>()) {
        let folder = folder();
        let path = folder.path().join("a.npz");
        let mut archive = npz::create(&path).unwrap();
        if packed {
            archive = archive.compressed();
        }
        let zs = iota(9).map(|i| (i.cast::<f64>(), 0.5));
        let archive = archive.add("x", &iota(9)).unwrap().add("y", &Array::scalar(0.5)).unwrap();
        archive.add("z", &zs).unwrap().finish().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let end = cut.index(2 * bytes.len());
        bytes.truncate(end);
        if let Ok(mut archive) = npz::open(file(&folder, "a.npz", bytes)) {
            for name in archive.names().map(str::to_string).collect::<Vec<_>>() {
                let _ = archive.read_node(&name);
            }
        }
    }
}

/// Arrow and Parquet files, corrupted or truncated.
#[cfg(feature = "arrow")]
mod columns {
    use super::super::{folder, used};
    use livefusion::io::{Table, arrow, parquet};
    use std::path::Path;

    /// Reads a file `times` times with changes, and counts the readable ones.
    fn change(
        times: usize,
        path: &Path,
        read: impl Fn(&Path) -> livefusion::io::Result<Table>,
    ) -> usize {
        let good = std::fs::read(path).unwrap();
        let mut seed = 1u64;
        let mut draw = |n: usize| {
            seed = seed
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            (seed >> 33) as usize % n
        };
        let mut tables = 0;
        for k in 0..times {
            let mut bytes = good.clone();
            for _ in 0..1 + draw(3) {
                let at = draw(bytes.len());
                bytes[at] = match draw(3) {
                    0 => draw(256) as u8,
                    1 => bytes[at] ^ (1 << draw(8)),
                    _ => [0, 0xff, 0x7f, 0x80][draw(4)],
                };
            }
            if k % 8 == 0 {
                bytes.truncate(draw(bytes.len()));
            }
            std::fs::write(path, bytes).unwrap();
            if let Ok(table) = read(path) {
                used::all(&table);
                tables += 1;
            }
        }
        tables
    }

    /// The number of changes: `LF_FUZZ_FILES`, or 2000.
    fn times() -> usize {
        let times = std::env::var("LF_FUZZ_FILES").ok();
        times.and_then(|n| n.parse().ok()).unwrap_or(2000)
    }

    #[test]
    fn a_changed_arrow_file_is_a_table_or_an_error() {
        let folder = folder();
        let path = folder.path().join("t.arrow");
        let file = arrow::create(&path)
            .unwrap()
            .append(&used::table())
            .unwrap();
        file.append(&used::table()).unwrap().finish().unwrap();
        let good = std::fs::read(&path).unwrap();
        let read = change(times(), &path, |path| arrow::read(path));
        assert!(0 < read && read < times());
        std::fs::write(&path, good).unwrap();
        // SAFETY: the file is written anew when nothing of it is used any more.
        let mapped = change(times(), &path, |path| unsafe { arrow::map(path) });
        assert_eq!(mapped, read);
    }

    #[test]
    fn a_changed_parquet_file_is_a_table_or_an_error() {
        let folder = folder();
        let path = folder.path().join("t.parquet");
        parquet::write(&path, &used::table()).unwrap();
        let read = change(times(), &path, |path| parquet::read(path));
        assert!(0 < read && read < times());
    }
}
