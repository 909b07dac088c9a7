//! Sliced Arrow arrays of all types: imported unchanged, or refused by name.
//!
//! Each type is tested with and without nulls, through each way in.

use super::{fault, folder};
use arrow_array::builder::{
    BooleanBuilder, FixedSizeBinaryBuilder, FixedSizeListBuilder, Float64Builder, Int32Builder,
    ListBuilder, StringBuilder,
};
use arrow_array::types::*;
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Decimal128Array,
    DictionaryArray, LargeBinaryArray, LargeListArray, LargeStringArray, ListArray, NullArray,
    PrimitiveArray, RecordBatch, StringArray, StringViewArray, StructArray,
};
use arrow_data::ArrayData;
use arrow_ipc::writer::FileWriter;
use arrow_schema::DataType;
use livefusion::ast::{Const, Node, Value};
use livefusion::io::{Table, Ty, Type, arrow, parquet};
use livefusion::prelude::*;
use livefusion::runtime::force_nodes;
use std::sync::Arc;

/// Elements of each array before slicing: more than a word of bits, and not a multiple of eight.
const LEN: usize = 75;

/// Start and length of each slice.
const CUTS: [(usize, usize); 12] = [
    (0, LEN),
    (0, 0),
    (1, 0),
    (LEN, 0),
    (0, 1),
    (1, 1),
    (3, 7),
    (7, 9),
    (8, 16),
    (9, 64),
    (64, 11),
    (74, 1),
];

/// An array of each type.
struct Case {
    name: &'static str,
    /// The array, with nulls where `there` is false.
    make: fn(there: fn(usize) -> bool) -> ArrayRef,
    /// The k-th element as text. `None` if the type is refused.
    shown: Option<fn(usize) -> String>,
}

const fn case(
    name: &'static str,
    make: fn(there: fn(usize) -> bool) -> ArrayRef,
    shown: fn(usize) -> String,
) -> Case {
    let shown = Some(shown);
    Case { name, make, shown }
}

const fn refused(name: &'static str, make: fn(there: fn(usize) -> bool) -> ArrayRef) -> Case {
    let shown = None;
    Case { name, make, shown }
}

/// Elements of an array, some of which are missing.
fn each<T>(there: fn(usize) -> bool, of: fn(usize) -> T) -> impl Iterator<Item = Option<T>> {
    (0..LEN).map(move |k| there(k).then(|| of(k)))
}

macro_rules! integers {
    ($($name:ident: $ty:ty;)*) => {
        [$(case(
            stringify!($name),
            |there| Arc::new(each(there, |k| large(k) as $ty).collect::<PrimitiveArray<$name>>()),
            |k| (large(k) as $ty).to_string(),
        )),*]
    };
}

macro_rules! texts {
    ($($array:ty: $of:ident;)*) => {
        [$(case(
            stringify!($array),
            |there| Arc::new(each(there, $of).collect::<$array>()),
            |k| format!("{:?}", $of(k)),
        )),*]
    };
}

/// Numbers that use all bits.
fn large(k: usize) -> i64 {
    (k as i64).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)
}

fn float(k: usize) -> f64 {
    k as f64 / 8.0 - 1.5
}

fn flag(k: usize) -> bool {
    k % 5 < 2
}

/// Texts, some of them empty, some too long for a view.
fn text(k: usize) -> String {
    ["", "a", "é", "longer than twelve bytes"][k % 4].repeat(k % 3 + 1)
}

fn label(k: usize) -> &'static str {
    ["", "a", "é", "longer than twelve bytes"][k % 4]
}

fn raw(k: usize) -> Vec<u8> {
    vec![0xff - k as u8; k % 4]
}

fn list(k: usize) -> Vec<i32> {
    (0..k as i32 % 4).map(|j| 10 * k as i32 + j).collect()
}

fn wide_list(k: usize) -> Vec<f64> {
    list(k).into_iter().map(f64::from).collect()
}

fn some<T>(all: Vec<T>) -> Vec<Option<T>> {
    all.into_iter().map(Some).collect()
}

fn flags(k: usize) -> Vec<u8> {
    list(k).into_iter().map(|x| u8::from(x % 3 == 0)).collect()
}

/// Lists whose values a builder appends.
macro_rules! lists {
    ($builder:expr, $there:ident, |$all:ident, $k:ident| $push:expr) => {{
        let mut $all = ListBuilder::new($builder);
        for $k in 0..LEN {
            if $there($k) {
                $push;
            }
            $all.append($there($k));
        }
        Arc::new($all.finish()) as ArrayRef
    }};
}

fn cases() -> Vec<Case> {
    let mut all = Vec::from(integers! {
        Int8Type: i8; Int16Type: i16; Int32Type: i32; Int64Type: i64;
        UInt8Type: u8; UInt16Type: u16; UInt32Type: u32; UInt64Type: u64;
        Date32Type: i32; Date64Type: i64;
        Time32SecondType: i32; Time32MillisecondType: i32;
        Time64MicrosecondType: i64; Time64NanosecondType: i64;
        TimestampSecondType: i64; TimestampMillisecondType: i64;
        TimestampMicrosecondType: i64; TimestampNanosecondType: i64;
        DurationSecondType: i64; DurationNanosecondType: i64;
    });
    all.extend(texts! {
        StringArray: text; LargeStringArray: text; StringViewArray: text;
        DictionaryArray<Int8Type>: label; DictionaryArray<UInt32Type>: label;
        BinaryArray: raw; LargeBinaryArray: raw; BinaryViewArray: raw;
    });
    all.extend([
        case(
            "Float32Type",
            |there| {
                Arc::new(each(there, |k| float(k) as f32).collect::<PrimitiveArray<Float32Type>>())
            },
            |k| format!("{:?}", float(k)),
        ),
        case(
            "Float64Type",
            |there| Arc::new(each(there, float).collect::<PrimitiveArray<Float64Type>>()),
            |k| format!("{:?}", float(k)),
        ),
        case(
            "BooleanArray",
            |there| Arc::new(each(there, flag).collect::<BooleanArray>()),
            |k| u8::from(flag(k)).to_string(),
        ),
        case(
            "ListArray of i32",
            |there| {
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(each(
                    there,
                    |k| some(list(k)),
                )))
            },
            |k| format!("{:?}", list(k)),
        ),
        case(
            "LargeListArray of f64",
            |there| {
                let lists = each(there, |k| some(wide_list(k)));
                Arc::new(LargeListArray::from_iter_primitive::<Float64Type, _, _>(
                    lists,
                ))
            },
            |k| format!("{:?}", wide_list(k)),
        ),
        case(
            "ListArray of bool",
            |there| {
                lists!(BooleanBuilder::new(), there, |all, k| {
                    flags(k)
                        .into_iter()
                        .for_each(|x| all.values().append_value(x == 1))
                })
            },
            |k| format!("{:?}", flags(k)),
        ),
    ]);
    all.extend(unusable());
    all
}

/// Types that no program can use.
fn unusable() -> [Case; 10] {
    [
        refused("ListArray of text", |there| {
            lists!(StringBuilder::new(), there, |all, k| (0..k % 3)
                .for_each(|j| all.values().append_value(text(j))))
        }),
        refused("ListArray of lists", |there| {
            let inner = ListBuilder::new(Float64Builder::new());
            lists!(inner, there, |all, k| (0..k % 3)
                .for_each(|_| all.values().append(true)))
        }),
        refused("Float16", |_| {
            arrow_array::new_null_array(&DataType::Float16, LEN)
        }),
        refused("Decimal128", |there| {
            Arc::new(each(there, |k| k as i128).collect::<Decimal128Array>())
        }),
        refused("IntervalYearMonth", |there| {
            Arc::new(each(there, |k| k as i32).collect::<PrimitiveArray<IntervalYearMonthType>>())
        }),
        refused("FixedSizeBinary", |there| {
            let mut all = FixedSizeBinaryBuilder::new(2);
            for k in 0..LEN {
                match there(k) {
                    true => all.append_value([k as u8; 2]).unwrap(),
                    false => all.append_null(),
                }
            }
            Arc::new(all.finish())
        }),
        refused("FixedSizeList", |there| {
            let mut all = FixedSizeListBuilder::new(Int32Builder::new(), 2);
            for k in 0..LEN {
                all.values().append_slice(&[k as i32; 2]);
                all.append(there(k));
            }
            Arc::new(all.finish())
        }),
        refused("Dictionary of numbers", |there| {
            let keys = each(there, |k| k as i8 % 3).collect();
            let values = PrimitiveArray::<Int64Type>::from(vec![10, 20, 30]);
            Arc::new(DictionaryArray::<Int8Type>::new(keys, Arc::new(values)))
        }),
        refused("Struct", |there| {
            let x: ArrayRef = Arc::new(each(there, float).collect::<PrimitiveArray<Float64Type>>());
            Arc::new(StructArray::try_from(vec![("x", x)]).unwrap())
        }),
        refused("Null", |_| Arc::new(NullArray::new(LEN))),
    ]
}

/// The words of a forced node.
fn words(node: Arc<Node>) -> Vec<String> {
    let values = force_nodes(&Engine::interp(), &[node]).unwrap();
    let [Value::Array(columns)] = values.as_slice() else {
        panic!("expected an array");
    };
    let column = &columns[0];
    let shown = |word| match column.ty() {
        Ty::F32 => format!("{:?}", f32::from_bits(word as u32)),
        Ty::F64 => format!("{:?}", f64::from_bits(word)),
        ty => Const::new(ty, word)
            .integer()
            .map_or(word.to_string(), |x| x.to_string()),
    };
    (0..column.len())
        .map(|i| shown(column.get_word(i).unwrap()))
        .collect()
}

/// The values of a column as texts, or the error.
fn cells(table: &Table, name: &str) -> Result<Vec<Option<String>>, String> {
    let ty = table
        .names()
        .zip(table.types())
        .find(|(n, _)| *n == name)
        .unwrap_or_else(|| panic!("expected {name:?} in {table:?}"))
        .1;
    let lists = || {
        let segments = table.segments_node(name).unwrap();
        let mut elements = words(segments.data).into_iter();
        let lengths = words(segments.lengths).into_iter();
        let lengths = lengths.map(|n| n.parse::<usize>().unwrap());
        lengths
            .map(|n| elements.by_ref().take(n).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let values: Vec<String> = match ty {
        Type::Scalar(_) | Type::Date | Type::DateTime => words(table.node(name).unwrap()),
        Type::Text => {
            let texts = table.text(name).unwrap();
            let bytes = lists().into_iter().map(|bytes| bytes.len());
            let same = |(text, bytes): (&str, usize)| {
                assert_eq!(text.len(), bytes);
                format!("{text:?}")
            };
            texts.zip(bytes).map(same).collect()
        }
        Type::List(_) => lists()
            .into_iter()
            .map(|all| format!("[{}]", all.join(", ")))
            .collect(),
        _ => return Err(fault(table.node(name))),
    };
    let there = words(table.valid(name).unwrap().node().clone());
    assert_eq!((there.len(), values.len()), (table.len(), table.len()));
    Ok(there
        .iter()
        .zip(values)
        .map(|(there, x)| (there == "1").then_some(x))
        .collect())
}

/// Checks that a column equals a slice of a case's array. Otherwise the error must name its type
/// and a helpful conversion.
fn check(
    table: &Table,
    name: &str,
    case: &Case,
    array: &ArrayRef,
    at: usize,
    there: fn(usize) -> bool,
) {
    let what = format!("{}, {} from {at} on", case.name, array.len());
    assert_eq!(table.len(), array.len(), "{what}");
    let Some(shown) = case.shown else {
        let why = cells(table, name).expect_err(&what);
        let ty = array.data_type().to_string();
        assert!(why.contains(&format!("got {ty}")), "{what}: {why}");
        assert!(
            why.contains(" (") && why.contains("first)"),
            "{what}: {why}"
        );
        return;
    };
    let expected: Vec<_> = (at..at + array.len())
        .map(|k| there(k).then(|| shown(k)))
        .collect();
    assert_eq!(cells(table, name).expect(&what), expected, "{what}");
}

/// `n` rows of a struct from row `at` on, whose fields are not sliced.
fn structs(fields: [(&str, ArrayRef, bool); 2], at: usize, n: usize) -> ArrayData {
    let whole = RecordBatch::try_from_iter_with_nullable(fields).unwrap();
    let whole = StructArray::from(whole).into_data();
    whole.into_builder().offset(at).len(n).build().unwrap()
}

fn import(array: ArrayData) -> Table {
    let (array, schema) = arrow_array::ffi::to_ffi(&array).unwrap();
    // SAFETY: both were made just now, and belong together.
    unsafe { arrow::import(array, &schema) }.unwrap()
}

/// Exports a table to the other library, which validates it, and imports it again.
fn out_and_in(table: &Table, of: &ArrayRef) -> Table {
    let (array, schema) = arrow::export(table).unwrap();
    // SAFETY: as above.
    let data = unsafe { arrow_array::ffi::from_ffi(array, &schema) }.unwrap();
    data.validate_full().unwrap();
    let all = StructArray::from(data);
    let column = all.column(0);
    if column.data_type() == of.data_type() {
        assert_eq!(column, of);
    }
    import(all.into_data())
}

type There = fn(usize) -> bool;

const THERE: [There; 3] = [|_| true, |k| k % 3 != 1, |k| k >= LEN];

#[test]
fn arrow_sweep_c_interface_each_type_cut_anywhere() {
    let (mut right, mut refused) = (0, 0);
    for case in cases() {
        for there in THERE {
            let whole = (case.make)(there);
            for (at, n) in CUTS {
                let array = whole.slice(at, n);
                // Alone; a struct becomes a table of its fields.
                let is_struct = matches!(array.data_type(), DataType::Struct(_));
                let alone = import(array.to_data());
                if !is_struct {
                    check(&alone, "", &case, &array, at, there);
                }
                // As a field of a sliced struct, next to a field of numbers.
                let numbers: ArrayRef =
                    Arc::new((0..LEN as i64).collect::<PrimitiveArray<Int64Type>>());
                let table = import(structs(
                    [("x", whole.clone(), true), ("n", numbers, false)],
                    at,
                    n,
                ));
                check(&table, "x", &case, &array, at, there);
                let numbers = words(table.node("n").unwrap());
                assert_eq!(
                    numbers,
                    (at..at + n).map(|k| k.to_string()).collect::<Vec<_>>()
                );
                match case.shown {
                    Some(_) => {
                        check(&out_and_in(&alone, &array), "", &case, &array, at, there);
                        right += 1;
                    }
                    None => {
                        let why = fault(arrow::export(&table));
                        assert!(why.contains(&format!("got {}", array.data_type())), "{why}");
                        refused += 1;
                    }
                }
            }
        }
    }
    println!("{right} combinations are right, {refused} are refused");
    assert_eq!((right, refused), (34 * 3 * 12, 10 * 3 * 12));
}

#[test]
fn arrow_sweep_files_each_type_cut_anywhere() {
    let folder = folder();
    let (mut right, mut refused) = (0, 0);
    let names: Vec<String> = (0..cases().len()).map(|k| format!("c{k}")).collect();
    for there in THERE {
        let arrays = cases()
            .iter()
            .map(|case| (case.make)(there))
            .collect::<Vec<_>>();
        let columns = names
            .iter()
            .cloned()
            .zip(arrays.iter().cloned())
            .map(|(n, a)| (n, a, true));
        let whole = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let usable: Vec<usize> = (0..names.len())
            .filter(|k| cases()[*k].shown.is_some())
            .collect();
        for (at, n) in CUTS {
            let batch = whole.slice(at, n);
            let path = folder.path().join("t.arrow");
            let mut file =
                FileWriter::try_new(std::fs::File::create(&path).unwrap(), &batch.schema())
                    .unwrap();
            file.write(&batch).unwrap();
            file.finish().unwrap();
            let read = arrow::read(&path).unwrap();
            // Supported columns are written and read again.
            let taken = import(StructArray::from(batch.project(&usable).unwrap()).into_data());
            arrow::write(&path, &taken).unwrap();
            let again = arrow::read(&path).unwrap();
            let path = folder.path().join("t.parquet");
            parquet::write(&path, &taken).unwrap();
            let unpacked = parquet::read(&path).unwrap();
            for ((case, name), array) in cases().iter().zip(&names).zip(batch.columns()) {
                check(&read, name, case, array, at, there);
                match case.shown {
                    Some(_) => {
                        check(&again, name, case, array, at, there);
                        check(&unpacked, name, case, array, at, there);
                        right += 3;
                    }
                    None => refused += 1,
                }
            }
        }
    }
    println!("{right} combinations are right, {refused} are refused");
    assert_eq!((right, refused), (3 * 34 * 3 * 12, 10 * 3 * 12));
}

/// Empty sliced texts within empty lists do not affect other columns.
#[test]
fn arrow_sweep_texts_cut_to_nothing_in_lists_leave_other_columns() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["first", "second"]).slice(1, 0));
    let field = Arc::new(arrow_schema::Field::new_list_field(DataType::Utf8, true));
    let offsets = arrow_buffer::OffsetBuffer::<i32>::from_lengths([0; LEN]);
    let lists: ArrayRef = Arc::new(ListArray::new(field, offsets, texts, None));
    let numbers: ArrayRef = Arc::new((0..LEN as i64).collect::<PrimitiveArray<Int64Type>>());
    let table = import(structs([("x", lists, true), ("n", numbers, false)], 2, 3));
    assert_eq!(
        table.column::<i64>("n").unwrap().force().unwrap(),
        [2, 3, 4]
    );
    assert_eq!(
        fault(table.segments_node("x")),
        "column \"x\": expected lists or text, got List(Utf8) (take its elements out as a column first)"
    );
}
