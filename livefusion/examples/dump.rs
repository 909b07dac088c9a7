use livefusion::prelude::*;
fn main() {
    let engine = Engine::c();
    let xs: Array<f64> = (0..100).map(|x| x as f64).collect();
    let kept = xs.filter(|x| x.gt(0.5));
    let e = engine.explain(&[kept.node().clone(), kept.sum().node().clone()]).unwrap();
    println!("{}", e.loops[0].program);
    println!("{}", e.loops[0].source.as_deref().unwrap_or(""));
}
