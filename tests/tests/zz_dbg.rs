//! x
use livefusion::Clustering;
use livefusion::fusion::cluster::{solve, bound, contract};
use livefusion_tests::problems::random;
#[test]
fn dbg() {
      for seed in 0..40u64 {
        let p = random(seed, 20);
        let s = solve(&p, Clustering::default());
        if s.is_proven() { continue }
        let l = solve(&p, Clustering::Optimal{steps:2_000_000});
        println!("seed {seed} {:?} {:?} long {:?} {:?}", s.cost, s.bound, l.cost, l.bound);
        if (s.bound.bytes as f64) < 0.6 * s.cost.bytes as f64 {
            let (q,_) = contract::contract(&p);
            let b = bound::bounds(&q);
            let l = solve(&q, Clustering::Optimal{steps:2_000_000});
            println!("classes {:?}", q.classes);
            for (i,it) in q.items.iter().enumerate() { println!("{i} in {}: at {:?} makes {:?} uses {:?} links {:?}", l.loop_of[i], it.at, it.makes, it.uses, it.links.iter().map(|k| (k.from, k.prevents)).collect::<Vec<_>>()); }
            for (i,f) in q.fields.iter().enumerate() { println!("f{i}: {:?} reads {} written {}", f, b.reads[i], b.written[i]); }
        }
      }
}
