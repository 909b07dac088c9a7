//! A filter and its maximum in one loop, also as a GPU kernel.
//!
//! ```sh
//! cargo run --features cuda --example filter_max [-- --cuda]
//! ```
//!
//! `--cuda` prints the kernel. That needs neither a GPU nor CUDA. `backends/cuda/src/prelude.cuh`
//! has the functions that the kernel calls.

use livefusion::prelude::*;
use livefusion_cuda::emit;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let xs = Array::from(vec![3i64, -5, 8, -1, 9, 0]);
    let above = xs.map(|x| x + 1).filter(|x| x.gt(0));
    let results = (above.clone(), above.fold(i64::MIN, |a, x| a.max(x)));
    if std::env::args().any(|arg| arg == "--cuda") {
        for each in results.explain_with(&Engine::interp())?.loops {
            let kernel = emit::kernel(&each.program).map_err(|why| why.to_string())?;
            println!("{}", kernel.text);
        }
        return Ok(());
    }
    let (kept, largest) = results.force()?;
    println!("{kept:?}, at most {largest}");
    Ok(())
}
