use livefusion::prelude::*;

fn main() {
    let _ = generate((2.0, 3.0), |(i, j)| i + j);
}
