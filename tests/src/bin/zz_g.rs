//! scratch
use livefusion::Engine;
use livefusion_tests::catalog::all;
fn main() {
    let want = std::env::args().nth(1).unwrap();
    for p in all() {
        if p.name.contains(&want) {
            let e = Engine::interp().explain(&p.roots).unwrap();
            println!("{e}");
            for l in &e.loops {
                println!("{}", l.program);
            }
        }
    }
}
