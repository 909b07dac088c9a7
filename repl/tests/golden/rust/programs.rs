// What `:rust` prints: the test `rust` writes this file.

#[allow(warnings, clippy::all)]
mod p0 {
    // [1, 2, 3].map(_ * 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).map(|x| x * 2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p1 {
    // (1..10).filter(_ % 2 == 0)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(9, 1i64, 1).filter(|x| x.rem_euclid(2).eq(0)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p2 {
    // [1, 2, 3].pack([true, false, true])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 3])
            .pack(&Array::from([true, false, true]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p3 {
    // [1, 2].zip([0.5, 1.5])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2]).zip(&Array::from([0.5f64, 1.5])).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p4 {
    // [1, 2].zip_with([10, 20], |x, y| x + y)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2])
            .zip_with(&Array::from([10i64, 20]), |x, y| x + y)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p5 {
    // [1, 2, 3].zip_shortest([0.5])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).zip_shortest(&Array::from([0.5f64])).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p6 {
    // (1..=5).fold(1, |a, b| a * b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(5, 1i64, 1).fold(1, |a, b| a * b).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p7 {
    // [1, 2, 3].fold_seq(0, |s, x| s * 10 + x)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).fold_seq(0, |s, x| s * 10 + x).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p8 {
    // [3, 1, 2].fold1(|a, b| a.max(b))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 2]).fold1(|a, b| a.max(b)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p9 {
    // [1, 2, 3].scan(0, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).scan(0, |a, b| a + b).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p10 {
    // [1, 2, 3].scan_exclusive(0, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).scan_exclusive(0, |a, b| a + b).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p11 {
    // (1..=100).sum()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(100, 1i64, 1).sum().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p12 {
    // (1..=5).product()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(5, 1i64, 1).product().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p13 {
    // [3, 1, 2].min()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 2]).min().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p14 {
    // [3, 1, 2].max()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 2]).max().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p15 {
    // [1, 2, 6].mean()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 6]).mean().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p16 {
    // [2, 4, 4, 4, 5, 5, 7, 9].var()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([2i64, 4, 4, 4, 5, 5, 7, 9]).var().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p17 {
    // [1.0, 5.0].std()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1.0f64, 5.0]).std().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p18 {
    // [1, 2, 3].any(_ > 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).any(|x| x.gt(2)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p19 {
    // [1, 2, 3].all(_ > 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).all(|x| x.gt(2)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p20 {
    // [1, 2, 3].count(_ > 1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).count(|x| x.gt(1)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p21 {
    // [3, 1, 2].min_index()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 2]).min_index().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p22 {
    // [3, 1, 2].max_index()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 2]).max_index().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p23 {
    // [3, 1, 2].first()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 2]).first().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p24 {
    // [3, 1, 2].last()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 2]).last().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p25 {
    // [3, 1, 2].find(_ < 3)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 2]).find(|x| x.lt(3)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p26 {
    // [3, 1, 2].position(_ < 3)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 2]).position(|x| x.lt(3)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p27 {
    // [3, 1, 2].partition(_ < 3)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([3i64, 1, 2]).partition(|x| x.lt(3));
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p28 {
    // (1..6).drop_while(_ < 4)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(5, 1i64, 1).drop_while(|x| x.lt(4)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p29 {
    // [5, 6].enumerate()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([5i64, 6]).enumerate().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p30 {
    // [1, 3, 2].scan1(|a, b| a.max(b))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 3, 2]).scan1(|a, b| a.max(b)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p31 {
    // [1, 2, 3].scan_seq(0, |s, x| s * 10 + x)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).scan_seq(0, |s, x| s * 10 + x).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p32 {
    // [1, 2, 3].scan_with_total(0, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 3]).scan_with_total(0, |a, b| a + b);
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p33 {
    // [1, 2, 3].scan_right(0, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).scan_right(0, |a, b| a + b).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p34 {
    // [1, 3, 2].scan1_right(|a, b| a.max(b))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 3, 2]).scan1_right(|a, b| a.max(b)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p35 {
    // [1, 2, 3].scan_exclusive_right(0, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).scan_exclusive_right(0, |a, b| a + b).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p36 {
    // [1, 2, 3].fold_right(0, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).fold_right(0, |a, b| a + b).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p37 {
    // [1, 2, 3].scan_with_start(0, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).scan_with_start(0, |a, b| a + b).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p38 {
    // [1, 2, 3].cumsum()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).cumsum().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p39 {
    // [1, 2, 3].cumprod()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).cumprod().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p40 {
    // [3, 1, 4].cummax()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 4]).cummax().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p41 {
    // [3, 1, 4].cummin()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 4]).cummin().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p42 {
    // [1, 4, 9].diff()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 4, 9]).diff().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p43 {
    // [1, 2, 3].len()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).len().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p44 {
    // (1..10).take_while(_ < 4)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(9, 1i64, 1).take_while(|x| x.lt(4)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p45 {
    // [1, 2].append([3])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2]).append(&Array::from([3i64])).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p46 {
    // generate(3, |i| i * i)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", generate(3, |i| i.cast::<i64>() * i.cast::<i64>()).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p47 {
    // iota(3)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", iota(3).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p48 {
    // replicate(3, 1.5)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", replicate(3, 1.5f64).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p49 {
    // (1..=6).reshape((2, 3))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(6, 1i64, 1).reshape((2, 3)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p50 {
    // [[1, 2], [3, 4]].flatten()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2], [3, 4]]).flatten().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p51 {
    // [0, 0, 0].scatter([2, 0], [7, 8])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([0i64, 0, 0])
            .scatter(&Array::from([2i64, 0]), &Array::from([7i64, 8]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p52 {
    // [0, 0, 0].scatter_with([2, 2], [7, 8], |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([0i64, 0, 0])
            .scatter_with(&Array::from([2i64, 2]), &Array::from([7i64, 8]), |a, b| a + b)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p53 {
    // (1..10).take(3)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(9, 1i64, 1).take(3).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p54 {
    // (1..10).drop(6)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(9, 1i64, 1).drop(6).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p55 {
    // [1, 2, 3].reverse()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).reverse().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p56 {
    // [1, 2, 3].shift(1, 0)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).shift(1, 0).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p57 {
    // [5, 6, 7].gather([2, 0, 0])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([5i64, 6, 7]).gather(&Array::from([2i64, 0, 0])).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p58 {
    // [1, 1, 2, 1].unique()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 1, 2, 1]).unique().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p59 {
    // [1, 3, 2, 4].unique_by(|a, b| a % 2 == b % 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 3, 2, 4])
            .unique_by(|a, b| a.rem_euclid(2).eq(b.rem_euclid(2)))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p60 {
    // [1, 1, 2, 1].group()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 1, 2, 1]).group();
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p61 {
    // [true, false, true].combine([1, 2], [-1])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([true, false, true])
            .combine(&Array::from([1i64, 2]), &Array::from([-1i64]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p62 {
    // [1, 3].interleave([2, 4])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 3]).interleave(&Array::from([2i64, 4])).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p63 {
    // [1, 4].merge([2, 3], |a, b| a <= b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 4])
            .merge(&Array::from([2i64, 3]), |a, b| a.le(b))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p64 {
    // [1, 2, 3].update(1, 9)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).update(1, 9).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p65 {
    // [[1, 2], [3, 4]].at((1, 0))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2], [3, 4]]).at((1, 0)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p66 {
    // [5, 6, 7].reduce_by_index([0, 1, 0], count = 2, start = 0, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([5i64, 6, 7])
            .reduce_by_index(&Array::from([0i64, 1, 0]), Bins { count: 2, start: 0i64 }, |a, b| a + b)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p67 {
    // [5, 6, 7].scan_by_index([0, 1, 0], count = 2, start = 0, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([5i64, 6, 7])
            .scan_by_index(&Array::from([0i64, 1, 0]), Bins { count: 2, start: 0i64 }, |a, b| a + b)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p68 {
    // [5, 6, 7].scan_exclusive_by_index([0, 1, 0], count = 2, start = 0, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([5i64, 6, 7])
            .scan_exclusive_by_index(&Array::from([0i64, 1, 0]), Bins { count: 2, start: 0i64 }, |a, b| a + b)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p69 {
    // enum_from_step(4, 10, -3)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(4, 10i64, -3i64).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p70 {
    // [1, 2, 3].aggregate(0.0, |s, x| s + x as f64, |a, b| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 3])
            .aggregate(0.0f64, |s, x| s + x.cast::<f64>(), |a, b| a + b)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p71 {
    // [1, 2, 4].windows(Boundary::Constant(0), |[a, b]| b - a)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 4])
            .windows(Boundary::Constant(0), |[a, b]| b - a)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p72 {
    // [1, 2, 6].windows(Boundary::Clamp, |[a, b, c]| a + b + c)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 6])
            .windows(Boundary::Clamp, |[a, b, c]| a + b + c)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p73 {
    // [2u64, 0, 3].flat_map(|x| x, |x, i| 10 * x + i)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([2u64, 0, 3]).flat_map(|x| x, |x, i| 10 * x + i).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p74 {
    // [1, 2, 3].combinations()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).combinations().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p75 {
    // [1, 2].cartesian([0.5, 1.5])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2]).cartesian(&Array::from([0.5f64, 1.5])).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p76 {
    // [1, 2, 4, 8].sliding_windows(3, 1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 4, 8]).sliding_windows(3, 1).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p77 {
    // [2, 0, 2].bincount(3)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([2i64, 0, 2]).bincount(3).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p78 {
    // [0.5, 1.0, 3.0].histogram([0.0, 1.0, 3.0])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([0.5f64, 1.0, 3.0])
            .histogram(&Array::from([0.0f64, 1.0, 3.0]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p79 {
    // [0.5, 1.0, 3.0].histogram_uniform(0, 3, 3)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([0.5f64, 1.0, 3.0]).histogram_uniform(0.0, 3.0, 3).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p80 {
    // linspace(0, 1, 5)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", linspace(0.0, 1.0, 5).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p81 {
    // array([1, 2, 3])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p82 {
    // arange(0, 10, 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(5, 0i64, 2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p83 {
    // zeros((2, 3))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", replicate((2, 3), 0.0f64).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p84 {
    // ones(3)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", replicate(3, 1.0f64).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p85 {
    // [1, 2].astype(float)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2]).map(|x| x.cast::<f64>()).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p86 {
    // print([1, 2])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2]).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p87 {
    // [[1, 2, 3], [4, 5, 6]].transpose()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2, 3], [4, 5, 6]]).transpose().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p88 {
    // generate((2, 3, 1), |(i, j, k)| i + j + k).permute_axes((2, 0, 1))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = generate((2, 3, 1), |(i, j, k)| i.cast::<i64>() + j.cast::<i64>() + k.cast::<i64>())
            .permute_axes([2, 0, 1])
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p89 {
    // [[1, 2, 3]].swap_axes(0, 1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2, 3]]).swap_axes(0, 1).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p90 {
    // [[1, 2], [3, 4]].along(0).sum()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2], [3, 4]]).along(0).sum().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p91 {
    // [[1, 2], [3, 4]].along(1).reverse()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2], [3, 4]]).along(1).reverse().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p92 {
    // [[1, 2, 3], [4, 5, 6]].roll(1, 1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2, 3], [4, 5, 6]]).roll(1, 1).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p93 {
    // [[1, 2], [3, 4]].pad(((1, 0), (0, 1)), 0)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2], [3, 4]]).pad([(1, 0), (0, 1)], 0).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p94 {
    // [[1, 2], [3, 4]].diag()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2], [3, 4]]).diag().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p95 {
    // [[1, 2], [3, 4]].triangle_lower(0, 0)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2], [3, 4]]).triangle_lower(0, 0).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p96 {
    // [[1, 2], [3, 4]].triangle_upper(0, 0)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2], [3, 4]]).triangle_upper(0, 0).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p97 {
    // [[1, 2], [3, 4]].select(0, [1, 1, 0])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([[1i64, 2], [3, 4]])
            .select(0, &Array::from([1i64, 1, 0]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p98 {
    // [[1, 2, 3], [4, 5, 6]].along(1).slice(1..)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2, 3], [4, 5, 6]]).along(1).slice(1..).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p99 {
    // [[1, 2, 3], [4, 5, 6]].along(1).at(-1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2, 3], [4, 5, 6]]).along(1).at(-1).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p100 {
    // concatenate(1, [[1], [2]], [[3], [4]])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", concatenate(1, &[&Array::from([[1i64], [2]]), &Array::from([[3i64], [4]])]).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p101 {
    // stack(0, [1, 2], [3, 4])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", stack(0, &[&Array::from([1i64, 2]), &Array::from([3i64, 4])]).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p102 {
    // [1, 2].outer([10, 20, 30], |x, y| x * y)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2])
            .outer(&Array::from([10i64, 20, 30]), |x, y| x * y)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p103 {
    // [1, 2, 3].dot([4, 5, 6])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).dot(&Array::from([4i64, 5, 6])).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p104 {
    // [[1, 2], [3, 4]].matmul([[1, 1], [0, 1]])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([[1i64, 2], [3, 4]])
            .matmul(&Array::from([[1i64, 1], [0, 1]]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p105 {
    // [[1, 2], [3, 4]].backpermute(2, |i| (i, i))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2], [3, 4]]).backpermute(2, |i| (i, i)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p106 {
    // [[1, 2], [3, 4]].stencil2(Boundary::Clamp, |[[a, _], [_, d]]| a + d)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([[1i64, 2], [3, 4]])
            .stencil2(Boundary::Clamp, |[[a, _], [_, d]]| a + d)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p107 {
    // [1, 2, 6].stencil1(Boundary::Wrap, |[a, b, c]| c - a)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 6])
            .stencil1(Boundary::Wrap, |[a, b, c]| c - a)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p108 {
    // replicate((2, 2, 2), 1).stencil3(Boundary::Constant(0), |[[[a, b]]]| a + b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = replicate((2, 2, 2), 1i64)
            .stencil3(Boundary::Constant(0), |[[[a, b]]]| a + b)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p109 {
    // [1, 2, 3].broadcast((2, 3))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3]).backpermute((2, 3), |(_, j)| j).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p110 {
    // meshgrid([1, 2, 3], [10, 20])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 3]).meshgrid(&Array::from([10i64, 20]));
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p111 {
    // segmented([2, 1], [1, 2, 3])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Segmented::new(&Array::from([2i64, 1]), &Array::from([1i64, 2, 3])).to_vecs()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p112 {
    // (ragged [[1, 2], [3]]).lengths()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]])
            .lengths()
            .clone()
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p113 {
    // (ragged [[1, 2], [3]]).data()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]])
            .data()
            .clone()
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p114 {
    // (ragged [[1, 2], [3]]).offsets()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Segmented::from_vecs(vec![vec![1i64, 2], vec![3]]).offsets().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p115 {
    // (ragged [[1, 2], [3]]).with_data([7, 8, 9])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]])
            .with_data(Array::from([7i64, 8, 9]))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p116 {
    // (ragged [[1, 2], [3]]).filter(_ > 1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]])
            .filter(|x| x.gt(1))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p117 {
    // (ragged [[1, 2], [3]]).pack([true, false, true])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]])
            .pack(&Array::from([true, false, true]))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p118 {
    // (ragged [[1], [2]]).append(ragged [[3, 4], []])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64], vec![2]])
            .append(&Segmented::from_vecs(vec![vec![3i64, 4], vec![]]))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p119 {
    // (ragged [[1], [2, 3], [4]]).flatten([2, 1])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64], vec![2, 3], vec![4]])
            .flatten(&Array::from([2i64, 1]))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p120 {
    // Segmented::replicate([2, 1], [5, 6])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Segmented::replicate(&Array::from([2i64, 1]), &Array::from([5i64, 6])).to_vecs()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p121 {
    // Segmented::indices([2, 3])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Segmented::indices(&Array::from([2i64, 3])).to_vecs()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p122 {
    // Segmented::enum_from_step([1, 10], [2, -1], [2, 3])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Segmented::enum_from_step(&Array::from([1i64, 10]), &Array::from([2i64, -1]), &Array::from([2i64, 3])).to_vecs()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p123 {
    // (ragged [[1, 2], [3]]).broadcast([10, 20])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]])
            .broadcast(&Array::from([10i64, 20]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p124 {
    // (ragged [[1, 2], [3]]).local_indices()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]])
            .local_indices()
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p125 {
    // (ragged [[1, 2], [3]]).zip_with_each([10, 20], |x, y| x + y)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]])
            .zip_with_each(&Array::from([10i64, 20]), |x, y| x + y)
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p126 {
    // from_uniform(2, [1, 2, 3, 4])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Segmented::from_uniform(2, &Array::from([1i64, 2, 3, 4])).to_vecs()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p127 {
    // [[1, 2], [3, 4]].to_segmented()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2], [3, 4]]).to_segmented().to_vecs()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p128 {
    // (ragged [[2u64, 0], [3]]).flat_map(|x| x, |x, i| 10 * x + i)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![2u64, 0], vec![3]])
            .flat_map(|x| x, |x, i| 10 * x + i)
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p129 {
    // (ragged [[1, 2, 3], [4, 5]]).combinations()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2, 3], vec![4, 5]])
            .combinations()
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p130 {
    // (ragged [[1, 2], [3]]).cartesian(ragged [[0.5], [1.5, 2.5]])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]])
            .cartesian(&Segmented::from_vecs(vec![vec![0.5f64], vec![1.5, 2.5]]))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p131 {
    // (ragged [[1, 2, 3], [4]]).take(2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Segmented::from_vecs(vec![vec![1i64, 2, 3], vec![4]]).take(2).to_vecs()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p132 {
    // (ragged [[1, 2, 3], [4]]).reverse()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![1i64, 2, 3], vec![4]])
            .reverse()
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p133 {
    // (ragged [[5, 6, 7], [8]]).gather(ragged [[2, 0], [0]])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![5i64, 6, 7], vec![8]])
            .gather(&Segmented::from_vecs(vec![vec![2i64, 0], vec![0]]))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p134 {
    // [1, 2, 3, 4, 5].chunks(2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([1i64, 2, 3, 4, 5]).chunks(2).to_vecs()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p135 {
    // from_flags([true, false, true], [1, 2, 3])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Segmented::from_flags(&Array::from([true, false, true]), &Array::from([1i64, 2, 3])).to_vecs()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p136 {
    // [3, 1, 2].sort()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 2]).sort().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p137 {
    // [30, 10, 20].argsort()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([30i64, 10, 20]).argsort().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p138 {
    // [7, 8, 9].sort_by_key([2, 1, 2])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([7i64, 8, 9])
            .sort_by_key(&Array::from([2i64, 1, 2]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p139 {
    // [3, 11, 2].sort_by(|a, b| a % 10 < b % 10)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([3i64, 11, 2])
            .sort_by(|a, b| a.rem_euclid(10).lt(b.rem_euclid(10)))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p140 {
    // [3, 9, 4].top_k(2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 9, 4]).top_k(2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p141 {
    // [30, 90, 40].argtop_k(2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([30i64, 90, 40]).argtop_k(2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p142 {
    // [7, 3, 9].join([3, 7, 3])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([7i64, 3, 9]).join(&Array::from([3i64, 7, 3])).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p143 {
    // [7, 5, 3].left_join([3, 7])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([7i64, 5, 3]).left_join(&Array::from([3i64, 7])).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p144 {
    // [4.0, 1.0, 3.0].median()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([4.0f64, 1.0, 3.0]).median().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p145 {
    // (0..=10).quantile(0.9)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(11, 0i64, 1).quantile(0.9).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p146 {
    // (0..=10).quantiles([0.1, 0.9])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = enum_from_step(11, 0i64, 1)
            .quantiles(&Array::from([0.1f64, 0.9]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p147 {
    // [3, 1, 3, 2, 3].unique_counts()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([3i64, 1, 3, 2, 3]).unique_counts().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p148 {
    // [1, 2, 3, 4].group_by_key([7, 5, 7, 5])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 3, 4]).group_by_key(&Array::from([7i64, 5, 7, 5]));
        println!("{:?}", (value.0.force()?, value.1.to_vecs()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p149 {
    // [70, 30, 70, 50, 30].factorize()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([70i64, 30, 70, 50, 30]).factorize();
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p150 {
    // [4, 7, 9, 5].top_k_by_index([1, 0, 1, 1], 3, 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([4i64, 7, 9, 5])
            .top_k_by_index(&Array::from([1i64, 0, 1, 1]), 3, 2)
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p151 {
    // [4, 6, 9, 5].top_k_by_key([7, 5, 7, 7], 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([4i64, 6, 9, 5]).top_k_by_key(&Array::from([7i64, 5, 7, 7]), 2);
        println!("{:?}", (value.0.force()?, value.1.to_vecs()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p152 {
    // [1, 2, 3].reduce_by_key([7, 5, 7], 0, |sum, x| sum + x)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 3]).reduce_by_key(&Array::from([7i64, 5, 7]), 0i64, |sum, x| sum + x);
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p153 {
    // [(1, 4), (5, 3), (4, 2)].components(6)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([(1i64, 4i64), (5, 3), (4, 2)]).components(6).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p154 {
    // [10, 20, 20, 30].searchsorted([20, 5])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([10i64, 20, 20, 30])
            .searchsorted(&Array::from([20i64, 5]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p155 {
    // [10, 20, 20, 30].searchsorted_right([20, 5])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([10i64, 20, 20, 30])
            .searchsorted_right(&Array::from([20i64, 5]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p156 {
    // [0.5, 1.0, 99.0].digitize([0.0, 1.0, 10.0])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([0.5f64, 1.0, 99.0])
            .digitize(&Array::from([0.0f64, 1.0, 10.0]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p157 {
    // [[3, 1, 2], [0, 9, 4]].along(1).sort()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[3i64, 1, 2], [0, 9, 4]]).along(1).sort().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p158 {
    // [[3, 1, 2], [0, 9, 4]].along(1).argsort()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[3i64, 1, 2], [0, 9, 4]]).along(1).argsort().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p159 {
    // [[3, 1, 2], [0, 9, 4]].along(0).median()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[3i64, 1, 2], [0, 9, 4]]).along(0).median().force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p160 {
    // (ragged [[3, 1, 2], [5, 4]]).sort()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![3i64, 1, 2], vec![5, 4]])
            .sort()
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p161 {
    // (ragged [[3, 1, 2], [5, 4]]).argsort()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![3i64, 1, 2], vec![5, 4]])
            .argsort()
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p162 {
    // (ragged [[3, 1, 2], [5, 4]]).median()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![3i64, 1, 2], vec![5, 4]])
            .median()
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p163 {
    // (ragged [[3, 1, 2], [5, 4]]).quantile(0.75)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![3i64, 1, 2], vec![5, 4]])
            .quantile(0.75)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p164 {
    // (1..10).head()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", enum_from_step(9, 1i64, 1).take(5).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p165 {
    // [1, 2, 5, 3, 4, 1].group_by(|a, b| a < b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 5, 3, 4, 1]).group_by(|a, b| a.lt(b));
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p166 {
    // [3, 1, 4, 5].group_by(_ % 2).agg(("n", _.len()), ("sum", _.sum()))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = {
            let (keys, groups) = {
                let rows = Array::from([3i64, 1, 4, 5]);
                rows.group_by_key(&rows.map(|x| x.rem_euclid(2)))
            };
            let of_group0 = groups.map_segments(|x| x.len());
            let of_group1 = groups.map_segments(|x| x.sum());
            zip((&keys, &of_group0, &of_group1))
        }.force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p167 {
    // [(1.0, 0.0), (0.0, 1.0)].fft()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([(1.0f64, 0.0f64), (0.0, 1.0)])
            .map(|(re, im)| livefusion::complex::ComplexExp::new(re, im))
            .fft()
            .map(|z| (z.re, z.im))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p168 {
    // [(4.0, 0.0), (0.0, 2.0)].ifft()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([(4.0f64, 0.0f64), (0.0, 2.0)])
            .map(|(re, im)| livefusion::complex::ComplexExp::new(re, im))
            .ifft()
            .map(|z| (z.re, z.im))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p169 {
    // [1.0, 2.0, 3.0, 4.0].rfft()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1.0f64, 2.0, 3.0, 4.0])
            .rfft()
            .map(|z| (z.re, z.im))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p170 {
    // [(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)].irfft(4)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([(10.0f64, 0.0f64), (-2.0, 2.0), (-2.0, 0.0)])
            .map(|(re, im)| livefusion::complex::ComplexExp::new(re, im))
            .irfft(4)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p171 {
    // [(1.0, 0.0), (0.0, 1.0), (5.0, 2.0)].chunks(2).fft()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([(1.0f64, 0.0f64), (0.0, 1.0), (5.0, 2.0)])
            .chunks(2)
            .map(|(re, im)| livefusion::complex::ComplexExp::new(re, im))
            .fft()
            .map(|z| (z.re, z.im))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p172 {
    // [(4.0, 0.0), (0.0, 2.0), (5.0, 2.0)].chunks(2).ifft()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([(4.0f64, 0.0f64), (0.0, 2.0), (5.0, 2.0)])
            .chunks(2)
            .map(|(re, im)| livefusion::complex::ComplexExp::new(re, im))
            .ifft()
            .map(|z| (z.re, z.im))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p173 {
    // [1.0, 2.0, 3.0, 4.0, 5.0].chunks(4).rfft()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1.0f64, 2.0, 3.0, 4.0, 5.0])
            .chunks(4)
            .rfft()
            .map(|z| (z.re, z.im))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p174 {
    // (ragged [[(3.0, 0.0), (1.0, 0.0)], [(5.0, 0.0)]]).irfft([2, 1])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Segmented::from_vecs(vec![vec![(3.0f64, 0.0f64), (1.0, 0.0)], vec![(5.0, 0.0)]])
            .map(|(re, im)| livefusion::complex::ComplexExp::new(re, im))
            .irfft(&Array::from([2i64, 1]))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p175 {
    // random::bits(7, 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", random::bits(7, 2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p176 {
    // random::uniform(7, 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", random::uniform(7, 2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p177 {
    // random::uniform2(7, 1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", random::uniform2(7, 1).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p178 {
    // random::normal(7, 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", random::normal(7, 2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p179 {
    // random::normal2(7, 1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", random::normal2(7, 1).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p180 {
    // random::integers(7, 5, 1, 7)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", random::integers(7, 5, 1, 7).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p181 {
    // random::permutation(7, 5)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", random::permutation(7, 5).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p182 {
    // [[1, 2], [3, 4]].map_rows(|row| row.scan(0, |a, b| a + b))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([[1i64, 2], [3, 4]])
            .map_rows(|row| row.scan(0, |a, b| a + b))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p183 {
    // [[1, 2], [3, 4]].along(0).map(|column| column.scan(0, |a, b| a + b))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([[1i64, 2], [3, 4]])
            .along(0)
            .map(|column| column.scan(0, |a, b| a + b))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p184 {
    // (ragged [[1, 2], [3]]).map_segments(|s| s.scan(0, |a, b| a + b))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = (&Segmented::from_vecs(vec![vec![1i64, 2], vec![3]]))
            .map_segments(|s| s.scan(0, |a, b| a + b))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p185 {
    // iterate_n(3, [1, 10], |xs| xs * 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", iterate_n(3, &Array::from([1i64, 10]), |xs| &xs * 2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p186 {
    // iterate_while([1.0, 9.0], |xs| xs.max() > 2.0, |xs| xs / 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", iterate_while(&Array::from([1.0f64, 9.0]), |xs| xs.max().map(|x| x.gt(2.0)), |xs| &xs / 2.0).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p187 {
    // [1, 40, 96].map(|x| while_loop((x, 0), |(x, _)| x % 2 == 0, |(x, n)| (x // 2, n + 1)).1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 40, 96])
            .map(|x| while_loop((x, 0i64), |(x, _)| x.rem_euclid(2).eq(0), |(x, n)| (x.div_euclid(2), n + 1)).1)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p188 {
    // [1.0, 4.0].map(|x| iterate(6, x, |r| 0.5 * (r + x / r)))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1.0f64, 4.0])
            .map(|x| iterate(6, x, |r| 0.5 * (r + x / r)))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p189 {
    // load "examples/data/airports.csv"
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let table = livefusion::io::csv("examples/data/airports.csv").read()?;
        println!("{} rows, {:?}", table.len(), table.names().collect::<Vec<_>>());
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p190 {
    // [1, 2, 3] |> save "squares.npy"
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        livefusion::io::npy::write("squares.npy", &Array::from([1i64, 2, 3]))?;
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p191 {
    // let xs = [1.5, 2.5]
    // let total = xs.sum()
    // xs |> map(|x| x / total)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let xs = Array::from([1.5f64, 2.5]);
        let total = xs.sum();
        println!("{:?}", xs.map(|x| x / &total).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p192 {
    // let xs = [3, 1, 2]
    // let xs = xs + 1
    // let unused = xs.max()
    // xs * xs - 2
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let xs = Array::from([3i64, 1, 2]);
        let xs = &xs + 1;
        println!("{:?}", (&xs * &xs - 2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p193 {
    // def square(x) = x * x
    // [1, 2, 3].map(square).zip([0.5, 1.5, 2.5]).filter(|(n, x)| n > 2 && !(x < 1)).map(|(n, x)| n as f64 + x)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let square = |x: Exp<i64>| x * x;
        let value = Array::from([1i64, 2, 3])
            .map(&square)
            .zip(&Array::from([0.5f64, 1.5, 2.5]))
            .filter(|(n, x)| n.gt(2).and(!x.lt(1.0)))
            .map(|(n, x)| n.cast::<f64>() + x)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p194 {
    // let n = 3
    // let ys = [10, 20, 30]
    // [0, 2].map(|i| ys[i] * n + ys[0])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let ys = Array::from([10i64, 20, 30]);
        println!("{:?}", Array::from([0i64, 2]).map(|i| ys.at(i) * 3 + ys.at(0).value()).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p195 {
    // let (a, b) = [(1, 2.5), (3, 4.5)]
    // (a.sum(), b / 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let (a, b) = Array::from([(1i64, 2.5f64), (3, 4.5)]).unzip();
        let value = (a.sum(), &b / 2.0);
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p196 {
    // [4.0, 9.0].map(|x| if x > 5 then sqrt(x) else -x)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([4.0f64, 9.0]).map(|x| x.gt(5.0).cond(x.sqrt(), -x)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p197 {
    // ([1, 2, 3] > 1, sqrt([4.0]), [1.5] as i64)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = (
            Array::from([1i64, 2, 3]).map(|x| x.gt(1)),
            Array::from([4.0f64]).map(|x| x.sqrt()),
            Array::from([1.5f64]).map(|x| x.cast::<i64>()),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p198 {
    // [[1, 2, 3], [4, 5, 6]][.., 1..]
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([[1i64, 2, 3], [4, 5, 6]]).slice((.., 1..)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p199 {
    // ((0..5) * 2, (1..=3).sum())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = (enum_from_step(5, 0i64, 1) * 2, enum_from_step(3, 1i64, 1).sum());
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p200 {
    // let xs = [5, 6, 7]
    // (xs[0], xs[-1], xs[1..], xs[..-1], xs[1..=1])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let xs = Array::from([5i64, 6, 7]);
        let value = (xs.at(0), xs.along(0).at(-1), xs.slice(1..), xs.slice(..-1), xs.slice(1..=1));
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p201 {
    // let m = generate((2, 3), |(i, j)| i * 10 + j)
    // (m[1, 2], m[-1, 0], m[0, ..], m[.., -1], m.map(_ + 1).along(0).sum())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let m = generate((2, 3), |(i, j)| i.cast::<i64>() * 10 + j.cast::<i64>());
        let value = (
            m.at((1, 2)),
            m.slice((-1, 0)),
            m.slice((0, ..)),
            m.slice((.., -1)),
            m.map(|x| x + 1).along(0).sum(),
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p202 {
    // def norm(xs) = sqrt((xs * xs).sum())
    // let ys = [6.0, 8.0]
    // [norm([3.0, 4.0])].append([norm(ys), 0])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let norm = |xs: Array<f64>| (&xs * &xs).sum().map(|x| x.sqrt());
        let ys = Array::from([6.0f64, 8.0]);
        let value = replicate(1, &norm(Array::from([3.0f64, 4.0])))
            .append(&concat([replicate(1, &norm(ys.clone())), replicate(1, 0.0f64)]))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p203 {
    // let xs = [2.0, 4.0]
    // let mean = xs.mean()
    // let spread = (xs - mean) * (xs - mean) |> sum |> sqrt
    // (xs - mean) / spread
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let xs = Array::from([2.0f64, 4.0]);
        let mean = xs.mean();
        let spread = ((&xs - &mean) * (&xs - &mean)).sum().map(|x| x.sqrt());
        println!("{:?}", ((&xs - &mean) / &spread).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p204 {
    // let f = |x| x * 2
    // let fn = [1, 2]
    // fn.map(f)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let f = |x: Exp<i64>| x * 2;
        let r#fn = Array::from([1i64, 2]);
        println!("{:?}", r#fn.map(&f).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p205 {
    // let r = ragged [[1.5], [2.5, 3.5], []]
    // (r * 2.0, r.sum(), r.map_segments(|s| s.sum()))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let r = Segmented::from_vecs(vec![vec![1.5f64], vec![2.5, 3.5], vec![]]);
        let value = (r.map(|x| x * 2.0), r.sum(), (&r).map_segments(|s| s.sum()));
        println!("{:?}", (value.0.to_vecs()?, value.1.force()?, value.2.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p206 {
    // let xs = [3, 1, 2]
    // xs.zip(iota(3)).filter(|(x, i)| x > 1 || i == 0).map(|(x, i)| (x, i as i64 - x, 1))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let xs = Array::from([3i64, 1, 2]);
        let value = xs
            .zip(&iota(3))
            .filter(|(x, i)| x.gt(1).or(i.cast::<i64>().eq(0)))
            .map(|(x, i)| (x, i.cast::<i64>() - x, 1i64))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p207 {
    // def f(r) = r.sum()
    // ([1.5, -2.5].map(|x| if x > 0 then 1 else x), [1.5, -2.5].map(|x| if x > 0 then x else 1), f(0_u8..3))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let f = |r: Array<u8>| r.sum();
        let value = (
            Array::from([1.5f64, -2.5]).map(|x| x.gt(0.0).cond(1.0, x)),
            Array::from([1.5f64, -2.5]).map(|x| x.gt(0.0).cond(x, 1.0)),
            f(enum_from_step(3, 0u8, 1)),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p208 {
    // let xs = 1..10
    // (xs, xs * 2, xs.zip(xs), xs |> filter(_ > 3) |> sum)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let xs = enum_from_step(9, 1i64, 1);
        let value = (xs.clone(), &xs * 2, xs.zip(&xs), xs.filter(|x| x.gt(3)).sum());
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.force()?, value.3.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p209 {
    // let n = [1, 2, 3].len()
    // (iota(n), replicate(n, 0), (1..9).take(n))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let n = Array::from([1i64, 2, 3]).len();
        let value = (iota(&n), replicate(&n, 0i64), enum_from_step(8, 1i64, 1).take(&n));
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p210 {
    // [1.0, 2.0].map(|x| 2 < x && x <= 3 || f64::consts::PI * x > 4)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1.0f64, 2.0])
            .map(|x| x.gt(2.0).and(x.le(3.0)).or((std::f64::consts::PI * x).gt(4.0)))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p211 {
    // [[1, 2], [3, 4]].map_rows(|row| row.sum() * row.max())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([[1i64, 2], [3, 4]])
            .map_rows(|row| row.sum() * row.max())
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p212 {
    // iterate_while(([1.0, 9.0], 0), |(xs, n)| xs.max() > 2.0, |(xs, n)| (xs / 2, n + 1))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = iterate_while((&Array::from([1.0f64, 9.0]), &Array::scalar(0i64)), |(xs, n)| xs.max().map(|x| x.gt(2.0)), |(xs, n)| (&xs / 2.0, &n + 1));
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p213 {
    // let xs = [3, 1, 2]
    // if xs.sum() > 5 then xs.sort() else xs.filter(_ > 1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let xs = Array::from([3i64, 1, 2]);
        let value = xs
            .sum()
            .map(|x| x.gt(5))
            .cond(&xs.sort(), &xs.filter(|x| x.gt(1)))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p214 {
    // let xs = [3.0, 1.0]
    // if xs.max() > 5 then (xs, xs.sum()) else (xs.reverse(), 0.5)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let xs = Array::from([3.0f64, 1.0]);
        let value = xs
            .max()
            .map(|x| x.gt(5.0))
            .cond((&xs, &xs.sum()), (&xs.reverse(), &Array::scalar(0.5f64)));
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p215 {
    // let r = ragged [[1, 2], []]
    // if r.data().sum() > 2 then r.map(_ * 2) else r
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let r = Segmented::from_vecs(vec![vec![1i64, 2], vec![]]);
        let value = r
            .data()
            .clone()
            .sum()
            .map(|x| x.gt(2))
            .cond(&r.map(|x| x * 2), &r)
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p216 {
    // [(1, true), (2, false)].map(|p| if p.1 then p.0 else 0)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([(1i64, true), (2, false)])
            .map(|p| p.1.cond(p.0, 0))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p217 {
    // [true, false].map(|b| !b)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", Array::from([true, false]).map(|b| !b).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p218 {
    // [1i8, -128i8].map(|x| (abs(x), x.max(0), clamp(x, -1, 1), powi(2.0, 3) + x as f64))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i8, -128])
            .map(|x| (x.abs(), x.max(0), x.clamp(-1, 1), Exp::lit(2.0f64).powi(3) + x.cast::<f64>()))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p219 {
    // [1u8, 200].map(|x| (x as u64 << 1, x & 1 == 0)).map(|(a, even)| if even then a else 0)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1u8, 200])
            .map(|x| (x.cast::<u64>() << 1, (x & 1).eq(0)))
            .map(|(a, even)| even.cond(a, 0))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p220 {
    // let t = load "examples/data/airports.csv"
    // t.latitude.take(2)
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let t = livefusion::io::csv("examples/data/airports.csv").read()?;
        println!("{:?}", t.column::<f64>("latitude")?.take(2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p221 {
    // let t = load "examples/data/airports.csv"
    // (t.latitude.pack(t.state == "WA").max(), (t.state < t.city).count(_))
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let t = livefusion::io::csv("examples/data/airports.csv").read()?;
        let value = (
            t.column::<f64>("latitude")?.pack(&t.texts("state")?.eq("WA")).max(),
            t.texts("state")?.lt_each(&t.texts("city")?).count(|x| x),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p222 {
    // let t = load "examples/data/airports.csv"
    // t.latitude.pack(t.iata >= "ZZ")
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let t = livefusion::io::csv("examples/data/airports.csv").read()?;
        println!("{:?}", t.column::<f64>("latitude")?.pack(&t.texts("iata")?.ge("ZZ")).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p223 {
    // let zs = [(1.0, 2.0), (3.0, 5.0)]
    // let n = zs.len()
    // (zs.fft(), zs.irfft(n), zs.chunks(1).fft())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let zs = Array::from([(1.0f64, 2.0f64), (3.0, 5.0)]);
        let n = zs.len();
        let value = (
            zs.map(|(re, im)| livefusion::complex::ComplexExp::new(re, im)).fft().map(|z| (z.re, z.im)),
            zs.map(|(re, im)| livefusion::complex::ComplexExp::new(re, im)).irfft(&n),
            zs.chunks(1).map(|(re, im)| livefusion::complex::ComplexExp::new(re, im)).fft().map(|z| (z.re, z.im)),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.to_vecs()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p224 {
    // (ragged [[(1.0, 2.0)], []]).map_segments(|s| s.fft().ifft())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = (&Segmented::from_vecs(vec![vec![(1.0f64, 2.0f64)], vec![]]))
            .map_segments(|s| s.map(|(re, im)| livefusion::complex::ComplexExp::new(re, im)).fft().map(|z| (z.re, z.im)).map(|(re, im)| livefusion::complex::ComplexExp::new(re, im)).ifft().map(|z| (z.re, z.im)))
            .to_vecs()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p225 {
    // 1 + 2.5
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        println!("{:?}", 3.5f64);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p226 {
    // (iota(4) - 1, [7, -7, 8] // 2, [7, -7, 8] % 3, [1, 2] / 2, 7 / 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = (
            iota(4).map(|x| x.cast::<i64>()) - 1,
            Array::from([7i64, -7, 8]).map(|x| x.div_euclid(2)),
            Array::from([7i64, -7, 8]).map(|x| x.rem_euclid(3)),
            Array::from([1i64, 2]).map(|x| x.cast::<f64>()) / 2.0,
            3.5f64,
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p227 {
    // let ds = [2, -3, 5]
    // ([7, -7, -8] // ds, [7, -7, -8] % ds, [7.5, -7.5] // 2, [7.5, -7.5] % -2.0)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let ds = Array::from([2i64, -3, 5]);
        let value = (
            Array::from([7i64, -7, -8]).zip_with(&ds, |x, y| { let (x, y): (Exp<i64>, Exp<i64>) = ((x).to_exp(), (y).to_exp()); let r = x % y; let is_off = r.ne(0i64).and(r.lt(0i64).ne(y.lt(0i64))); x / y - is_off.cast::<i64>() }),
            Array::from([7i64, -7, -8]).zip_with(&ds, |x, y| { let (x, y): (Exp<i64>, Exp<i64>) = ((x).to_exp(), (y).to_exp()); let r = x % y; let is_off = r.ne(0i64).and(r.lt(0i64).ne(y.lt(0i64))); is_off.cond(r + y, r) }),
            Array::from([7.5f64, -7.5]).map(|x| { let (x, y): (Exp<f64>, Exp<f64>) = ((x).to_exp(), (2.0).to_exp()); let r = x % y; let is_off = r.ne(0.0f64).and(r.lt(0.0f64).ne(y.lt(0.0f64))); { let q = (x - r) / y; let q = is_off.cond(q - 1.0f64, q); let f = q.floor(); let f = (q - f).gt(0.5f64).cond(f + 1.0f64, f); let f = q.eq(0.0f64).cond(Exp::lit(0.0f64).copysign(x / y), f); y.eq(0.0f64).cond(x / y, f) } }),
            Array::from([7.5f64, -7.5]).map(|x| { let (x, y): (Exp<f64>, Exp<f64>) = ((x).to_exp(), (-2.0).to_exp()); let r = x % y; let is_off = r.ne(0.0f64).and(r.lt(0.0f64).ne(y.lt(0.0f64))); r.eq(0.0f64).cond(Exp::lit(0.0f64).copysign(y), is_off.cond(r + y, r)) }),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.force()?, value.3.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p228 {
    // ([1, 2, 3] ** 5, [1.5, 2.0] ** 2, [4.0, 9.0] ** 0.5, [2, 4] ** -1)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = (
            Array::from([1i64, 2, 3]).map(|x| { let s = x; let p = s; let s = s * s; let s = s * s; let p = p * s; p }),
            Array::from([1.5f64, 2.0]).map(|x| { let s = x; let s = s * s; let p = s; p }),
            Array::from([4.0f64, 9.0]).map(|x| x.powf(0.5)),
            Array::from([2i64, 4]).map(|x| x.cast::<f64>().powf(-1.0)),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.force()?, value.3.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p229 {
    // let m = arange(6).reshape(2, 3)
    // (m @ m.T, m[0], m[:, 1], m[1:, ::-1], m.shape, m.sum(axis = 0))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let m = enum_from_step(6, 0i64, 1).reshape((2, 3));
        let value = (
            m.dot(&m.transpose()),
            m.slice((0, ..)),
            m.slice((.., 1)),
            m.along(1).reverse().slice((1..2, ..)),
            (2, 3).clone(),
            m.along(0).sum(),
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4,
            value.5.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p230 {
    // let xs = [10, 3, 0, 4]
    // (xs[1:3], xs[::-1], xs[-2:], xs[::2], xs[xs > 3], xs[[0, 2]])
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let xs = Array::from([10i64, 3, 0, 4]);
        let value = (
            xs.slice(1..3),
            xs.along(0).reverse().slice(..),
            xs.slice(2..4),
            xs.slice((0..).step(2)),
            xs.pack(&xs.map(|x| x.gt(3))),
            xs.gather(&Array::from([0i64, 2])),
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4.force()?,
            value.5.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p231 {
    // ([1, 2] * 1.5, [1, 2] + [0.5, 0.25], [true, false] + 1, [1u8, 2] + [300, 4], [1, 4].sqrt())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = (
            Array::from([1i64, 2]).map(|x| x.cast::<f64>()) * 1.5,
            Array::from([1i64, 2]).map(|x| x.cast::<f64>()) + Array::from([0.5f64, 0.25]),
            Array::from([true, false]).map(|x| x.cast::<i64>()) + 1,
            Array::from([1u8, 2]).map(|x| x.cast::<i64>()) + Array::from([300i64, 4]),
            Array::from([1i64, 4]).map(|x| x.cast::<f64>().sqrt()),
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p232 {
    // (where([1, 5] > 2, 1, 0), xor([6, 1], 3), [1.5, 0.0].astype(bool), [2, 3].astype(float), log([1.0, 2.0]))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = (
            Array::from([1i64, 5]).map(|x| x.gt(2)).map(|x| x.cond(1, 0)),
            Array::from([6i64, 1]).map(|x| x ^ 3),
            Array::from([1.5f64, 0.0]).map(|x| x.ne(0.0f64)),
            Array::from([2i64, 3]).map(|x| x.cast::<f64>()),
            Array::from([1.0f64, 2.0]).map(|x| x.ln()),
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p233 {
    // (iota(5).fold(0, |a, b| a - b), iota(4).diff(), [true, false, true].sum(), [1].append([0.5]), [1, 2].map(lambda x: x + 1))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = (
            iota(5).map(|x| x.cast::<i64>()).fold(0, |a, b| a - b),
            iota(4).map(|x| x.cast::<i64>()).diff(),
            Array::from([true, false, true]).map(|x| x.cast::<i64>()).sum(),
            Array::from([1i64]).map(|x| x.cast::<f64>()).append(&Array::from([0.5f64])),
            Array::from([1i64, 2]).map(|x| x + 1),
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p234 {
    // [3, 1, 4, 5].group_by(_ % 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = {
            let rows = Array::from([3i64, 1, 4, 5]);
            rows.group_by_key(&rows.map(|x| x.rem_euclid(2)))
        };
        println!("{:?}", (value.0.force()?, value.1.to_vecs()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p235 {
    // [3, 1, 4].sort_by(_ % 2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = {
            let rows = Array::from([3i64, 1, 4]);
            rows.sort_by_key(&rows.map(|x| x.rem_euclid(2)))
        }.force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p236 {
    // let xs = [3, 1, 4]
    // xs.sort_by(-_)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let xs = Array::from([3i64, 1, 4]);
        println!("{:?}", xs.sort_by_key(&xs.map(|x| -x)).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p237 {
    // [3.5, 1.0, 4.5].group_by(_ > 2).agg(n = _.len(), mean = _.mean(), |g| ("top", g.map(_ * 2).max()))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = {
            let (keys, groups) = {
                let rows = Array::from([3.5f64, 1.0, 4.5]);
                rows.group_by_key(&rows.map(|x| x.gt(2.0)))
            };
            let of_group0 = groups.map_segments(|g| g.map(|x| x * 2.0).max());
            let of_group1 = groups.map_segments(|x| x.len());
            let of_group2 = groups.map_segments(|x| x.mean());
            zip((&keys, &of_group0, &of_group1, &of_group2))
        }.force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p238 {
    // [3, 1, 4].zip([1, 2, 1]).group_by(_.1).agg(n = _.map(_.0).max())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = {
            let (keys, groups) = {
                let rows = Array::from([3i64, 1, 4]).zip(&Array::from([1i64, 2, 1]));
                rows.group_by_key(&rows.map(|x| x.1))
            };
            let of_group0 = groups.map_segments(|x| x.map(|x| x.0).max());
            zip((&keys, &of_group0))
        }.force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p239 {
    // let g = [1, 2, 3, 4].group_by(|x| (x % 2, x > 3)).agg(n = _.len())
    // g.sort_by(-_.n).take(2)
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let g = {
            let (keys, groups) = {
                let rows = Array::from([1i64, 2, 3, 4]);
                rows.group_by_key(&rows.map(|x| (x.rem_euclid(2), x.gt(3))))
            };
            let (keys0, keys1) = keys.unzip();
            let of_group0 = groups.map_segments(|x| x.len());
            zip((&keys0, &keys1, &of_group0))
        };
        println!("{:?}", g.sort_by_key(&g.map(|x| -x.2)).take(2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p240 {
    // let s = load "examples/data/stocks.csv"
    // s.group_by(_.symbol).agg(n = _.len(), low = _.price.min(), high = _.price.max())
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let rows = {
            let (keys, groups) = {
                let rows = zip((&s.texts("symbol")?.codes().clone(), &s.column::<f64>("price")?));
                rows.group_by_key(&rows.map(|x| x.0))
            };
            let of_group0 = groups.map_segments(|x| x.len());
            let of_group1 = groups.map_segments(|x| x.map(|x| x.1).min());
            let of_group2 = groups.map_segments(|x| x.map(|x| x.1).max());
            zip((&keys, &of_group0, &of_group1, &of_group2))
        }.force()?;
        let texts1 = s.texts("symbol")?;
        let rows: Vec<_> = rows.iter().map(|row| (texts1.labels().get(row.0).unwrap_or_default(), row.1, row.2, row.3)).collect();
        println!("{:?}", rows);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p241 {
    // let s = load "examples/data/stocks.csv"
    // let g = s.group_by(_.symbol).agg(n = _.len(), low = _.price.min())
    // g.sort_by(_.low)
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let g = {
            let (keys, groups) = {
                let rows = zip((&s.texts("symbol")?.codes().clone(), &s.column::<f64>("price")?));
                rows.group_by_key(&rows.map(|x| x.0))
            };
            let of_group0 = groups.map_segments(|x| x.len());
            let of_group1 = groups.map_segments(|x| x.map(|x| x.1).min());
            zip((&keys, &of_group0, &of_group1))
        };
        let rows = g.sort_by_key(&g.map(|x| x.2)).force()?;
        let texts1 = s.texts("symbol")?;
        let rows: Vec<_> = rows.iter().map(|row| (texts1.labels().get(row.0).unwrap_or_default(), row.1, row.2)).collect();
        println!("{:?}", rows);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p242 {
    // let s = load "examples/data/stocks.csv"
    // let g = s.group_by(_.symbol).agg(n = _.len(), low = _.price.min())
    // (g.n.max(), g.filter(_.low < 20).low)
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let g = {
            let (keys, groups) = {
                let rows = zip((&s.texts("symbol")?.codes().clone(), &s.column::<f64>("price")?));
                rows.group_by_key(&rows.map(|x| x.0))
            };
            let of_group0 = groups.map_segments(|x| x.len());
            let of_group1 = groups.map_segments(|x| x.map(|x| x.1).min());
            zip((&keys, &of_group0, &of_group1))
        };
        let value = (g.map(|x| x.1).max(), g.filter(|x| x.2.lt(20.0)).map(|x| x.2).clone());
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p243 {
    // let s = load "examples/data/stocks.csv"
    // (s.len(), s.filter(_.price > 500).len(), s.map(|r| r.price * 2).max())
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let value = (
            s.column::<f64>("price")?.len(),
            s.column::<f64>("price")?.filter(|x| x.gt(500.0)).len(),
            s.column::<f64>("price")?.map(|r| r * 2.0).max(),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p244 {
    // let s = load "examples/data/stocks.csv"
    // s.filter(_.price > 650).symbol
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let value = s.texts("symbol")?
            .with_codes(&zip((&s.texts("symbol")?.codes().clone(), &s.column::<f64>("price")?)).filter(|x| x.1.gt(650.0)).map(|x| x.0))
            .to_vec()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p245 {
    // let s = load "examples/data/stocks.csv"
    // s.sort_by(_.price).take(3).map(|r| r.price)
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let value = {
            let rows = s.column::<f64>("price")?;
            rows.sort_by_key(&rows.map(|x| x))
        }
            .take(3)
            .map(|r| r)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p246 {
    // let s = load "examples/data/stocks.csv"
    // s.sort_by(_.symbol).price.head()
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let value = {
            let rows = zip((&s.texts("symbol")?.codes().clone(), &s.column::<f64>("price")?));
            rows.sort_by_key(&rows.map(|x| x.0))
        }
            .map(|x| x.1)
            .take(5)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p247 {
    // let t = load "examples/data/airports.csv"
    // t.group_by(_.state).agg(n = _.len(), north = _.latitude.max()).sort_by(-_.n).take(3)
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let t = livefusion::io::csv("examples/data/airports.csv").read()?;
        let rows = {
            let rows = {
                let (keys, groups) = {
                    let rows = zip((&t.texts("state")?.codes().clone(), &t.column::<f64>("latitude")?));
                    rows.group_by_key(&rows.map(|x| x.0))
                };
                let of_group0 = groups.map_segments(|x| x.len());
                let of_group1 = groups.map_segments(|x| x.map(|x| x.1).max());
                zip((&keys, &of_group0, &of_group1))
            };
            rows.sort_by_key(&rows.map(|x| -x.1))
        }.take(3).force()?;
        let texts1 = t.texts("state")?;
        let rows: Vec<_> = rows.iter().map(|row| (texts1.labels().get(row.0).unwrap_or_default(), row.1, row.2)).collect();
        println!("{:?}", rows);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p248 {
    // let t = load "examples/data/airports.csv"
    // t.filter(_.latitude > 60).map(|r| (r.longitude, r.latitude)).head()
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let t = livefusion::io::csv("examples/data/airports.csv").read()?;
        let value = zip((&t.column::<f64>("latitude")?, &t.column::<f64>("longitude")?))
            .filter(|x| x.0.gt(60.0))
            .map(|r| (r.1, r.0))
            .take(5)
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p249 {
    // let s = load "examples/data/stocks.csv"
    // s.map(_.symbol)
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let value = s.texts("symbol")?
            .with_codes(&s.texts("symbol")?.codes().clone().map(|x| x))
            .to_vec()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p250 {
    // let s = load "examples/data/stocks.csv"
    // (s[s.symbol == "IBM"].price.max(), s[s.price > 500].len())
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let value = (
            zip((&s.texts("symbol")?.codes().clone(), &s.column::<f64>("price")?)).pack(&s.texts("symbol")?.eq("IBM")).map(|x| x.1).max(),
            zip((&s.texts("symbol")?.codes().clone(), &s.column::<f64>("price")?)).pack(&s.column::<f64>("price")?.map(|x| x.gt(500.0))).len(),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p251 {
    // let s = load "examples/data/stocks.csv"
    // s[s.price > 500].group_by(_.symbol).agg(n = _.len(), top = _.price.max())
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let rows = {
            let (keys, groups) = {
                let rows = zip((&s.texts("symbol")?.codes().clone(), &s.column::<f64>("price")?)).pack(&s.column::<f64>("price")?.map(|x| x.gt(500.0)));
                rows.group_by_key(&rows.map(|x| x.0))
            };
            let of_group0 = groups.map_segments(|x| x.len());
            let of_group1 = groups.map_segments(|x| x.map(|x| x.1).max());
            zip((&keys, &of_group0, &of_group1))
        }.force()?;
        let texts1 = s.texts("symbol")?;
        let rows: Vec<_> = rows.iter().map(|row| (texts1.labels().get(row.0).unwrap_or_default(), row.1, row.2)).collect();
        println!("{:?}", rows);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p252 {
    // let u = load "examples/data/states.csv"
    // u.square_miles.sort().take(2)
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let u = livefusion::io::csv("examples/data/states.csv").read()?;
        println!("{:?}", u.column::<i64>("square_miles")?.sort().take(2).force()?);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p253 {
    // let s = load "examples/data/stocks.csv"
    // let rows = 2.0
    // s.sort_by(_.price * rows).take(2).price * rows
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let value = (&{
            let rows_ = s.column::<f64>("price")?;
            rows_.sort_by_key(&rows_.map(|x| x * 2.0))
        }.take(2) * 2.0).force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p254 {
    // let s = load "examples/data/stocks.csv"
    // s.group_by(|r| (r.symbol, r.price > 100)).agg(n = _.len())
    use livefusion::prelude::*;

    fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
        let s = livefusion::io::csv("examples/data/stocks.csv").read()?;
        let rows = {
            let (keys, groups) = {
                let rows = zip((&s.texts("symbol")?.codes().clone(), &s.column::<f64>("price")?));
                rows.group_by_key(&rows.map(|r| (r.0, r.1.gt(100.0))))
            };
            let (keys0, keys1) = keys.unzip();
            let of_group0 = groups.map_segments(|x| x.len());
            zip((&keys0, &keys1, &of_group0))
        }.force()?;
        let texts1 = s.texts("symbol")?;
        let rows: Vec<_> = rows.iter().map(|row| (texts1.labels().get(row.0).unwrap_or_default(), row.1, row.2)).collect();
        println!("{:?}", rows);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p255 {
    // [[1, 2], [3, 4]].map_rows(|r| (r.sum(), r.max()))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([[1i64, 2], [3, 4]]).map_rows(|r| (r.sum(), r.max()));
        println!("{:?}", (value.0.force()?, value.1.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p256 {
    // [[3.0, 1.0], [2.0, 4.0]].map_rows(|r| r.sort() / r.max())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([[3.0f64, 1.0], [2.0, 4.0]])
            .map_rows(|r| r.sort() / r.max())
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p257 {
    // [[1, 2, 3], [4, 5, 6]].map_rows(|r| r.map(_ * 2).filter(_ > 4).len())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([[1i64, 2, 3], [4, 5, 6]])
            .map_rows(|r| r.map(|x| x * 2).filter(|x| x.gt(4)).len())
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p258 {
    // [[1, 2, 3], [4, 5, 6]].along(0).map(|c| c.scan(0, |a, b| a + b))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([[1i64, 2, 3], [4, 5, 6]])
            .along(0)
            .map(|c| c.scan(0, |a, b| a + b))
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p259 {
    // [1, 2, 3, 4].map(|x| { let y = x + 1; y * y }).filter(_ % 2 == 0).map(_ as f64).scan(0.0, |a, b| a + b).map(sqrt(_)).sum()
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let value = Array::from([1i64, 2, 3, 4])
            .map(|x| { let y = x + 1; y * y })
            .filter(|x| x.rem_euclid(2).eq(0))
            .map(|x| x.cast::<f64>())
            .scan(0.0, |a, b| a + b)
            .map(|x| x.sqrt())
            .sum()
            .force()?;
        println!("{:?}", value);
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p260 {
    // let m = [[1, 2], [3, 4]]
    // (m.along(0).sum(), m.along(1).product(), m.along(0).min(), m.along(1).max(), m.along(1).mean(), m.along(0).var(), m.along(1).std())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let m = Array::from([[1i64, 2], [3, 4]]);
        let value = (
            m.along(0).sum(),
            m.along(1).product(),
            m.along(0).min(),
            m.along(1).max(),
            m.along(1).mean(),
            m.along(0).var(),
            m.along(1).std(),
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4.force()?,
            value.5.force()?,
            value.6.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p261 {
    // let m = [[1, 2], [3, 0]]
    // (m.along(1).min_index(), m.along(1).max_index(), m.along(1).any(_ > 2), m.along(1).all(_ > 0), m.along(0).count(_ > 1))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let m = Array::from([[1i64, 2], [3, 0]]);
        let value = (
            m.along(1).min_index(),
            m.along(1).max_index(),
            m.along(1).any(|x| x.gt(2)),
            m.along(1).all(|x| x.gt(0)),
            m.along(0).count(|x| x.gt(1)),
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p262 {
    // let m = [[1, 2], [3, 4]]
    // (m.along(1).fold(0, |a, b| a + b), m.along(1).fold_seq(0, |s, x| s * 10 + x), m.along(0).fold1(|a, b| a.max(b)), m.along(1).aggregate(0.0, |s, x| s + x as f64, |a, b| a + b))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let m = Array::from([[1i64, 2], [3, 4]]);
        let value = (
            m.along(1).fold(0, |a, b| a + b),
            m.along(1).fold_seq(0, |s, x| s * 10 + x),
            m.along(0).fold1(|a, b| a.max(b)),
            m.along(1).aggregate(0.0f64, |s, x| s + x.cast::<f64>(), |a, b| a + b),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.force()?, value.3.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p263 {
    // let m = [[1, 2], [3, 4]].along(1)
    // (m.scan(0, |a, b| a + b), m.scan_exclusive(0, |a, b| a + b), m.scan_right(0, |a, b| a + b), m.scan1(|a, b| a.max(b)), m.cumsum(), m.cumprod())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let m = Array::from([[1i64, 2], [3, 4]]).along(1);
        let value = (
            m.scan(0, |a, b| a + b),
            m.scan_exclusive(0, |a, b| a + b),
            m.scan_right(0, |a, b| a + b),
            m.scan1(|a, b| a.max(b)),
            m.cumsum(),
            m.cumprod(),
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4.force()?,
            value.5.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p264 {
    // let r = ragged [[1, 2], [3]]
    // (r.sum(), r.product(), r.min(), r.max(), r.mean(), r.var(), r.min_index(), r.max_index(), r.any(_ > 2), r.all(_ > 1), r.count(_ > 1))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let r = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]]);
        let value = (
            r.sum(),
            r.product(),
            r.min(),
            r.max(),
            r.mean(),
            r.var(),
            r.min_index(),
            r.max_index(),
            r.any(|x| x.gt(2)),
            r.all(|x| x.gt(1)),
            r.count(|x| x.gt(1)),
        );
        println!("{:?}", (
            value.0.force()?,
            value.1.force()?,
            value.2.force()?,
            value.3.force()?,
            value.4.force()?,
            value.5.force()?,
            value.6.force()?,
            value.7.force()?,
            value.8.force()?,
            value.9.force()?,
            value.10.force()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p265 {
    // let r = ragged [[4, 0, 7], [1, 2]]
    // (r.fold(0, |a, b| a + b), r.fold1(|a, b| a.max(b)), r.fold_seq(0, |n, d| n * 10 + d), r.aggregate(0.0, |s, x| s + x as f64, |a, b| a + b))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let r = Segmented::from_vecs(vec![vec![4i64, 0, 7], vec![1, 2]]);
        let value = (
            r.fold(0, |a, b| a + b),
            r.fold1(|a, b| a.max(b)),
            r.fold_seq(0, |n, d| n * 10 + d),
            r.aggregate(0.0f64, |s, x| s + x.cast::<f64>(), |a, b| a + b),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.force()?, value.3.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p266 {
    // let r = ragged [[1, 2], [3]]
    // (r.scan(0, |a, b| a + b), r.scan_exclusive(0, |a, b| a + b), r.scan_seq(0, |s, x| s * 10 + x), r.scan_right(0, |a, b| a + b), r.cummax())
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let r = Segmented::from_vecs(vec![vec![1i64, 2], vec![3]]);
        let value = (
            r.scan(0, |a, b| a + b),
            r.scan_exclusive(0, |a, b| a + b),
            r.scan_seq(0, |s, x| s * 10 + x),
            r.scan_right(0, |a, b| a + b),
            r.cummax(),
        );
        println!("{:?}", (
            value.0.to_vecs()?,
            value.1.to_vecs()?,
            value.2.to_vecs()?,
            value.3.to_vecs()?,
            value.4.to_vecs()?,
        ));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

#[allow(warnings, clippy::all)]
mod p267 {
    // let m = generate((2, 3, 2), |(i, j, k)| i * j + k)
    // (m.along((0, 2)).sum(), m.sum(axis = (1, 2)), [[true, false], [true, true]].along(0).sum(), [[true, false]].sum(axis = 1))
    use livefusion::prelude::*;

    fn main() -> livefusion::Result<()> {
        let m = generate((2, 3, 2), |(i, j, k)| i.cast::<i64>() * j.cast::<i64>() + k.cast::<i64>());
        let value = (
            m.along([0, 2]).sum(),
            m.along([1, 2]).sum(),
            Array::from([[true, false], [true, true]]).map(|x| x.cast::<i64>()).along(0).sum(),
            Array::from([[true, false]]).map(|x| x.cast::<i64>()).along(1).sum(),
        );
        println!("{:?}", (value.0.force()?, value.1.force()?, value.2.force()?, value.3.force()?));
        Ok(())
    }

    pub fn run() { main().expect("no mistake") }
}

pub const ALL: &[fn()] = &[
    p0::run,
    p1::run,
    p2::run,
    p3::run,
    p4::run,
    p5::run,
    p6::run,
    p7::run,
    p8::run,
    p9::run,
    p10::run,
    p11::run,
    p12::run,
    p13::run,
    p14::run,
    p15::run,
    p16::run,
    p17::run,
    p18::run,
    p19::run,
    p20::run,
    p21::run,
    p22::run,
    p23::run,
    p24::run,
    p25::run,
    p26::run,
    p27::run,
    p28::run,
    p29::run,
    p30::run,
    p31::run,
    p32::run,
    p33::run,
    p34::run,
    p35::run,
    p36::run,
    p37::run,
    p38::run,
    p39::run,
    p40::run,
    p41::run,
    p42::run,
    p43::run,
    p44::run,
    p45::run,
    p46::run,
    p47::run,
    p48::run,
    p49::run,
    p50::run,
    p51::run,
    p52::run,
    p53::run,
    p54::run,
    p55::run,
    p56::run,
    p57::run,
    p58::run,
    p59::run,
    p60::run,
    p61::run,
    p62::run,
    p63::run,
    p64::run,
    p65::run,
    p66::run,
    p67::run,
    p68::run,
    p69::run,
    p70::run,
    p71::run,
    p72::run,
    p73::run,
    p74::run,
    p75::run,
    p76::run,
    p77::run,
    p78::run,
    p79::run,
    p80::run,
    p81::run,
    p82::run,
    p83::run,
    p84::run,
    p85::run,
    p86::run,
    p87::run,
    p88::run,
    p89::run,
    p90::run,
    p91::run,
    p92::run,
    p93::run,
    p94::run,
    p95::run,
    p96::run,
    p97::run,
    p98::run,
    p99::run,
    p100::run,
    p101::run,
    p102::run,
    p103::run,
    p104::run,
    p105::run,
    p106::run,
    p107::run,
    p108::run,
    p109::run,
    p110::run,
    p111::run,
    p112::run,
    p113::run,
    p114::run,
    p115::run,
    p116::run,
    p117::run,
    p118::run,
    p119::run,
    p120::run,
    p121::run,
    p122::run,
    p123::run,
    p124::run,
    p125::run,
    p126::run,
    p127::run,
    p128::run,
    p129::run,
    p130::run,
    p131::run,
    p132::run,
    p133::run,
    p134::run,
    p135::run,
    p136::run,
    p137::run,
    p138::run,
    p139::run,
    p140::run,
    p141::run,
    p142::run,
    p143::run,
    p144::run,
    p145::run,
    p146::run,
    p147::run,
    p148::run,
    p149::run,
    p150::run,
    p151::run,
    p152::run,
    p153::run,
    p154::run,
    p155::run,
    p156::run,
    p157::run,
    p158::run,
    p159::run,
    p160::run,
    p161::run,
    p162::run,
    p163::run,
    p164::run,
    p165::run,
    p166::run,
    p167::run,
    p168::run,
    p169::run,
    p170::run,
    p171::run,
    p172::run,
    p173::run,
    p174::run,
    p175::run,
    p176::run,
    p177::run,
    p178::run,
    p179::run,
    p180::run,
    p181::run,
    p182::run,
    p183::run,
    p184::run,
    p185::run,
    p186::run,
    p187::run,
    p188::run,
    p189::run,
    p190::run,
    p191::run,
    p192::run,
    p193::run,
    p194::run,
    p195::run,
    p196::run,
    p197::run,
    p198::run,
    p199::run,
    p200::run,
    p201::run,
    p202::run,
    p203::run,
    p204::run,
    p205::run,
    p206::run,
    p207::run,
    p208::run,
    p209::run,
    p210::run,
    p211::run,
    p212::run,
    p213::run,
    p214::run,
    p215::run,
    p216::run,
    p217::run,
    p218::run,
    p219::run,
    p220::run,
    p221::run,
    p222::run,
    p223::run,
    p224::run,
    p225::run,
    p226::run,
    p227::run,
    p228::run,
    p229::run,
    p230::run,
    p231::run,
    p232::run,
    p233::run,
    p234::run,
    p235::run,
    p236::run,
    p237::run,
    p238::run,
    p239::run,
    p240::run,
    p241::run,
    p242::run,
    p243::run,
    p244::run,
    p245::run,
    p246::run,
    p247::run,
    p248::run,
    p249::run,
    p250::run,
    p251::run,
    p252::run,
    p253::run,
    p254::run,
    p255::run,
    p256::run,
    p257::run,
    p258::run,
    p259::run,
    p260::run,
    p261::run,
    p262::run,
    p263::run,
    p264::run,
    p265::run,
    p266::run,
    p267::run,
];
