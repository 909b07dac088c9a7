//! Reports and pictures: golden texts and invariants.
//! `LOOP_BLESS=1 cargo test -p livefusion --test all explain::` rewrites the golden files.

use livefusion::ast::{BodyBuilder, Builder, Node};
use livefusion::prelude::*;
use livefusion::runtime::{Explanation, Place, Role};
use loop_lang::{Const, Op, Ty};
use std::sync::Arc;

fn golden(name: &str, got: &str) {
    let path = format!("{}/tests/golden/explain/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("LOOP_BLESS").is_some() {
        std::fs::write(&path, got).expect("golden file");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(got, expected, "{path} differs; LOOP_BLESS=1 writes it anew");
}

fn floats() -> Array<f64> {
    vec![0.5, 0.001, 0.25].into()
}

fn explain(roots: &[Arc<Node>]) -> Explanation {
    Engine::interp().explain(roots).expect("it can be planned")
}

/// A filter that is also scanned, a mean, and shares of a total: rates, counters, several loops.
fn shares() -> Explanation {
    let xs = floats();
    let kept = xs.filter(|x| x.gt(0.01));
    let running = kept.scan(0.0, |a, b| a + b);
    let total = kept.sum();
    let shares = kept.map(|x| x / &total);
    let picked = shares.gather(&iota(2));
    let roots = [running.node(), xs.mean().node(), picked.node()].map(Arc::clone);
    explain(&roots)
}

#[test]
fn the_report_of_several_loops() {
    golden("shares.txt", &shares().to_string());
}

#[test]
fn the_pictures_of_several_loops() {
    let explained = shares();
    golden("shares.dot", &explained.dot());
    golden("shares.svg", &explained.svg());
}

/// Softmax of segments: an inner loop, counters at their rates, and recomputed values.
fn softmax() -> Explanation {
    let lengths = Array::from(vec![2u64, 0, 3]);
    let rows = Segmented::new(&lengths, &Array::from(vec![1.0f64, 2.0, 3.0, 4.0, 5.0]));
    let most = rows.max();
    let shifted = rows.zip_with_each(&most, |x, most| (x - most).exp());
    let total = shifted.sum();
    let shares = shifted.zip_with_each(&total, |x, total| x / total);
    explain(&[shares.data().node().clone()])
}

#[test]
fn the_report_of_segments() {
    golden("softmax.txt", &softmax().to_string());
}

#[test]
fn the_picture_of_segments() {
    golden("softmax.svg", &softmax().svg());
}

/// Arrays that are inlined into their readers: no intermediate array.
#[test]
fn the_report_of_inlined_arrays() {
    let xs = floats();
    let squares = xs.map(|x| x * x);
    let seen = squares.reverse().map(|x| x + 1.0);
    golden("inlined.txt", &explain(&[seen.node().clone()]).to_string());
}

#[test]
fn the_report_of_a_sequential_loop() {
    let xs = floats();
    let last = xs.fold_seq(0.0, |a, x| a * 0.5 + x);
    golden(
        "sequential.txt",
        &explain(&[last.node().clone()]).to_string(),
    );
}

#[test]
fn the_report_of_unfused_loops() {
    let engine = Engine::builder()
        .backend(Arc::new(livefusion_interp::InterpBackend::new()))
        .clustering(livefusion::Clustering::Unfused)
        .build();
    let total = floats().map(|x| x + 1.0).filter(|x| x.gt(1.1)).sum();
    let explained = total.explain_with(&engine).expect("explained");
    assert_eq!(explained.traffic, explained.unfused);
    golden("unfused.txt", &explained.to_string());
}

/// Folds and scans of rows, and a fold of row folds, with applied and rejected rewrites.
#[test]
fn the_report_of_rewrites() {
    let m = Array::from_vec((2, 3), vec![4i64, 0, 7, 1, 2, 3]);
    let rows = m.along(1).sum();
    let all = rows.sum();
    let columns = m.along(0).sum();
    let last = m.along(0).fold1(|_, b| b);
    let running = m.along(0).cumsum();
    let roots = [
        rows.node(),
        all.node(),
        columns.node(),
        last.node(),
        running.node(),
    ];
    golden("rewrites.txt", &explain(&roots.map(Arc::clone)).to_string());
}

/// A fold of row folds: one root, and no nested loop.
#[test]
fn the_report_of_a_flattened_fold() {
    let m = Array::from_vec((2, 3), vec![4i64, 0, 7, 1, 2, 3]);
    let most = m.map(|x| x * x).along(1).max().max();
    golden("red_flat.txt", &explain(&[most.node().clone()]).to_string());
}

/// Panics if tags do not match.
fn well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for (at, tag) in svg.split('<').enumerate().skip(1) {
        let (tag, text) = tag.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "{text}");
        let name = tag
            .split([' ', '/'])
            .find(|s| !s.is_empty())
            .expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "tag {at}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn svg_is_well_formed() {
    well_formed(&shares().svg());
    well_formed(&explain(&[]).svg());
}

/// Two parts of a call with another call between them: one drawn box would span both sides.
#[test]
fn calls_are_not_joined_around_others() {
    let call = Builder::named("both");
    let mut plus_one = BodyBuilder::new(&[Ty::F64]);
    let (x, one) = (plus_one.param(0), plus_one.lit(Const::f64(1.0)));
    let y = plus_one.op(Op::Add, &[x, one]);
    let first = call.map(&[floats().node().clone()], plus_one.finish(&[y]));
    let mut test = BodyBuilder::new(&[Ty::F64]);
    let (x, zero) = (test.param(0), test.lit(Const::f64(0.0)));
    let is_positive = test.op(Op::Gt, &[x, zero]);
    let tags =
        Builder::named("other").map(std::slice::from_ref(&first), test.finish(&[is_positive]));
    let explained = explain(&[call.pack(&first, &tags)]);
    let names: Vec<&str> = explained.calls().iter().map(|c| c.name).collect();
    assert_eq!(names, ["manifest", "both", "other", "both"]);
    assert_eq!(explained.svg().matches("marker-end").count(), 4);
}

#[test]
fn one_loop_moves_each_array_once() {
    let xs = floats();
    let ys = xs.map(|x| x + 1.0);
    let zs = ys.map(|y| y * 2.0);
    let explained = explain(&[ys.node().clone(), zs.sum().node().clone()]);
    assert_eq!(explained.loops.len(), 1);
    let moved = explained.traffic;
    assert_eq!((moved.reads.known, moved.reads.exact), (24, true));
    assert_eq!((moved.writes.known, moved.writes.exact), (24 + 8, true));
    // Three loops read 24 bytes each; the first two write 24, the last one 8.
    assert_eq!(
        (
            explained.unfused.reads.known,
            explained.unfused.writes.known
        ),
        (72, 56)
    );
}

#[test]
fn a_program_of_one_combinator_is_as_it_is_unfused() {
    let explained = explain(&[floats().map(|x| x + 1.0).node().clone()]);
    assert_eq!(explained.traffic, explained.unfused);
}

#[test]
fn explain_bounds_the_length_of_a_filter() {
    let kept = floats().filter(|x| x.gt(0.1));
    let explained = explain(&[kept.map(|x| x * 2.0).node().clone()]);
    let writes = explained.traffic.writes;
    assert_eq!(
        (writes.known, writes.exact, writes.per_element),
        (24, false, 0)
    );
}

#[test]
fn explain_counts_per_element_where_lengths_are_unknown() {
    let n = floats().map(|x| x.cast::<u64>()).sum();
    let explained = explain(&[replicate(n, 1.0f64).node().clone()]);
    let writes = explained.traffic.writes;
    assert_eq!((writes.known, writes.per_element), (8, 8), "{explained}");
}

#[test]
fn a_field_that_nobody_wants_moves_nothing() {
    let pairs = zip((&floats(), &floats())).map(|(x, y)| (x + 1.0, y * 2.0));
    let (left, _) = pairs.unzip();
    let explained = explain(&[left.node().clone()]);
    assert_eq!(explained.traffic.reads.known, 24);
    assert_eq!(explained.traffic.writes.known, 24);
}

#[test]
fn a_call_of_several_nodes_is_one() {
    let explained = explain(&[floats().mean().node().clone()]);
    let computed = |p| matches!(p, Place::Loop(_));
    let names: Vec<&str> = explained
        .calls()
        .iter()
        .filter(|c| computed(c.place))
        .map(|c| c.name)
        .collect();
    assert_eq!(names, ["mean"]);
    assert_eq!(
        explained.to_string().matches("mean").count(),
        2,
        "{explained}"
    );
}

#[test]
fn calls_on_one_line_are_several() {
    let mut xs = floats();
    for _ in 0..3 {
        xs = xs.map(|x| x + 1.0).filter(|x| x.gt(0.0));
    }
    let explained = explain(&[xs.node().clone()]);
    assert_eq!(explained.calls().len(), 1 + 6, "{explained}");
    assert_eq!(explained.flows().len(), 6);
}

#[test]
fn explain_shows_a_forced_array_as_an_input() {
    let xs = floats().map(|x| x + 1.0);
    xs.force_with(&Engine::interp()).expect("forced");
    assert_eq!(explain(&[xs.node().clone()]).loops.len(), 0);
    let explained = explain(&[xs.sum().node().clone()]);
    assert_eq!(explained.calls()[0].place, Place::Input);
    assert_eq!(explained.calls()[0].name, "map");
}

/// A program with a literal in each role, and the list of literals that are part of the code.
fn with_literals(k: u32) -> (Array<i64>, Array<f64>) {
    let k = |at: u32| i64::from(k == at);
    let xs = Array::from(vec![40i64, 30, 20]);
    let by = Array::scalar(5 + k(9));
    let ints = xs.map(|x| (x / (3 + k(0)) + x % (7 + k(1))) << (1 + k(2)));
    let ints = ints.map(|x| iterate(2 + k(3) as u64, x, |x| x + 1) + x / &by + (4 + k(8)));
    let sums = ints.scan(0, |a, b| (a + b) * (5 + k(4)));
    let powers = floats().map(|x| x.powi(3 + k(5) as i32) + x.powi(-2 - k(6) as i32));
    (sums, powers.map(|x| x / (2.0 + k(7) as f64)))
}

/// Only literals that `explain` lists as part of the code cause recompilation when they change.
#[test]
fn literals_that_compile_anew_are_named() {
    let engine = Engine::interp();
    let seen = |k: u32| {
        let (sums, powers) = with_literals(k);
        let explained = (&sums, &powers).explain_with(&engine).expect("explained");
        let literals = explained.literals.iter();
        let shown = literals.map(|l| (l.role, l.value.bits));
        (explained.to_string(), shown.collect::<Vec<_>>())
    };
    let (report, first) = seen(u32::MAX);
    use Role::{Divisor, Exponent, Operand, Shift};
    let want = [
        (Divisor, 3),
        (Divisor, 7),
        (Shift, 1),
        (Operand, 2),
        (Operand, 5),
        (Exponent, 3),
    ];
    for literal in want {
        assert!(first.contains(&literal), "{literal:?} in {first:?}");
    }
    assert_eq!(first.len(), want.len(), "{first:?}");
    let (_, list) = report.split_once("part of the code").expect("a list");
    assert!(list.contains("    divisor 3 in `map` at tests/explain.rs:"));
    for k in 0..10 {
        let before = engine.counters().programs;
        let (_, literals) = seen(k);
        let is_named = literals != first;
        assert_eq!(is_named, k <= 5, "{k}");
        let compiled = engine.counters().programs - before;
        assert_eq!(compiled, u64::from(is_named), "{k}");
    }
    assert!(
        !explain(&[floats().sum().node().clone()])
            .to_string()
            .contains("anew")
    );
}

#[test]
fn explaining_is_neither_hit_nor_miss() {
    let engine = Engine::interp();
    let total = floats().sum();
    total.explain_with(&engine).expect("explained");
    let before = engine.counters();
    assert_eq!((before.hits, before.misses), (0, 0));
    total.force_with(&engine).expect("forced");
    assert_eq!((engine.counters().hits, engine.counters().misses), (1, 0));
}

#[test]
fn deep_graphs_are_reported_and_drawn() {
    let mut xs = floats();
    for _ in 0..1200 {
        xs = xs.filter(|x| x.gt(0.0));
    }
    let explained = explain(&[xs.node().clone()]);
    assert!(explained.to_string().lines().count() > 2400);
    assert_eq!(explained.dot().matches(" -> ").count(), 1200);
    assert_eq!(explained.svg().matches("marker-end").count(), 1200);
}

#[test]
fn graphs_that_are_too_large_are_not_drawn() {
    let mut sums = vec![floats()];
    for k in 0..400 {
        sums.push(sums[k].map(|x| x + 1.0));
    }
    let last = sums[1..].iter().fold(sums[400].clone(), |a, b| a + b);
    let svg = explain(&[last.node().clone()]).svg();
    assert!(svg.contains("too large to draw: 801 nodes"), "{svg}");
    well_formed(&svg);
}

/// Expressions of literals are constant-folded: no loop computes them, no kernel is called.
#[test]
fn literals_need_no_loop() {
    let two = Array::scalar(2.0f64);
    let six = two.map(|x| x * 3.0);
    let sum = six + &two;
    let explained = explain(&[two.node().clone(), sum.node().clone()]);
    assert!(explained.loops.is_empty(), "{explained}");
    let scaled = floats().map(|x| x * &sum).sum();
    assert_eq!(explain(&[scaled.node().clone()]).loops.len(), 1);
    assert_eq!(sum.force().expect("a value"), 8.0);
    // A trapping expression still traps at the force.
    let divided = Array::scalar(1i64) / Array::scalar(0i64);
    assert!(divided.force().is_err());
}

/// Loops over arrays, with one in the step: the report of hoisted parts and of each step.
#[test]
fn the_report_of_loops_over_arrays() -> Result<(), livefusion::Error> {
    let heat = |rows: &Array<f64, Ix2>, weights: &Array<f64>| {
        iterate_n(3, rows, |rows| {
            let total = weights.sum();
            let near = rows.stencil2(Boundary::Clamp, |[[a, b, c]]| a + b + c);
            iterate_n(2, &near, |rows| {
                rows.along(1).cumsum().map(|x| x / total.value())
            })
        })
    };
    let engine = Engine::interp();
    let (rows, weights) = (Array::from([[1.0f64, 2.0], [3.0, 4.0]]), floats());
    let ended = heat(&rows, &weights).map(|x| x * 2.0).flatten().sum();
    golden("array_loops.txt", &ended.explain_with(&engine)?.to_string());
    // Nothing has run.
    assert_eq!(engine.counters().misses, 0);
    assert!(ended.node().value.get().is_none());
    // The same program, prepared, has the same loops.
    let program = livefusion::prepare::prepare_with(
        &engine,
        |(rows, weights): (Array<f64, Ix2>, Array<f64>)| {
            let start = rows.map(|x| x + 1.0);
            heat(&start, &weights).map(|x| x * 2.0).flatten().sum()
        },
    )?;
    let inputs = (rows, weights);
    let explained = program.explain(&inputs)?.to_string();
    golden("array_loops_prepared.txt", &explained);
    // The calls reuse compiled code, except for code that depends on the lengths of results.
    program.call(&inputs)?;
    assert_eq!(program.explain(&inputs)?.to_string(), explained);
    Ok(())
}

/// Of two scatters onto a state, one runs in place after the reads; the other copies it.
#[test]
fn updates() -> livefusion::Result<()> {
    let engine = Engine::interp();
    let start = Array::from(vec![0u64; 8]);
    let (found, edge) = iterate_n(3u64, (&start, &iota(2).map(|i| i * i)), |(found, edge)| {
        let next = edge.filter(|v| found.at(v).eq(0)).map(|v| (v + 3) % 8);
        (found.scatter(&next, &next), edge.update(0, edge.at(1)))
    });
    golden(
        "updates.txt",
        &(&found, &edge).explain_with(&engine)?.to_string(),
    );
    let (kept, last) = iterate_n(3u64, (&start, &start), |(xs, _)| (xs.update(0, 1), xs));
    golden(
        "updates_copied.txt",
        &(&kept, &last).explain_with(&engine)?.to_string(),
    );
    Ok(())
}

#[test]
fn explain__of_arrays_of_an_earlier_force__names_that_force() -> livefusion::Result<()> {
    let sums = floats().scan(0.0, |a, b| a + b);
    let (_, line) = (sums.force()?, line!());
    let report = sums.map(|x| x * 2.0).explain()?.to_string();
    let kept = format!(
        "\n  scan f64[3] at tests/explain.rs:{}, forced at tests/explain.rs:{line}\n",
        line - 1
    );
    assert!(
        report.contains("\nin memory since an earlier force:\n"),
        "{report}"
    );
    assert!(report.contains(&kept), "{report}");
    // Inputs of a program are no results of a force.
    let report = floats().map(|x| x * 2.0).explain()?.to_string();
    assert!(!report.contains("earlier force"), "{report}");
    Ok(())
}

#[test]
fn explain__of_loops_of_one_call__suggests_no_change_within_it() -> livefusion::Result<()> {
    let keys = Array::from(vec![1u64, 0, 1]);
    let best = Array::from(vec![3.0f64, 2.0, 1.0]).top_k_by_index(&keys, 2, 1);
    let explained = best.data().explain()?;
    let (calls, flows) = (explained.calls(), explained.flows());
    let within = |f: &&livefusion::runtime::Flow| calls[f.from].loc == calls[f.to].loc;
    let crossing: Vec<_> = flows
        .iter()
        .filter(|f| f.reason.is_some())
        .filter(within)
        .collect();
    assert!(!crossing.is_empty(), "{explained}");
    assert!(crossing.iter().all(|f| f.help.is_none()), "{explained}");
    // No line is there twice.
    let text = explained.to_string();
    let between = text.split("\nbetween loops:\n").nth(1).unwrap_or("");
    let ways: Vec<&str> = between.lines().filter(|l| l.contains(" -> ")).collect();
    assert_eq!(
        ways.iter().collect::<std::collections::HashSet<_>>().len(),
        ways.len(),
        "{text}"
    );
    Ok(())
}

/// `explain` names powers that `powi` takes in products. No rewrite does: last bits may differ.
#[test]
fn explain_hints_at_powers_with_whole_exponents() -> livefusion::Result<()> {
    let xs = Array::from(vec![1.5f64, 2.0]);
    let ys = xs.map(|x| x.powf(2.0) + x.powf(0.5) + x.powf(17.0) + x.powi(3));
    let line = line!() - 1;
    let explained = ys.explain_with(&Engine::interp())?;
    let [hint] = &explained.hints[..] else {
        panic!("{:?}", explained.hints);
    };
    assert_eq!(
        (hint.exponent, hint.call, hint.loc.line()),
        (2, "map", line)
    );
    let report = explained.to_string();
    assert!(report.contains("powi(2) takes products"), "{report}");
    Ok(())
}
