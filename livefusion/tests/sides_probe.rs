use livefusion::prelude::*;
use livefusion::Result;
#[test]
fn probe() -> Result<()> {
    let b = || {
    let rows = Segmented::new(&Array::from(vec![3u64,0,1,0]), &Array::from(vec![1i64,2,3,4]));
    let l = rows.scan_s(0, |a, b| a + b);
    let r = replicate_s(&Array::from(vec![0u64]), &Array::from(vec![1i64]));
    l.data().zip_with(r.data(), |a, b| a + b)};
    for e in [Engine::interp(), Engine::jit()] {
        let z = b();
        let ex = e.explain(&[z.node().clone()])?;
        println!("{}", ex.loops.len());
        for l in &ex.loops { println!("{}", l.program); }
        println!("{:?}", z.force_with(&e));
    }
    Ok(())
}
