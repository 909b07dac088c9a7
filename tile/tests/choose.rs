//! Chosen schedules of golden loops, for several targets: `golden/chosen.txt`.
//!
//! The file shows the effect of each change to a heuristic. `LOOP_BLESS=1 cargo test -p
//! livefusion-tile --test choose` rewrites it.

mod common;

use livefusion_tile::region::Region;
use livefusion_tile::schedule::{Aim, Schedule, choose, choose_threads, legal};
use livefusion_tile::target::Target;
use loop_lang::Loop;
use loop_lang::state::Layout;
use std::path::Path;

/// The golden loops of a folder, sorted by name.
fn loops(folder: &Path) -> Vec<(String, Loop)> {
    let files = std::fs::read_dir(folder).expect("a folder");
    let files = files.map(|e| e.expect("an entry").path());
    let mut all: Vec<_> = (files.filter(|f| f.extension().is_some_and(|e| e == "loop")))
        .map(|file| {
            let name = file.file_stem().expect("a name").to_string_lossy();
            (name.into_owned(), common::read(&file))
        })
        .collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    all
}

/// Returns a line for each schedule that a loop gets, with its targets.
fn chosen(program: &Loop, aim: Aim) -> String {
    let layout = Layout::of(program);
    let region = Region::of(program, &layout.arrays, &layout.held).expect("a region");
    let mut lines: Vec<(Schedule, Vec<&str>)> = Vec::new();
    let targets = Target::all();
    let given = targets.iter().filter(|t| t.name() != "here");
    for target in given.clone() {
        let schedule = choose(&region, target, aim);
        assert_eq!(legal(&region, &schedule), Ok(()), "{}", program.name);
        match lines.iter_mut().find(|(s, _)| *s == schedule) {
            Some((_, targets)) => targets.push(target.name()),
            None => lines.push((schedule, vec![target.name()])),
        }
    }
    let line = |(schedule, targets): (Schedule, Vec<&str>)| {
        let targets = match targets.len() == given.clone().count() {
            true => "all".to_string(),
            false => targets.join(", "),
        };
        let said = schedule.show(program);
        let said: Vec<&str> = match said.is_empty() {
            true => vec!["step by step"],
            false => said.lines().collect(),
        };
        format!("  {targets}: {}\n", said.join("; "))
    };
    lines.into_iter().map(line).collect()
}

/// Returns how a loop's iterations map to a device's threads, or why they cannot.
fn dealt(program: &Loop) -> String {
    let schedule = match choose_threads(program) {
        Ok(schedule) => schedule,
        Err(why) => return format!("none: {why}"),
    };
    let layout = Layout::of(program);
    let region = Region::of(program, &layout.arrays, &layout.held).expect("a region");
    assert_eq!(legal(&region, &schedule), Ok(()), "{}", program.name);
    let text = schedule.show(program);
    assert_eq!(Schedule::parse(&text, program).as_ref(), Ok(&schedule));
    text.lines().collect::<Vec<_>>().join("; ")
}

#[test]
fn golden_loops_get_these_schedules() {
    let mut text = String::new();
    for (of, folder) in ["the loop language", "C"]
        .into_iter()
        .zip(common::folders())
    {
        text += &format!("# Loops of {of}\n\n");
        for (name, program) in loops(&folder) {
            let (start, speed) = (chosen(&program, Aim::Start), chosen(&program, Aim::Speed));
            text += &format!("{name}\n{start}");
            if speed != start {
                text += &format!(" and for speed\n{speed}");
            }
            text += &format!(" on a device\n  {}\n", dealt(&program));
        }
        text += "\n";
    }
    common::golden("chosen.txt", &format!("{}\n", text.trim_end()));
}

/// Vectors only test the elements of a filter whose kept elements are indices.
#[test]
fn reads_at_kept_elements_are_packed() {
    let text = common::text_of("nested_filter")
        .replace("param low_1", "param table_2: [u32] random\nparam low_1")
        .replace(
            "  writeArray out_2 ix_2 elt_0",
            "  let at_2 = cast.u64 elt_0\n  let far_2 = readArray table_2 at_2\n  writeArray out_2 ix_2 far_2",
        );
    let program = common::loop_of_text(&text);
    let layout = Layout::of(&program);
    let region = Region::of(&program, &layout.arrays, &layout.held).expect("a region");
    let of = |aim| choose(&region, &Target::avx512(), aim).show(&program);
    assert_eq!(of(Aim::Start), "");
    assert_eq!(of(Aim::Speed), "r1 pack\nr0 vectorise 8 unroll 8\n");
}

/// A machine without vectors gets none; longer vectors get more lanes.
#[test]
fn lanes_follow_from_the_target() {
    let program = common::loop_of("map");
    let layout = Layout::of(&program);
    let region = Region::of(&program, &layout.arrays, &layout.held).expect("a region");
    let rate = region.inner_loops().next().expect("an innermost loop").rate;
    let lanes = |target: Target| choose(&region, &target, Aim::Start).vectors(rate).0;
    assert_eq!(lanes(Target::plain()), 1);
    let narrow = [
        Target::sse42(),
        Target::sse2(),
        Target::neon(),
        Target::avx512().narrow(),
    ];
    assert_eq!(narrow.map(lanes), [2; 4]);
    assert_eq!(lanes(Target::avx2()), 4);
    assert_eq!(lanes(Target::avx512()), 8);
}
