//! Arrow and Parquet: round trips of each type, zero-copy reads, and bad files.

use super::{fault, file, folder};
use crate::common::{engines, shape};
use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, BooleanArray, Date32Array, DictionaryArray, Float64Array,
    Int32Array, Int64Array, LargeListArray, ListArray, RecordBatch, StringArray, StringViewArray,
    StructArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray,
    TimestampSecondArray, UInt8Array,
};
use arrow_buffer::Buffer as Bytes;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use livefusion::io::{self, Table, arrow, parquet};
use livefusion::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Columns of all supported types, and of some unsupported ones.
fn all() -> Vec<(&'static str, ArrayRef)> {
    let lists = [
        Some(vec![Some(1), Some(2)]),
        Some(vec![]),
        Some(vec![Some(3)]),
    ];
    let large = lists.clone();
    let mut nested = ListBuilder::new(ListBuilder::new(Float64Builder::new()));
    for _ in 0..3 {
        nested.values().append(true);
        nested.append(true);
    }
    let holes = [Some(vec![Some(1), None]), None, Some(vec![Some(3)])];
    vec![
        ("i", Arc::new(Int32Array::from(vec![1, 2, 3]))),
        (
            "x",
            Arc::new(Float64Array::from(vec![Some(1.5), None, Some(2.5)])),
        ),
        ("b", Arc::new(BooleanArray::from(vec![true, false, true]))),
        (
            "bn",
            Arc::new(BooleanArray::from(vec![None, Some(false), Some(true)])),
        ),
        (
            "s",
            Arc::new(StringArray::from(vec!["Rome", "", "Ålesund"])),
        ),
        (
            "sn",
            Arc::new(StringArray::from(vec![Some("a"), None, Some("b")])),
        ),
        (
            "v",
            Arc::new(StringViewArray::from(vec![
                "short",
                "longer than twelve bytes",
                "short",
            ])),
        ),
        (
            "raw",
            Arc::new(BinaryArray::from(vec![&b"\xff\x00"[..], b"", b"x"])),
        ),
        (
            "d",
            Arc::new(DictionaryArray::<Int8Type>::from_iter([
                Some("u"),
                None,
                Some("u"),
            ])),
        ),
        (
            "l",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
        ),
        (
            "ll",
            Arc::new(LargeListArray::from_iter_primitive::<Int32Type, _, _>(
                large,
            )),
        ),
        ("day", Arc::new(Date32Array::from(vec![0, 1, 20_000]))),
        ("nested", Arc::new(nested.finish())),
        (
            "holes",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(holes)),
        ),
    ]
}

fn written(path: &Path, batches: &[RecordBatch], packed: bool) -> PathBuf {
    let options = IpcWriteOptions::default()
        .try_with_compression(packed.then_some(CompressionType::LZ4_FRAME))
        .unwrap();
    let to = std::fs::File::create(path).unwrap();
    let mut writer = FileWriter::try_new_with_options(to, &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|b| writer.write(b).unwrap());
    writer.finish().unwrap();
    path.to_path_buf()
}

fn map(path: &Path) -> io::Result<Table> {
    // SAFETY: tests have their own files, which nobody changes.
    unsafe { arrow::map(path) }
}

fn texts<'a>(table: &'a Table, name: &str) -> Vec<&'a str> {
    table.text(name).unwrap().collect()
}

/// Asserts that a table equals [`all`], repeated `times` times.
fn check(table: &Table, times: usize) {
    let n = 3 * times;
    assert_eq!(table.len(), n);
    let is = table.column::<i32>("i").unwrap().force().unwrap();
    assert_eq!(is.to_vec().unwrap(), [1, 2, 3].repeat(times));
    assert!(fault(table.column::<f64>("x")).ends_with(&format!("got {times} without")));
    let (xs, there) = table.nullable::<f64>("x").unwrap();
    let xs = (&xs, &there)
        .zip_with(|x, t| t.cond(x, -1.0))
        .force()
        .unwrap();
    assert_eq!(xs.to_vec().unwrap(), [1.5, -1.0, 2.5].repeat(times));
    let bs = table.column::<bool>("b").unwrap();
    assert_eq!(
        bs.force().unwrap().to_vec().unwrap(),
        [true, false, true].repeat(times)
    );
    let (bs, there) = table.nullable::<bool>("bn").unwrap();
    let both = (&bs & &there).force().unwrap();
    assert_eq!(both.to_vec().unwrap(), [false, false, true].repeat(times));
    assert_eq!(texts(table, "s"), ["Rome", "", "Ålesund"].repeat(times));
    assert_eq!(texts(table, "sn"), ["a", "", "b"].repeat(times));
    assert_eq!(
        texts(table, "v"),
        ["short", "longer than twelve bytes", "short"].repeat(times)
    );
    assert_eq!(texts(table, "d"), ["u", "", "u"].repeat(times));
    let lengths = table
        .segments::<u8>("s")
        .unwrap()
        .lengths()
        .force()
        .unwrap();
    assert_eq!(lengths.to_vec().unwrap(), [4, 0, 8].repeat(times));
    let raw = table.segments::<u8>("raw").unwrap().to_vecs().unwrap();
    assert_eq!(raw[n - 3..], [vec![255, 0], vec![], vec![120]]);
    for name in ["l", "ll"] {
        let rows = table.segments::<i32>(name).unwrap();
        for engine in engines() {
            let sums = rows.sum();
            assert_eq!(shape(&[sums.node()]).unwrap(), (1, 1));
            let sums = sums.force_with(&engine).unwrap();
            assert_eq!(sums.to_vec().unwrap(), [3, 0, 3].repeat(times));
        }
    }
    let days = table
        .times::<io::Date>("day")
        .unwrap()
        .map(|d| d.count())
        .force()
        .unwrap();
    assert_eq!(days.to_vec().unwrap(), [0, 1, 20_000].repeat(times));
    let nested = fault(table.segments::<f64>("nested"));
    assert!(
        nested.starts_with("column \"nested\": expected lists or text, got List("),
        "{nested}"
    );
    let holes = fault(table.segments::<i32>("holes"));
    assert!(holes.contains("elements missing"), "{holes}");
}

#[test]
fn columns_of_each_type() {
    let folder = folder();
    let batch = RecordBatch::try_from_iter(all()).unwrap();
    for packed in [false, true] {
        let one = written(
            &folder.path().join("one.arrow"),
            std::slice::from_ref(&batch),
            packed,
        );
        check(&arrow::read(&one).unwrap(), 1);
        check(&map(&one).unwrap(), 1);
        let two = [batch.clone(), batch.slice(0, 3)];
        let two = written(&folder.path().join("two.arrow"), &two, packed);
        check(&map(&two).unwrap(), 2);
    }
    let types = arrow::read(folder.path().join("one.arrow")).unwrap();
    let types: Vec<String> = types.types().map(|t| t.to_string()).collect();
    assert_eq!(
        types.join(", "),
        "i32, f64, bool, bool, text, text, text, list of u8, text, list of i32, list of i32, date, something else, something else"
    );
}

#[test]
fn columns_of_each_type_in_parquet() {
    let folder = folder();
    let path = folder.path().join("all.parquet");
    let batch = RecordBatch::try_from_iter(all()).unwrap();
    let to = std::fs::File::create(&path).unwrap();
    let mut writer = ::parquet::arrow::ArrowWriter::try_new(to, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.flush().unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    check(&parquet::read(&path).unwrap(), 2);
    let some = parquet::read_only(&path, &["l", "i"]).unwrap();
    assert_eq!(some.names().collect::<Vec<_>>(), ["i", "l"]);
    assert!(
        fault(parquet::read_only(&path, &["none"]))
            .starts_with("expected one of the columns \"i\"")
    );
}

#[test]
fn arrow_mapped_columns_are_used_in_place() {
    let folder = folder();
    let n = 10_000;
    let xs: Float64Array = (0..n).map(f64::from).collect();
    let even: BooleanArray = (0..n).map(|i| Some(i % 2 == 0)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![("x", Arc::new(xs)), ("even", Arc::new(even))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = written(&folder.path().join("t.arrow"), &[batch], false);
    let table = map(&path).unwrap();
    let (xs, even) = (
        table.column::<f64>("x").unwrap(),
        table.column::<bool>("even").unwrap(),
    );
    assert!(xs.force().unwrap().columns()[0].is_foreign());
    for engine in engines() {
        let total = xs.pack(&even).sum();
        // Nothing is unpacked: one loop, which writes no array.
        assert_eq!(shape(&[total.node()]).unwrap(), (1, 0));
        assert_eq!(total.force_with(&engine).unwrap(), 24_995_000.0);
    }
}

#[test]
fn parts_of_arrays_begin_anywhere() {
    // Lists, texts and bits with a non-zero offset, as the C data interface allows.
    let lists = (0..100).map(|i| Some((0..i % 4).map(move |k| Some(10 * i + k))));
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists).slice(37, 41);
    let bits: BooleanArray = (0..100)
        .map(|i| (i % 7 != 0).then_some(i % 3 == 0))
        .collect();
    let names: StringArray = (0..100).map(|i| Some("é".repeat(i % 5))).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("l", Arc::new(lists)),
        ("b", Arc::new(bits.slice(37, 41))),
        ("s", Arc::new(names.slice(37, 41))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let data = StructArray::from(batch.slice(2, 30)).into_data();
    let exported = arrow_array::ffi::to_ffi(&data).unwrap();
    // SAFETY: both were made just now, and belong together.
    let table = unsafe { arrow::import(exported.0, &exported.1) }.unwrap();
    let check = |table: &Table| {
        let rows = table.segments::<i32>("l").unwrap().to_vecs().unwrap();
        let (bs, there) = table.nullable::<bool>("b").unwrap();
        let (bs, there) = (&bs & &there, there.force().unwrap());
        let bs = bs.force().unwrap();
        let texts: Vec<&str> = table.text("s").unwrap().collect();
        for k in 0..30 {
            let i = 39 + k;
            assert_eq!(
                rows[k],
                (0..i as i32 % 4)
                    .map(|x| 10 * i as i32 + x)
                    .collect::<Vec<_>>()
            );
            assert_eq!((there[k], bs[k]), (i % 7 != 0, i % 7 != 0 && i % 3 == 0));
            assert_eq!(texts[k], "é".repeat(i % 5));
        }
    };
    check(&table);
    // Export and import again, by each way.
    let (array, schema) = arrow::export(&table).unwrap();
    // SAFETY: as above.
    check(&unsafe { arrow::import(array, &schema) }.unwrap());
    let folder = folder();
    arrow::write(folder.path().join("t.arrow"), &table).unwrap();
    check(&arrow::read(folder.path().join("t.arrow")).unwrap());
    parquet::write(folder.path().join("t.parquet"), &table).unwrap();
    check(&parquet::read(folder.path().join("t.parquet")).unwrap());
}

#[test]
fn others_let_go_when_nobody_needs_it() {
    let counted = Arc::new(());
    struct Counted(
        #[expect(dead_code, reason = "it is counted")] Arc<()>,
        Vec<i64>,
    );
    let owner = Arc::new(Counted(counted.clone(), (0..1000).collect()));
    let at = std::ptr::NonNull::from(&owner.1[..]).cast();
    // SAFETY: the owner keeps its numbers.
    let bytes = unsafe { Bytes::from_custom_allocation(at, 8000, owner.clone()) };
    drop(owner);
    let array = Int64Array::new(bytes.into(), None);
    let (array, schema) = arrow_array::ffi::to_ffi(&array.into_data()).unwrap();
    // SAFETY: both were made just now, and belong together.
    let table = unsafe { arrow::import(array, &schema) }.unwrap();
    assert_eq!(table.names().collect::<Vec<_>>(), [""]);
    let xs = table.column::<i64>("").unwrap();
    assert!(xs.force().unwrap().columns()[0].is_foreign());
    drop(table);
    assert_eq!(
        (xs.sum().force().unwrap(), Arc::strong_count(&counted)),
        (499_500, 2)
    );
    drop(xs);
    assert_eq!(Arc::strong_count(&counted), 1);
    // Exported data outlives the table.
    let table = Table::computed(&["x"], iota(1000)).unwrap();
    let (array, schema) = arrow::export(&table).unwrap();
    drop(table);
    // SAFETY: as above.
    let data = unsafe { arrow_array::ffi::from_ffi(array, &schema) }.unwrap();
    let x = StructArray::from(data);
    assert_eq!(
        x.column(0).to_data().buffers()[0].typed_data::<u64>()[999],
        999
    );
}

#[test]
fn tables_of_everything_come_back() {
    let folder = folder();
    let rows = Segmented::from_vecs(vec![vec![true, false], vec![], vec![true]]);
    let table = io::csv_text("name,x\na,1.5\nb,2\na,3\n").read().unwrap();
    let table = table.with_segments("row", &rows).unwrap();
    let table = table.with("even", &iota(3).map(|i| (i % 2).eq(0))).unwrap();
    let valid = Array::from(vec![false, true, true]);
    let table = table
        .with_nullable("n", &Array::from(vec![7u8, 8, 9]), &valid)
        .unwrap();
    let check = |table: Table| {
        let types: Vec<String> = table.types().map(|t| t.to_string()).collect();
        assert_eq!(types.join(", "), "text, f64, list of bool, bool, u8");
        assert_eq!(texts(&table, "name"), ["a", "b", "a"]);
        let rows = table.segments::<bool>("row").unwrap().to_vecs().unwrap();
        assert_eq!(rows, [vec![true, false], vec![], vec![true]]);
        let (n, valid) = table.nullable::<u8>("n").unwrap();
        let n = (&n, &valid).zip_with(|n, v| v.cond(n, 0)).force().unwrap();
        assert_eq!(n, [0, 8, 9]);
        table
    };
    let [a, p] = ["t.arrow", "t.parquet"].map(|name| folder.path().join(name));
    arrow::write(&a, &table).unwrap();
    parquet::write(&p, &table).unwrap();
    check(map(&a).unwrap());
    let table = check(parquet::read(&p).unwrap());
    let refused = fault(table.save(folder.path().join("t.csv")));
    assert_eq!(
        refused,
        "column \"row\": expected scalars or text, got list of bool"
    );
    let (c, narrow) = (
        folder.path().join("t.csv"),
        parquet::read_only(&p, &["name", "even", "n"]),
    );
    narrow.unwrap().save(&c).unwrap();
    let csv = std::fs::read_to_string(&c).unwrap();
    assert_eq!(csv, "name,even,n\na,true,\nb,false,8\na,true,9\n");
    // A table without columns, and one without rows.
    arrow::create(&a).unwrap().finish().unwrap();
    assert_eq!(arrow::read(&a).unwrap().names().len(), 0);
    parquet::create(&p).unwrap().finish().unwrap();
    assert_eq!(parquet::read(&p).unwrap().names().len(), 0);
    let none = Table::computed(&["x"], Array::from(Vec::<f32>::new())).unwrap();
    arrow::write(&a, &none).unwrap();
    assert_eq!(
        arrow::read(&a)
            .unwrap()
            .column::<f32>("x")
            .unwrap()
            .force()
            .unwrap()
            .len(),
        0
    );
    parquet::write(&p, &none).unwrap();
    assert_eq!(
        parquet::read(&p)
            .unwrap()
            .column::<f32>("x")
            .unwrap()
            .force()
            .unwrap()
            .len(),
        0
    );
}

#[test]
fn arrow_type_mismatch_is_an_error() {
    let folder = folder();
    let path = folder.path().join("t.arrow");
    let x = Table::computed(&["x"], iota(2)).unwrap();
    let y = Table::computed(&["y"], iota(2)).unwrap();
    arrow::write(&path, &x).unwrap();
    let other = fault(arrow::create(&path).unwrap().append(&x).unwrap().append(&y));
    assert!(
        other.starts_with("expected a type that Arrow holds"),
        "{other}"
    );
    // The old file is unchanged.
    assert_eq!(
        arrow::read(&path)
            .unwrap()
            .column::<u64>("x")
            .unwrap()
            .sum()
            .force()
            .unwrap(),
        1
    );
    let other = fault(
        parquet::create(&path)
            .unwrap()
            .append(&x)
            .unwrap()
            .append(&y),
    );
    assert!(
        other.starts_with("expected a type that Parquet holds"),
        "{other}"
    );
    let twice = RecordBatch::try_from_iter([
        ("x", Arc::new(UInt8Array::from(vec![1])) as ArrayRef),
        ("x", Arc::new(UInt8Array::from(vec![2])) as ArrayRef),
    ]);
    let twice = written(&path, &[twice.unwrap()], false);
    assert_eq!(
        fault(arrow::read(&twice)),
        "expected columns with names that differ, got \"x\" twice"
    );
    for (text, expected) in [
        (
            &b""[..],
            "expected an Arrow file, which begins with \"ARROW1\", got \"\"",
        ),
        (
            b"PAR1 and more",
            "expected an Arrow file, which begins with \"ARROW1\", got \"PAR1 and\"",
        ),
        (b"ARROW1", "expected an Arrow file, got 6 bytes"),
        (
            b"ARROW1\0\0\xff\xff\xff\x7fARROW1",
            "expected a footer of at most 8 bytes, got 2147483647",
        ),
    ] {
        let path = file(&folder, "bad", text);
        assert_eq!(fault(arrow::read(&path)), expected);
        assert!(fault(parquet::read(&path)).starts_with("expected a Parquet file, got "));
    }
    let mut stream = Vec::new();
    let batch = RecordBatch::try_from_iter(all()).unwrap();
    StreamWriter::try_new(&mut stream, &batch.schema())
        .unwrap()
        .write(&batch)
        .unwrap();
    assert!(
        fault(arrow::read(file(&folder, "bad", stream)))
            .starts_with("expected an Arrow file, which begins")
    );
    assert!(fault(arrow::read(folder.path())).contains("expected a file"));
}

/// A page that claims more bytes than its packed size allows does not cause that allocation.
#[test]
fn absurd_sizes_of_pages() {
    let folder = folder();
    let path = folder.path().join("t.parquet");
    parquet::write(&path, &Table::computed(&["x"], iota(1000)).unwrap()).unwrap();
    let good = std::fs::read(&path).unwrap();
    // The first page header is at byte 4: the type (a field byte and a value byte), then the
    // unpacked size, a two-byte number.
    assert_eq!(
        (good[4], good[6], good[7] >> 7, good[8] >> 7),
        (0x15, 0x15, 1, 0)
    );
    let end = 7 + good[7..].iter().position(|b| *b < 128).unwrap();
    let absurd = [0xfe, 0xff, 0xff, 0xff, 0x0f];
    let bytes = [&good[..7], &absurd, &good[end + 1..]].concat();
    let bad = fault(parquet::read(file(&folder, "bad.parquet", bytes)));
    assert!(
        bad.contains("which a page may have been packed from, got 2147483647"),
        "{bad}"
    );
    for at in 4..40 {
        let mut bytes = good.clone();
        bytes[at] = 0xff;
        let _ = parquet::read(file(&folder, "bad.parquet", bytes));
    }
}

/// Unordered offsets, and bytes that are not UTF-8, in a file with a correct structure.
#[test]
fn contents_are_checked() {
    let folder = folder();
    let path = folder.path().join("t.arrow");
    let lists = [vec![1, 2], vec![3]].map(|row| Some(row.into_iter().map(Some)));
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "l",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)),
        ),
        ("s", Arc::new(StringArray::from(vec!["qqqq", "zz"]))),
    ];
    written(
        &path,
        &[RecordBatch::try_from_iter(columns).unwrap()],
        false,
    );
    let good = std::fs::read(&path).unwrap();
    let changed = |from: &[u8], to: &[u8]| {
        let at = good.windows(from.len()).position(|w| w == from).unwrap();
        let mut bytes = good.clone();
        bytes[at..at + to.len()].copy_from_slice(to);
        fault(arrow::read(file(&folder, "bad.arrow", bytes)))
    };
    let offsets = [0i32, 2, 3].map(i32::to_le_bytes).concat();
    let order = changed(&offsets, &[0i32, 9, 3].map(i32::to_le_bytes).concat());
    assert!(order.starts_with("expected an Arrow file, got "), "{order}");
    let negative = changed(&offsets, &[0i32, -2, 3].map(i32::to_le_bytes).concat());
    assert!(
        negative.starts_with("expected an Arrow file, got "),
        "{negative}"
    );
    let utf8 = changed(b"qqqq", b"\xff");
    assert!(utf8.to_lowercase().contains("utf"), "{utf8}");
}

/// Timestamps without a zone become dates, in each unit, if microseconds represent them exactly.
#[test]
fn timestamps_without_a_zone_are_dates() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("s", Arc::new(TimestampSecondArray::from(vec![-1, 86_400]))),
        (
            "ms",
            Arc::new(TimestampMillisecondArray::from(vec![-1000, 86_400_000])),
        ),
        (
            "us",
            Arc::new(TimestampMicrosecondArray::from(vec![
                -1_000_000,
                86_400_000_000,
            ])),
        ),
        ("ns", Arc::new(TimestampNanosecondArray::from(vec![-1, 5]))),
        (
            "zone",
            Arc::new(TimestampSecondArray::from(vec![0, 1]).with_timezone("UTC")),
        ),
        (
            "far",
            Arc::new(TimestampSecondArray::from(vec![0, i64::MAX])),
        ),
    ];
    let folder = folder();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = written(&folder.path().join("t.arrow"), &[batch], false);
    let table = arrow::read(&path).unwrap();
    let types: Vec<String> = table.types().map(|ty| ty.to_string()).collect();
    assert_eq!(
        types,
        ["datetime", "datetime", "datetime", "i64", "i64", "i64"]
    );
    for name in ["s", "ms", "us"] {
        let times = table.times::<io::DateTime>(name).unwrap().force().unwrap();
        assert_eq!(
            format!("{times:?}"),
            "[1969-12-31 23:59:59, 1970-01-02 00:00]"
        );
    }
}
