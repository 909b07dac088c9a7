//! Temporary.
use livefusion_backend::*;
use livefusion_c::CBackend;
use livefusion_interp::InterpBackend;
use livefusion_tests::backends::*;
use livefusion_tests::loops::random;
use livefusion_tests::scalar::same;
use std::sync::Arc;
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let loops: Vec<_> = (0..n).map(|s| (s, random(s))).collect();
    let programs: Vec<_> = loops.iter().map(|(_, l)| l.program.clone()).collect();
    let known = Known::compile(&CBackend::new(), &programs).expect("C compiles");
    for (seed, l) in &loops {
        let interp = InterpBackend::new().compile(&l.program).unwrap();
        let c = known.compile(&l.program).unwrap();
        let args = l.args();
        let run = |k: &dyn Kernel| { let mut f = Frame::new(k.layout()); let o = k.run(Pass::Emit, u64::MAX, &mut f, &args); (o, f) };
        let r = run(&*interp);
        let mut bad = vec![];
        let mut cmp = |how: &str, x: (Outcome, Frame)| {
            match (&r.0, &x.0) { (Outcome::Trapped(_), Outcome::Trapped(_)) => return, (Outcome::Done|Outcome::Exited, Outcome::Done|Outcome::Exited) => {}, (a,b) => { bad.push(format!("{how}: {a:?} {b:?}")); return; } }
            for (k, (a, b)) in r.1.results.iter().zip(&x.1.results).enumerate() {
                let eq = match (a, b) { (Value::Scalar(a), Value::Scalar(b)) => same(a.ty, a.bits, b.bits), (Value::Array(a), Value::Array(b)) => a.len()==b.len() && (0..a.len()).all(|i| same(a.ty(), a.get_word(i).unwrap(), b.get_word(i).unwrap())), _ => false };
                if !eq { bad.push(format!("{how}: result {k}: {a:?} {b:?}")); }
            }
        };
        cmp("c", run(&*c));
        cmp("cut interp", run(&Cut::new(vec![interp.clone()], *seed)));
        cmp("cut c", run(&Cut::new(vec![c.clone()], *seed)));
        for t in 0..3 { cmp("turns", run(&Cut::new(vec![interp.clone(), c.clone()], *seed ^ t))); }
        if !bad.is_empty() { println!("seed {seed} ({} lines): {}", l.text.lines().count(), bad.join("; ").chars().take(300).collect::<String>()); }
    }
    let _: Option<Arc<u8>> = None;
    if let Some(s) = std::env::args().nth(2) { println!("{}", random(s.parse().unwrap()).program); }
}
