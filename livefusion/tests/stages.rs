//! The stages of programs match those of a force, and print their contents.

use livefusion::prelude::*;
use livefusion::stages::{self, Lowered, Plan};
use livefusion::{CancelToken, Clustering, ErrorKind, Result};

fn planned(program: &(impl Force + ?Sized)) -> Result<Plan> {
    Ok(stages::graph(program)?.plan(Clustering::default()))
}

fn rows() -> Segmented<f64> {
    Segmented::from_vecs(vec![vec![1.0f64, 3.0], vec![], vec![2.0, 2.0, 4.0]])
}

/// Asserts that the loops of the stages equal those of an engine, sizing loops included.
fn same_as_explained(program: &(impl Force + ?Sized)) -> Result<()> {
    for clustering in [
        Clustering::Unfused,
        Clustering::Greedy,
        Clustering::default(),
    ] {
        let mut loops = stages::graph(program)?.plan(clustering).lower()?;
        loops.optimize();
        let engine = Engine::builder()
            .backend(std::sync::Arc::new(livefusion_interp::InterpBackend::new()))
            .clustering(clustering)
            .build();
        let explained = program.explain_with(&engine)?;
        let texts = |l: &Lowered| l.programs().map(|p| p.to_string()).collect::<Vec<_>>();
        let stages: Vec<Vec<String>> = loops.iter().map(texts).collect();
        let engines = explained.loops.iter().map(|l| {
            let all = l.sizing.iter().chain([&l.program]);
            all.map(|p| p.to_string()).collect::<Vec<_>>()
        });
        assert_eq!(stages, engines.collect::<Vec<_>>(), "{clustering}");
        assert_eq!(loops.plan().cost(), explained.cost);
    }
    Ok(())
}

#[test]
fn the_loops_are_those_that_a_force_runs() -> Result<()> {
    let xs = Array::from(vec![0.5f64, 0.001, 0.25]);
    let kept = xs.filter(|x| x.ge(0.01));
    let total = kept.sum();
    same_as_explained(&(&kept.map(|x| x / &total), &total, &xs.cumsum()))?;
    same_as_explained(rows().zip_with_each(&rows().sum(), |x, sum| x / sum).data())?;
    let other = xs.filter(|x| x.lt(0.3));
    same_as_explained(&kept.zip_with(&other, |a, b| a + b))?;
    // A sizing loop counts the elements first.
    same_as_explained(Segmented::replicate(&Array::from(vec![2u64, 0, 1]), &xs).data())
}

#[test]
fn a_loop_that_counts_stands_before_the_one_that_it_counts_for() -> Result<()> {
    let xs = Array::from(vec![0.5f64, 0.001, 0.25]);
    let many = Segmented::replicate(&Array::from(vec![2u64, 0, 1]), &xs);
    let loops = planned(many.data())?.lower()?;
    assert_eq!(loops.len(), 1);
    let text = loops.to_string();
    let starts: Vec<&str> = text.lines().filter(|l| l.starts_with("loop ")).collect();
    assert_eq!(starts, ["loop size_0", "loop loop_0"]);
    let code = loops.code(&Engine::interp())?;
    assert_eq!(code.sources().count(), 2);
    assert!(
        code.to_string()
            .starts_with("size_0: no source from interp\n")
    );
    Ok(())
}

#[test]
fn plans_say_which_rates_there_are() -> Result<()> {
    let xs = Array::from(vec![0.5f64, 0.001, 0.25]);
    let (above, below) = (xs.filter(|x| x.gt(0.1)), xs.filter(|x| x.lt(0.3)));
    let shares = rows().zip_with_each(&rows().sum(), |x, sum| x / sum);
    let pairs = above.zip_with(&below, |a, b| a + b);
    let first = xs.take_while(|x| x.gt(0.1));
    let packed = xs.pack(&xs.map(|x| x.gt(0.2)));
    let back = xs.map(|x| x + 1.0).reverse();
    let text = planned(&(shares.data(), &pairs, &first, &packed, &back))?.to_string();
    for part in [
        "'s segments, of lengths n",
        " that n",
        "in which all sides of n",
        " ends\n",
        "whose tag in n",
        "computed where they are read: n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    Ok(())
}

#[test]
fn graphs_say_what_each_closure_is_for() -> Result<()> {
    let xs = Array::from(vec![0.5f64, 0.001, 0.25]);
    let mean = xs.aggregate(
        (0.0, 0u64),
        |(sum, n), x| (sum + x, n + 1),
        |(s, n), (t, m)| (s + t, n + m),
    );
    let text = stages::graph(&(&mean, &xs.filter(|x| x.gt(0.1)).slice(1..2)))?.to_string();
    for part in [
        "\n  start\n",
        "\n  step\n",
        "\n  join\n",
        "\n  length\n",
        "\n  element\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let forced = xs.map(|x| x * 2.0);
    forced.force()?;
    let text = stages::graph(&forced)?.to_string();
    assert_eq!(text, "n0 = in memory: f64[3]\nresults: n0\n");
    assert!(planned(&forced)?.lower()?.is_empty());
    Ok(())
}

#[test]
fn mistakes_come_out_of_the_first_stage_that_meets_them() {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let error = stages::graph(&xs.zip_with(&xs.take(1), |a, b| a + b)).unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::LengthMismatch { .. }),
        "{error}"
    );
}

#[test]
fn ids_of_other_graphs_are_none() -> Result<()> {
    let xs = Array::from(vec![1.0f64, 2.0]);
    let large = planned(&xs.map(|x| x + 1.0).filter(|x| x.gt(2.0)).sum())?;
    let small = planned(&xs)?;
    let last = large.graph().roots()[0];
    assert!(large.graph().node(last).is_some() && small.graph().node(last).is_none());
    assert_eq!((small.loop_of(last), small.rate_of(last)), (None, None));
    let rate = large.rate_of(last).expect("a rate");
    assert!(large.kind_of(rate).is_some() && small.kind_of(rate).is_none());
    Ok(())
}

/// Neither planning nor compiling stages changes an engine.
#[test]
fn engines_do_not_notice() -> Result<()> {
    let engine = Engine::interp();
    let xs = Array::from(vec![1.0f64, 2.0]).map(|x| x + 1.0);
    let loops = planned(&xs)?.lower()?;
    loops.code(&engine)?;
    let counters = engine.counters();
    assert_eq!(
        (counters.programs, counters.hits, counters.misses),
        (0, 0, 0)
    );
    // Nothing runs, so nothing is cancelled.
    let token = CancelToken::new();
    token.cancel();
    assert!(loops.code(&engine.with_cancel(token)).is_ok());
    Ok(())
}
