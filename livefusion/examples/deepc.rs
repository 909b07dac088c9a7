use livefusion::prelude::*;
fn main() {
    let n: usize = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(8000);
    let engine = Engine::interp();
    let t = std::time::Instant::now();
    let mut xs: Array<i64> = vec![1i64, 2].into();
    for _ in 0..n * 5 { xs = xs.map(|x| x + 1); }
    println!("build {:?}", t.elapsed());
    let ys = xs.force_with(&engine);
    println!("map {:?} {:?}", ys.map(|y| y[0]), t.elapsed());
    let t = std::time::Instant::now();
    let mut xs: Array<i64> = vec![1i64, 2].into();
    for i in 0..n { xs = if i % 2 == 0 { xs.filter(|x| x.gt(0)) } else { xs.scan(0, |a, b| a + b) }; }
    let ys = xs.sum().force_with(&engine);
    println!("filter scan {:?} {:?}", ys, t.elapsed());
}
