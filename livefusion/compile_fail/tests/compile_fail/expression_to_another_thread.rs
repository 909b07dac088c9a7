use livefusion::prelude::*;

/// As `std::thread::spawn` does.
fn elsewhere(run: impl FnOnce() + Send) {
    run()
}

fn main() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let _ = xs.map(|x| {
        elsewhere(move || drop(x + 1.0));
        x
    });
}
