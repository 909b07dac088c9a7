//! Reports and pictures of random programs: complete and consistent.

use livefusion::runtime::{Explanation, Place};
use livefusion::{Clustering, Engine};
use livefusion_interp::InterpBackend;
use livefusion_tests::check::check_all;
use livefusion_tests::program::{Options, Program, programs};
use std::sync::Arc;

fn engine(clustering: Clustering) -> Engine {
    Engine::builder()
        .backend(Arc::new(InterpBackend::new()))
        .clustering(clustering)
        .build()
}

fn explained(p: &Program, engine: &Engine) -> Result<Option<Explanation>, String> {
    let graph = p.build();
    // Programs with errors belong to other tests.
    Ok(engine.explain(&graph.roots).ok())
}

fn ensure(holds: bool, what: &str, explained: &Explanation) -> Result<(), String> {
    if holds {
        return Ok(());
    }
    Err(format!("{what}\n{explained}\n{}", explained.dot()))
}

/// Data flows down the schedule, and every edge between loops has a reason.
fn flows_have_reasons(e: &Explanation) -> Result<(), String> {
    for flow in e.flows() {
        let (from, to) = (&e.calls()[flow.from], &e.calls()[flow.to]);
        match (from.place, to.place) {
            (Place::Loop(a), Place::Loop(b)) => {
                ensure(a <= b, "data flows up", e)?;
                let made = |l: usize| from.loops().any(|made| made == l);
                let crosses = !to.loops().all(made);
                let has = flow.reason.is_some();
                ensure(has == crosses, &format!("the reason for {flow:?}"), e)?;
            }
            (Place::Loop(_), Place::Free) => {
                ensure(flow.reason.is_some(), &format!("no reason for {flow:?}"), e)?;
            }
            (_, Place::Input) => ensure(false, "data flows into an input", e)?,
            _ => ensure(flow.reason.is_none(), &format!("a reason for {flow:?}"), e)?,
        }
    }
    Ok(())
}

/// Every call is in the text, and every edge in both pictures.
fn nothing_is_left_out(e: &Explanation) -> Result<(), String> {
    let (text, dot, svg) = (e.to_string(), e.dot(), e.svg());
    for (at, _) in e.loops.iter().enumerate() {
        let header = format!("\nloop_{at}: ");
        ensure(text.contains(&header), "a loop is not in the text", e)?;
    }
    let lines: usize = text
        .lines()
        .filter(|l| l.starts_with("    ") && l.contains(".rs:"))
        .count();
    ensure(
        lines >= e.calls().iter().filter(|c| c.place != Place::Input).count(),
        "a call is missing",
        e,
    )?;
    let n = e.flows().len();
    ensure(
        dot.matches(" -> ").count() == n,
        "a flow is not in the DOT",
        e,
    )?;
    ensure(
        svg.matches("marker-end").count() == n,
        "a flow is not in the SVG",
        e,
    )
}

/// Each location is a line of the user's program, not of the library.
fn places_are_the_users(e: &Explanation) -> Result<(), String> {
    for call in e.calls() {
        let file = call.loc.file();
        let what = format!("`{}` at {file}:{}", call.name, call.loc.line());
        ensure(!file.contains("livefusion/src/"), &what, e)?;
    }
    Ok(())
}

fn check(p: &Program, engine: &Engine) -> Result<(), String> {
    let Some(e) = explained(p, engine)? else {
        return Ok(());
    };
    flows_have_reasons(&e)?;
    nothing_is_left_out(&e)?;
    places_are_the_users(&e)?;
    if engine.clustering() == Clustering::Unfused {
        ensure(e.traffic == e.unfused, "unfused moves something else", &e)?;
    }
    Ok(())
}

fn every_report_is_complete(clustering: Clustering) {
    let engine = engine(clustering);
    check_all(
        programs(250, Options::SMALL),
        |_, p| check(p, &engine),
        |_, _| {},
    );
}

#[test]
fn unfused() {
    every_report_is_complete(Clustering::Unfused);
}

#[test]
fn greedy() {
    every_report_is_complete(Clustering::Greedy);
}

#[test]
fn optimal() {
    every_report_is_complete(Clustering::default());
}

#[test]
fn explain_programs_of_the_catalogue_places_are_the_users() {
    let engine = engine(Clustering::default());
    for program in livefusion_tests::catalog::all() {
        let explained = engine.explain(&program.roots).expect(program.name);
        places_are_the_users(&explained).expect(program.name);
    }
}
