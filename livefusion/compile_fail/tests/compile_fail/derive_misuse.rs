use livefusion::prelude::*;

#[derive(Clone, Elt)]
enum Colour {
    Red,
}

#[derive(Clone, Elt)]
struct Pair(f64, f64);

#[derive(Clone, Elt)]
struct Any<T> {
    x: T,
}

#[derive(Clone, Elt)]
struct Empty {}

fn main() {}
