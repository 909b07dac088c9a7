#[path = "../tests/support/mod.rs"]
mod support;
use support::*;
use loop_lang::types::{Const, Ty};
use std::time::Instant;
fn main() {
    let n = 1_000_000usize;
    let xs: Vec<f64> = (0..n).map(|i| (i % 100) as f64 / 50.0 - 0.5).collect();
    let is: Vec<i64> = (0..n as i64).map(|i| (i * 7919) % 1000 - 500).collect();
    let f = |x| Owned::Scalar(Const::f64(x));
    let i = |x| Owned::Scalar(Const::int(Ty::I64, x));
    for (name, args) in [
        ("to_percentages", vec![array(&xs), f(0.0), f(100.0)]),
        ("map_map", vec![array(&is), i(1), i(2), i(3)]),
        ("dot_product", vec![array(&xs), array(&xs), f(0.0)]),
        ("filter_max", vec![array(&is), i(1), i(0), i(0), i(0)]),
    ] {
        let p = golden(name);
        let t = Instant::now();
        let k = kernel(&p);
        let c = t.elapsed();
        for _ in 0..3 {
            let t = Instant::now();
            run_once(&k, &args);
            println!("{name}: {:?} (compile {c:?})", t.elapsed());
        }
    }
}
fn run_once(k: &dyn livefusion_backend::Kernel, args: &[Owned]) {
    let mut frame = livefusion_backend::Frame::new(k.layout());
    k.run(livefusion_backend::Pass::Emit, u64::MAX, &mut frame, &borrow(args));
}
