use livefusion::prelude::*;

fn main() {
    let ns = Array::from(vec![1i64, 2]);
    let _ = ns.map(|n| n.sqrt());
}
