//! Golden loops: programs before and after optimisation.
//!
//! `LOOP_BLESS=1 cargo test -p livefusion` rewrites the golden files.

use crate::common::golden;
use livefusion::ast::{BodyBuilder, Builder, Value};
use livefusion::prelude::*;
use livefusion::runtime::force_nodes;
use livefusion::{Clustering, stages};
use loop_lang::verify::verify;
use loop_lang::{Const, Op, Ty};

/// The text of every loop of a program, lowered and optimised.
fn loops(program: &(impl Force + ?Sized)) -> Vec<String> {
    loops_of(stages::graph(program).expect("graph"))
}

fn loops_of(graph: stages::Graph) -> Vec<String> {
    let plan = graph.plan(Clustering::default());
    let mut loops = plan.lower().expect("lowered");
    let all_verify =
        |l: &stages::Loops| l.iter().for_each(|l| verify(&l.program).expect("verifies"));
    all_verify(&loops);
    loops.optimize();
    all_verify(&loops);
    loops.iter().map(|l| l.program.to_string()).collect()
}

fn one_loop(name: &str, program: &(impl Force + ?Sized)) {
    let loops = loops(program);
    assert_eq!(loops.len(), 1, "{}", loops.join("\n"));
    golden(name, &loops[0]);
}

fn floats() -> Array<f64> {
    vec![0.5, 0.001, 0.25].into()
}

fn ints() -> Array<i64> {
    vec![3i64, -2, 7].into()
}

#[test]
fn to_percentages() {
    let percents = floats().filter(|x| x.ge(0.01)).map(|x| x * 100.0);
    one_loop("to_percentages.loop", &percents);
}

#[test]
fn filter_max() {
    let ys = ints().map(|x| x + 1);
    let kept = ys.filter(|y| y.gt(0));
    let most = kept.fold(i64::MIN, |a, b| a.max(b));
    let running = ys.scan(i64::MIN, |a, b| a.max(b));
    one_loop("filter_max.loop", &(&kept, &most, &running));
}

#[test]
fn dot_product() {
    let (xs, ys) = (floats(), floats());
    let dot = zip((&xs, &ys)).map(|(x, y)| x * y).sum();
    one_loop("dot_product.loop", &dot);
}

#[test]
fn map_map() {
    let xs = ints();
    let ys = xs.map(|x| x + 1);
    let zs = ys.map(|y| y * 2);
    one_loop("map_map.loop", &(&ys, &zs));
}

#[test]
fn filter_sum() {
    let kept = ints().filter(|x| x.gt(0));
    one_loop("filter_sum.loop", &(&kept, &kept.sum()));
}

#[test]
fn nested_filter() {
    let outer = ints().filter(|x| x.gt(0));
    let inner = outer.filter(|x| x.lt(5));
    one_loop("nested_filter.loop", &(&outer, &inner));
}

#[test]
fn every_kind_of_group() {
    let xs = floats();
    let kept = xs.filter(|x| x.gt(0.0));
    let results = (
        xs.scan_exclusive(0.0, |a, b| a + b),
        kept.scan(0.0, |a, b| a + b),
        xs.fold_seq(0.0, |a, b| a * 0.5 + b),
        kept.min_index(),
        xs.mean(),
    );
    one_loop("every_kind_of_group.loop", &results);
}

#[test]
fn results_of_folds_separate_loops() {
    let xs = floats();
    let total = xs.sum();
    let shares = xs.map(|x| x / &total);
    assert_eq!(loops(&shares).len(), 2);
    let gathered = xs.map(|x| x.exp()).gather(&Array::from(vec![0u64, 2]));
    assert_eq!(loops(&gathered).len(), 2);
}

#[test]
fn index_functions_are_computed_where_they_are_read() {
    let ys = floats().map(|x| x * 2.0);
    let back = ys.reverse().map(|y| y + 1.0);
    one_loop("reverse_of_map.loop", &back);
    let both = ys.zip_with(&ys.reverse(), |x, y| x - y);
    one_loop("beside_its_reverse.loop", &both);
    let chosen = ints().map(|x| 10 / x).gather(&Array::from(vec![0u64, 2]));
    let chosen = chosen.map(|x| x + 1).slice(1..2);
    assert_eq!(loops(&chosen).len(), 2);
    let sampled = generate(2, |i| ints().map(|x| 10 / x).at(i + 1));
    one_loop("checked_index_of_map.loop", &sampled);
}

/// Any name of a combinator works: its loop verifies, parses and runs on all backends. Errors and
/// reports keep the name unchanged.
#[test]
fn any_name_goes_through() {
    let names = [
        "two words",
        "",
        "a\nb",
        "\"",
        "'",
        "@",
        "*/",
        "/*",
        "//",
        "\\",
        "\\\n",
        "??/",
        "#if 1",
        "%s",
        "7",
        "-inf",
        "r0",
        "at",
        "manifest",
        "return",
        "gr\u{f6}\u{df}e",
        "\u{1f980}",
        "\0",
        "\u{7f}",
        "<b>&",
        "${x}",
        "];",
        "int main(){",
    ];
    let engines = [Engine::interp(), Engine::c(), Engine::jit()];
    let (xs, zeros) = (Array::from(vec![3u64, 2, 7]), Array::from(vec![0u64]));
    for name in names {
        let rest_of_three = |of: &Array<u64>| {
            let mut b = BodyBuilder::new(&[Ty::U64]);
            let (x, three) = (b.param(0), b.lit(Const::u64(3)));
            let rest = b.op(Op::Rem, &[three, x]);
            Builder::named(name).map(std::slice::from_ref(of.node()), b.finish(&[rest]))
        };
        let (rests, traps) = ([rest_of_three(&xs)], [rest_of_three(&zeros)]);
        for text in loops_of(stages::graph_of(&rests).expect("graph")) {
            let again = loop_lang::parse::parse(&text).expect("it parses");
            assert_eq!(again.to_string(), text);
        }
        for engine in &engines {
            let explained = engine.explain(&rests).expect(name);
            assert!(explained.calls().iter().any(|c| c.name == name));
            let _ = (explained.to_string(), explained.dot(), explained.svg());
            match &force_nodes(engine, &rests).expect(name)[0] {
                Value::Array(fields) => assert_eq!(fields[0].as_slice(), Some(&[0u64, 1, 3][..])),
                Value::Scalar(_) => panic!("an array became a scalar"),
            }
            let error = force_nodes(engine, &traps).unwrap_err();
            assert_eq!(error.combinator, name);
        }
    }
}
