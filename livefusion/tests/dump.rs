//! `LIVEFUSION_DUMP` writes the stages of compiled programs.
//!
//! Each child process is this program again, with one of its tests.

use livefusion::ast::Node;
use livefusion::prelude::*;
use livefusion::prepare::prepare_with;
use livefusion::{Clustering, Ix0, stages};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::Arc;

/// The variable that marks a child process and holds its task.
const CHILD: &str = "LIVEFUSION_TEST_CHILD";
const ALL: &str = "ast,graph,plan,loop,schedule,tile,c";

/// The requested schedule of the second loop below.
const ASKED: &str = "loop_1\n  r0 vectorise 4 unroll 8\n  r2 compact\n";

/// A program of two loops.
fn shares() -> Array<f64> {
    let xs = Array::from(vec![0.5f64, 0.001, 0.25]);
    let total = xs.sum();
    xs.map(|x| x / &total).filter(|x| x.ge(0.01))
}

fn forced_shares(engine: &Engine) {
    let forced = shares().force_with(engine).expect("runs");
    assert_eq!(forced[..], [0.5 / 0.751, 0.25 / 0.751]);
}

/// A program with an error, which cannot be compiled.
fn mistaken() -> Array<i64, Ix0> {
    let xs = Array::from(vec![1i64, 2]);
    xs.map(|x| x + 1)
        .zip_with(&Array::from(vec![3i64]), |x, y| x * y)
        .sum()
}

/// The body of a child. It checks something only if a parent started it.
#[test]
fn child() {
    match std::env::var(CHILD).as_deref() {
        Ok("once") => forced_shares(&Engine::c()),
        Ok("scheduled") => {
            forced_shares(&Engine::builder().schedule(ASKED).build());
            let wrong = Engine::builder().schedule("loop_1\n  r2 vectorise 4 unroll 8\n");
            assert!(shares().force_with(&wrong.build()).is_err());
        }
        Ok("engines") => {
            let engine = Engine::interp();
            forced_shares(&engine);
            forced_shares(&engine);
            shares().explain_with(&engine).expect("a plan");
            forced_shares(Engine::default_engine());
            let twice =
                prepare_with(&engine, |xs: Array<f64>| xs.map(|x| x * 2.0)).expect("a program");
            for n in 0..3 {
                twice.call(&Array::from(vec![1.0; n])).expect("runs");
            }
        }
        Ok("threads") => std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| forced_shares(&Engine::interp()));
            }
        }),
        Ok("mistaken") => {
            assert!(mistaken().force_with(&Engine::interp()).is_err());
            forced_shares(&Engine::interp());
        }
        _ => {}
    }
}

/// Returns the files that a child leaves in its current folder, by path, and its output. `ID`
/// stands for the name of its own folder.
fn left(child: &str, variables: &[(&str, &str)]) -> (BTreeMap<String, String>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), "mine").expect("a file");
    let child = Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "child", "--nocapture"])
        .current_dir(folder.path())
        .env_remove("LIVEFUSION_DUMP")
        .env_remove("LIVEFUSION_DUMP_TO")
        .env("LIVEFUSION_CACHE_DIR", "off")
        .env(CHILD, child)
        .envs(variables.iter().copied())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let id = child.id().to_string();
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.path().to_path_buf()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).expect("entries") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("text");
            let path = path.strip_prefix(folder.path()).expect("below");
            let parts = path.iter().map(|p| p.to_string_lossy());
            let parts = parts.map(|p| if p == id { "ID".into() } else { p });
            files.insert(parts.collect::<Vec<_>>().join("/"), text);
        }
    }
    assert_eq!(files.remove("file").as_deref(), Some("mine"));
    let said = said.lines().filter(|l| l.starts_with("livefusion"));
    (files, said.map(|l| format!("{l}\n")).collect())
}

#[test]
fn files_have_the_texts_of_the_stages() {
    let (mut files, said) = left("once", &[("LIVEFUSION_DUMP", ALL)]);
    assert_eq!(said, "");
    let mut file = |name: &str| files.remove(&format!("livefusion-dump/ID/0001.{name}"));
    let ast = stages::ast(&shares());
    let graph = ast.graph().expect("a graph");
    let plan = graph.plan(Clustering::default());
    let mut loops = plan.clone().lower().expect("loops");
    let lowered = loops.to_string();
    loops.optimize();
    let both = format!("# as lowered\n{lowered}\n# as optimised\n{loops}\n");
    let code = loops.code(&Engine::c()).expect("C");
    assert_eq!(loops.len(), 2);
    assert_eq!(file("1.ast.txt"), Some(ast.to_string()));
    assert_eq!(file("2.graph.txt"), Some(graph.to_string()));
    assert_eq!(file("3.plan.txt"), Some(plan.to_string()));
    assert_eq!(file("4.loop.txt"), Some(both));
    let tiles = loops.tiles(&Engine::c()).expect("nothing is asked");
    assert_eq!(file("5.schedule.txt"), Some(tiles.schedules()));
    assert_eq!(file("6.tile.txt"), Some(tiles.to_string()));
    let c = file("7.c.c").expect("a file");
    assert_eq!(code.sources().flatten().collect::<Vec<_>>().join("\n"), c);
    assert_eq!(c.matches("_emit(lf_run *run)").count(), 2);
    assert_eq!(files, BTreeMap::new());
}

/// The dump has requested or chosen schedules and tiles, and the reason where there are none.
#[test]
fn files_have_what_is_asked_for() {
    let (files, said) = left("scheduled", &[("LIVEFUSION_DUMP", "schedule,tile,c")]);
    assert_eq!(said, "");
    let names = files.keys().map(|n| n.replace("livefusion-dump/ID/", ""));
    let expected = [
        "0001.5.schedule.txt",
        "0001.6.tile.txt",
        "0001.7.c.c",
        "0002.5.schedule.txt",
        "0002.6.tile.txt",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
    let texts: Vec<&str> = files.values().map(String::as_str).collect();
    assert!(texts[0].starts_with("loop_0 # chosen for this machine\n"));
    assert!(texts[0].ends_with(&format!("\n{ASKED}")), "{}", texts[0]);
    let lines: Vec<&str> = texts[1].lines().collect();
    let heads = lines
        .iter()
        .filter(|l| !l.starts_with(' ') && !l.is_empty());
    assert_eq!(
        heads.copied().collect::<Vec<_>>(),
        [
            "# loop_0, under the schedule that is chosen for this machine",
            "tile loop_0_r0 at r0",
            "# loop_1, under the schedule that is requested",
            "tile loop_1_r0 at r0",
        ]
    );
    assert!(lines.iter().any(|l| l.trim().starts_with("compress ")));
    let why = "# `force`: the schedule of loop_1 is refused: r2 vectorise 4 unroll 8: the rate is no innermost loop\n";
    assert_eq!(texts[3..], [why, why]);
}

#[test]
fn programs_are_numbered_as_they_are_compiled() {
    let asked = [("LIVEFUSION_DUMP", "c,plan"), ("LIVEFUSION_DUMP_TO", "a/b")];
    let (files, said) = left("engines", &asked);
    assert_eq!(said, "");
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    // The files of the interpreter (no source), the tiers (C not compiled yet), and the prepared
    // program.
    let expected = [
        "0001.3.plan.txt",
        "0002.3.plan.txt",
        "0002.7.c.c",
        "0003.3.plan.txt",
    ];
    assert_eq!(names, expected.map(|name| format!("a/b/ID/{name}")));
    let text = |k: usize| &files[names[k]];
    assert_eq!(text(0), text(1));
    assert_eq!(text(2).matches("_emit(lf_run *run)").count(), 2);
    assert!(text(3).starts_with("1 loop, "));
}

#[test]
fn engines_on_many_threads_do_not_meet() {
    let (files, _) = left("threads", &[("LIVEFUSION_DUMP", "loop")]);
    let expected = (1..=8).map(|k| format!("livefusion-dump/ID/{k:04}.4.loop.txt"));
    assert!(files.keys().cloned().eq(expected));
    assert!(
        files
            .values()
            .all(|text| text == &files["livefusion-dump/ID/0001.4.loop.txt"])
    );
}

#[test]
fn a_mistake_is_shown_where_it_was_made() {
    let (files, _) = left("mistaken", &[("LIVEFUSION_DUMP", "ast,graph")]);
    let names = ["0001.1.ast.txt", "0002.1.ast.txt", "0002.2.graph.txt"];
    assert!(
        files
            .keys()
            .cloned()
            .eq(names.map(|n| format!("livefusion-dump/ID/{n}")))
    );
    let ast = &files["livefusion-dump/ID/0001.1.ast.txt"];
    assert_eq!(*ast, stages::ast(&mistaken()).to_string());
    let lines: Vec<&str> = ast.lines().collect();
    let [_, map, _, zip, mistake, sum, results] = lines[..] else {
        panic!("{ast}");
    };
    assert!(map.starts_with("a1 = map a0: i64[2], at livefusion/tests/dump.rs:"));
    assert!(
        zip.starts_with("a3 = zip_with a1, a2: i64[2], at "),
        "{zip}"
    );
    let expected = "  mistake: expected an array of length 2, got one of length 1";
    assert_eq!(mistake, expected);
    assert!(sum.starts_with("a4 = sum a3: i64, at "));
    assert_eq!(results, "results: a4");
}

#[test]
fn who_asks_for_nothing_gets_nothing() {
    let nothing = (BTreeMap::new(), String::new());
    assert_eq!(left("engines", &[]), nothing);
    assert_eq!(left("engines", &[("LIVEFUSION_DUMP", "")]), nothing);
    assert_eq!(left("engines", &[("LIVEFUSION_DUMP_TO", "a")]), nothing);
}

#[test]
fn dump_says_once_that_a_folder_cannot_be_written() {
    let (files, said) = left("engines", &[("LIVEFUSION_DUMP", "asm,plan,loops")]);
    assert_eq!(
        said,
        "livefusion: LIVEFUSION_DUMP: there is no stage `asm`, `loops`, but there are ast, graph, plan, loop, schedule, tile, c\n"
    );
    assert_eq!(files.len(), 3);
    let asked = [("LIVEFUSION_DUMP", ALL), ("LIVEFUSION_DUMP_TO", "file")];
    let (files, said) = left("engines", &asked);
    assert_eq!(files, BTreeMap::new());
    assert_eq!(said.lines().count(), 1);
    assert!(
        said.starts_with("livefusion: LIVEFUSION_DUMP: cannot write to /"),
        "{said}"
    );
}

/// A deep graph in which every node has two uses takes one line per node.
#[test]
fn nodes_have_one_line_each() {
    let mut sum: Array<i64, Ix0> = Array::from(vec![1i64]).sum();
    for _ in 0..20_000 {
        sum = &sum + &sum;
    }
    let roots: [Arc<Node>; 1] = [sum.node().clone()];
    let text = stages::ast_of(&roots).to_string();
    assert_eq!(text.lines().count(), 20_000 + 3);
}
