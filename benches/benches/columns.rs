//! Parquet reads: the cost for ten million rows, ours and the parquet crate's.

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use livefusion::io::{Table, parquet};
use livefusion::prelude::*;
use livefusion_bench::measure::{Contender, Effort, Role, rounds};
use livefusion_bench::uniform;
use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::path::Path;

const ROWS: u64 = 10_000_000;
/// The number of rows written at a time.
const PART: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` only checks that it runs.
    let rows = if std::env::args().any(|a| a == "--bench") {
        ROWS
    } else {
        2000
    };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trades.parquet");
    write(&path, rows)?;
    let ours = || black_box(parquet::read(&path).expect("a table"));
    let sum = || {
        let table = parquet::read_only(&path, &["price"]).expect("a table");
        let price = table.column::<f64>("price").expect("a column");
        black_box(price.map(|x| x * x).sum().force().expect("a sum"));
    };
    // The crate's own batch size, and one batch for all rows.
    let alone = |batch: Option<usize>| {
        let file = File::open(&path).expect("a file");
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a reader");
        if let Some(batch) = batch {
            reader = reader.with_batch_size(batch);
        }
        let batches = reader.build().expect("a reader");
        batches.map(|b| b.expect("a batch")).collect::<Vec<_>>()
    };
    let contender = |name: &str, role, run| Contender {
        name: name.to_string(),
        role,
        parallel: false,
        run,
    };
    let mut all = vec![
        contender("read", Role::Ours("io"), Box::new(|| drop(ours()))),
        contender("read and sum", Role::Ours("io"), Box::new(sum)),
        contender("crate", Role::Rust, Box::new(|| drop(alone(None)))),
        contender(
            "crate, one batch",
            Role::Rust,
            Box::new(|| drop(alone(Some(rows as usize)))),
        ),
    ];
    for timing in rounds(&mut all, Effort::FULL) {
        let median = timing.median();
        println!(
            "{:16} {:8.1} ms, {:6.2} ns a row",
            timing.name,
            median / 1e6,
            median / rows as f64
        );
    }
    Ok(())
}

/// Writes distinct prices, an integer column of a thousand values, and a `bool` column.
fn write(path: &Path, rows: u64) -> Result<(), Box<dyn Error>> {
    let mut file = parquet::create(path)?;
    let mut from = 0;
    while from < rows {
        let n = PART.min(rows - from);
        let price = Array::from(uniform(n as usize));
        let place = iota(n as usize).map(|i| i * 7919 % 1000);
        let sold = iota(n as usize).map(|i| (i % 3).lt(1));
        let table = Table::computed(&["price", "place", "sold"], (&price, &place, &sold))?;
        file = file.append(&table)?;
        from += n;
    }
    Ok(file.finish()?)
}
