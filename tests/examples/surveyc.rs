//! Temporary.
use livefusion::Engine;
use livefusion_backend::Backend;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_tests::backends::*;
use livefusion_tests::check::*;
use livefusion_tests::program::*;
use std::sync::Arc;
fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let interp = Engine::interp();
    let mut ps = vec![];
    let mut loops = vec![];
    for (seed, p) in programs(n, Options::SMALL) {
        if let Ok(ls) = caught(|| interp.explain(&p.build().roots).map_err(|e| e.to_string())) {
            loops.extend(ls.loops.into_iter().map(|l| l.program));
            ps.push((seed, p));
        }
    }
    eprintln!("{} programs, {} loops", ps.len(), loops.len());
    let t = std::time::Instant::now();
    let known = match Known::compile(&CBackend::new(), &loops) { Ok(k) => Arc::new(k), Err(e) => { println!("{}", e.to_string().chars().take(3000).collect::<String>()); return; } };
    eprintln!("compiled in {:?}", t.elapsed());
    let mut seen = std::collections::BTreeMap::<String, (usize, u64, String)>::new();
    for (seed, p) in &ps {
        let check = |p: &Program, backend: Arc<dyn Backend>| -> Result<(), String> {
            let reference = run(p, &interp)?;
            agree(&reference, &run(p, &Engine::new(backend.clone()))?)?;
            let cut = Spans::new(vec![backend.clone()], *seed);
            agree(&reference, &run(p, &Engine::new(Arc::new(cut)))?).map_err(|e| format!("cut: {e}"))?;
            let by_turns = Spans::new(vec![Arc::new(InterpBackend::new()), backend], *seed);
            agree(&reference, &run(p, &Engine::new(Arc::new(by_turns)))?).map_err(|e| format!("by turns: {e}"))
        };
        if let Err(e) = caught(|| check(p, known.clone())) {
            let key: String = e.lines().take(2).collect::<Vec<_>>().join(" | ").chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
            let entry = seen.entry(key.clone()).or_insert((0, *seed, e.lines().take(3).collect::<Vec<_>>().join(" / ")));
            entry.0 += 1;
            if entry.0 == 1 && std::env::args().nth(2).is_some() {
                let cb: Arc<dyn Backend> = Arc::new(CBackend::new());
                let small = shrink(p, |q| caught(|| check(q, cb.clone())).is_err());
                let why = caught(|| check(&small, cb.clone())).err().unwrap_or_default();
                entry.2 = format!("{}\n{small}", why.lines().take(3).collect::<Vec<_>>().join(" / "));
            }
        }
    }
    for (k, (n, seed, e)) in seen { println!("== {n} x [{k}] seed {seed}: {e}\n"); }
}
