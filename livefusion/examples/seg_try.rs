use livefusion::prelude::*;
fn main() {
    let e = Engine::interp();
    let rows = Segmented::from_vecs(vec![vec![3i64, 1], vec![], vec![2]]);
    let s = rows.fold_s(2, |a, b| a.max(b));
    match e.explain(&[s.node().clone()]) {
        Ok(x) => {
            for l in &x.loops {
                println!("{}", l.program);
            }
        }
        Err(e) => println!("{e}"),
    }
    println!("{:?}", s.force_with(&e));
    println!(
        "{:?}",
        rows.pack_s(&Array::from(vec![false, true, true]))
            .data()
            .force_with(&e)
    );
    let l = Array::from(vec![2u64, 3]);
    let counted = enum_from_step_s(
        &Array::from(vec![1i64, 10]),
        &Array::from(vec![2i64, -1]),
        &l,
    );
    println!("{:?}", counted.data().force_with(&e));
    println!("{:?}", counted.to_vecs());
    let r = Segmented::from_offsets(
        &Array::from(vec![0u32, 2, 2, 3]),
        &Array::from(vec![1i64, 2, 3]),
    );
    println!("{:?}", r.lengths().force_with(&e));
    println!("{:?}", r.sum_s().force_with(&e));
    println!("{:?}", rows.min_index_s().force_with(&e));
}
