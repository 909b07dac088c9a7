use livefusion::prelude::*;

fn main() {
    let bs = Array::from(vec![true, false]);
    let _ = bs.sum();
}
