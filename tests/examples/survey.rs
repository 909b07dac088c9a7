//! Temporary.
use livefusion::Engine;
use livefusion_tests::check::*;
use livefusion_tests::program::*;
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut seen = std::collections::BTreeMap::<String, (usize, u64, String)>::new();
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let engine = Engine::interp();
    let mut cov = livefusion_tests::coverage::Coverage::default();
    for (seed, p) in programs(n, Options::SMALL) {
        if let Err(e) = caught(|| against_naive(&p, &engine).map(|r| cov.add(&p, &r))) {
            let key: String = e.lines().take(2).collect::<Vec<_>>().join(" | ").chars().filter(|c| !c.is_ascii_digit()).take(70).collect();
            let entry = seen.entry(key).or_insert((0, seed, e.lines().take(3).collect::<Vec<_>>().join(" / ")));
            entry.0 += 1;
            if entry.0 == 1 {
                let small = shrink(&p, |q| caught(|| against_naive(q, &engine).map(drop)).is_err_and(|w| kind_of(&w) == kind_of(&e)));
                let why = caught(|| against_naive(&small, &engine).map(drop)).err().unwrap();
                entry.2 = format!("{}\n{small}", why.lines().take(3).collect::<Vec<_>>().join(" / "));
            }
        }
    }
    println!("missing {:?}", cov.missing());
    for (k, (n, seed, e)) in seen { println!("== {n} x [{k}] seed {seed}: {e}\n"); }
}
