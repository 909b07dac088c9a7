//! Prints the table of programs: `cargo run --release -p livefusion-tests --bin programs`.

fn main() -> livefusion::Result<()> {
    print!("{}", livefusion_tests::catalog::table()?);
    Ok(())
}
