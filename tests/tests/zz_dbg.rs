//! x
use livefusion::Clustering;
use livefusion::fusion::cluster::{solve, bound, contract};
use livefusion_tests::problems::random;
#[test]
fn dbg() {
    for n in [20usize, 40, 70, 100] {
      let (mut g, mut a, mut b, mut c, mut lb, mut lb0, mut items) = (0u64,0u64,0u64,0u64,0u64,0u64,0);
      let mut proven = [0;3]; let mut worst = 0f64; let mut slow=0;
      for seed in 0..20u64 {
        let p = random(seed, n);
        let (q,_) = contract::contract(&p);
        items += q.items.len();
        g += solve(&p, Clustering::Greedy).cost.bytes;
        lb0 += bound::bounds(&q).cost.bytes;
        for (k,(s,x)) in [(8000u32,&mut a),(100_000,&mut b),(2_000_000,&mut c)].into_iter().enumerate() {
            let t = std::time::Instant::now();
            let s = solve(&p, Clustering::Optimal{steps:s});
            if k==0 { slow = slow.max(t.elapsed().as_micros()); }
            *x += s.cost.bytes; proven[k] += s.is_proven() as usize;
            if k==2 { lb += s.bound.bytes }
            if k==0 { worst = worst.max(1.0 - s.bound.bytes as f64 / s.cost.bytes as f64); }
        }
      }
      println!("n {n} contracted {} greedy {g} 8k {a} 100k {b} 2M {c} lb0 {lb0} lb {lb} proven {proven:?} worst {worst} slow {slow}", items/20);
    }
}
