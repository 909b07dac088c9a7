use livefusion::prelude::*;

fn main() {
    let _: Array<String> = vec![String::new()].into();
}
