//! x
use livefusion::Clustering;
use livefusion::fusion::cluster::{solve, bound, contract};
use livefusion_tests::problems::random;
#[test]
fn dbg() {
    for n in [20usize, 40, 70, 100] {
      let (mut g, mut a, mut b, mut c, mut lb, mut lb0, mut items) = (0u64,0u64,0u64,0u64,0u64,0u64,0);
      let mut proven = [0;3];
      for seed in 0..20u64 {
        let p = random(seed, n);
        let (q,_) = contract::contract(&p);
        items += q.items.len();
        g += solve(&p, Clustering::Greedy).cost.bytes;
        lb0 += bound::bounds(&q).cost.bytes;
        for (k,(s,x)) in [(4000u32,&mut a),(100_000,&mut b),(3_000_000,&mut c)].into_iter().enumerate() {
            let s = solve(&p, Clustering::Optimal{steps:s});
            *x += s.cost.bytes; proven[k] += s.is_proven() as usize;
            if k==2 { lb += s.bound.bytes }
        }
      }
      println!("n {n} contracted {} greedy {g} 4k {a} 100k {b} 3M {c} lb0 {lb0} lb {lb} proven {proven:?}", items/20);
    }
}
