//! The cache on disk: hits, untrusted entries, and eviction.
#![cfg(unix)]

use crate::common::*;
use livefusion_backend::{Backend, DiskUse, Kernel, Pass};
use livefusion_c::{CBackend, KernelCache};
use loop_lang::{Const, Loop};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

fn with(cache: &KernelCache) -> CBackend {
    CBackend::new().with_cache(cache.clone())
}

fn in_folder(path: &Path) -> CBackend {
    with(&KernelCache::in_folder(path))
}

/// Compiles a loop and runs it. Returns the file statistics.
fn force(backend: &CBackend, program: &Loop) -> DiskUse {
    let kernel = backend.compile(program).unwrap();
    sums_well(&*kernel);
    backend.disk_use()
}

fn sums_well(kernel: &dyn Kernel) {
    let data = [
        Data::F64(vec![1.0, 2.0, 3.0]),
        Data::F64(vec![4.0, 5.0, 6.0]),
        Data::Scalar(Const::f64(0.0)),
    ];
    let (_, results) = run(kernel, &args(&data));
    assert_eq!(results[0].1, [32f64.to_bits()]);
}

/// Dot products with other names: the texts differ, and so do their entries.
fn dot(name: &str) -> Loop {
    let mut program = loop_file("dot");
    program.name = name.into();
    program
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    found.sort();
    found
}

const HIT: DiskUse = DiskUse {
    hits: 1,
    refused: 0,
    compiled: 0,
    failed: 0,
};
const MISS: DiskUse = DiskUse {
    hits: 0,
    refused: 0,
    compiled: 1,
    failed: 0,
};
const REFUSED: DiskUse = DiskUse {
    hits: 0,
    refused: 1,
    compiled: 1,
    failed: 0,
};

/// Creates a cache with one entry, in a nested folder.
fn one_entry() -> (TempDir, PathBuf, PathBuf) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("a/kernels");
    assert_eq!(force(&in_folder(&folder), &dot("dot")), MISS);
    let entry = entries(&folder).pop().unwrap();
    (temporary, folder, entry)
}

#[test]
fn cache_finds_a_compiled_kernel() {
    let (_temporary, folder, entry) = one_entry();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&entry)), (0o700, 0o600));
    for _ in 0..3 {
        assert_eq!(force(&in_folder(&folder), &dot("dot")), HIT);
    }
    assert_eq!(force(&in_folder(&folder), &dot("other")), MISS);
    assert_eq!(entries(&folder).len(), 2);
}

/// The system's loader must not confuse two libraries loaded one after the other.
#[test]
fn found_libraries_are_told_apart() {
    let (_temporary, folder, _) = one_entry();
    let map = loop_file("map");
    in_folder(&folder).compile(&map).unwrap();
    for _ in 0..3 {
        let backend = in_folder(&folder);
        sums_well(&*backend.compile(&dot("dot")).unwrap());
        let doubled = backend.compile(&map).unwrap();
        let data = [Data::F64(vec![1.5]), Data::Scalar(Const::f64(2.0))];
        assert_eq!(run(&*doubled, &args(&data)).1[0].1, [4f64.to_bits()]);
        assert_eq!(backend.disk_use().hits, 2);
    }
}

#[test]
fn summaries_are_kept_too() {
    let (_temporary, folder, _) = one_entry();
    let summarise = || {
        let backend = in_folder(&folder);
        let kernel = backend.compile(&dot("dot")).unwrap();
        let data = [
            Data::F64(vec![1.0]),
            Data::F64(vec![2.0]),
            Data::Scalar(Const::f64(0.0)),
        ];
        let mut frame = livefusion_backend::Frame::new(kernel.layout());
        kernel.run(Pass::Summary { level: 1 }, 1, &mut frame, &args(&data));
        backend.disk_use()
    };
    let (first, second) = (summarise(), summarise());
    assert_eq!((first.hits, first.compiled), (1, 1));
    assert_eq!((second.hits, second.compiled), (2, 0));
}

/// Writes a script from another process.
///
/// A compiler started by a parallel test would inherit an open file, and the system would then
/// refuse to run it.
fn write_script(path: &Path, text: &str) {
    let write = "printf %s \"$1\" > \"$0\" && chmod 700 \"$0\"";
    let mut command = std::process::Command::new("sh");
    let done = command.args(["-c", write]).arg(path).arg(text).status();
    assert!(done.unwrap().success());
}

#[test]
fn other_flags_compilers_and_batches_are_other_entries() {
    let (_temporary, folder, _) = one_entry();
    let other = in_folder(&folder).without_tiles();
    assert_eq!(force(&other, &dot("dot")), MISS);
    let script = folder.parent().unwrap().join("cc");
    let system = livefusion_c::system_compiler().unwrap();
    let text = format!("#!/bin/sh\nexec {} \"$@\"\n", system.display());
    write_script(&script, &text);
    let wrapped = || CBackend::with_compiler(&script).with_cache(KernelCache::in_folder(&folder));
    assert_eq!(force(&wrapped(), &dot("dot")), MISS);
    assert_eq!(force(&wrapped(), &dot("dot")), HIT);
    // A new version of the compiler.
    write_script(&script, &(text + "# 2\n"));
    assert_eq!(force(&wrapped(), &dot("dot")), MISS);
}

#[test]
fn damaged_entries_are_replaced() {
    let (_temporary, folder, entry) = one_entry();
    let sound = fs::read(&entry).unwrap();
    let (key, end) = (100, sound.len() - 1);
    let flipped = |at: usize| {
        let mut bad = sound.clone();
        bad[at] ^= 1;
        bad
    };
    let long = [&sound[..], b"more"].concat();
    let damaged = [0, 20, 40, key, end / 4, end / 2, end].map(flipped);
    let cut = [0, 1, 63, key, end / 2, end].map(|n| sound[..n].to_vec());
    for bad in damaged.into_iter().chain(cut).chain([long]) {
        fs::write(&entry, bad).unwrap();
        assert_eq!(force(&in_folder(&folder), &dot("dot")), REFUSED);
        assert_eq!(force(&in_folder(&folder), &dot("dot")), HIT);
    }
}

/// An entry in another one's place, undamaged and owned by this user.
#[test]
fn an_entry_of_another_key_is_replaced() {
    let (_temporary, folder, entry) = one_entry();
    in_folder(&folder).compile(&loop_file("map")).unwrap();
    let other = entries(&folder).into_iter().find(|e| *e != entry).unwrap();
    fs::copy(other, &entry).unwrap();
    assert_eq!(force(&in_folder(&folder), &dot("dot")), REFUSED);
    assert_eq!(force(&in_folder(&folder), &dot("dot")), HIT);
}

#[test]
fn entries_of_others_are_not_loaded() {
    let (temporary, folder, entry) = one_entry();
    let elsewhere = temporary.path().join("elsewhere");
    let refused = |case: &str| {
        let got = force(&in_folder(&folder), &dot("dot"));
        assert_eq!(got, REFUSED, "{case}");
        assert_eq!(force(&in_folder(&folder), &dot("dot")), HIT, "after {case}");
        assert!(fs::symlink_metadata(&entry).unwrap().is_file(), "{case}");
    };
    for mode in [0o644, 0o620, 0o606] {
        fs::set_permissions(&entry, Permissions::from_mode(mode)).unwrap();
        refused(&format!("{mode:o}"));
    }
    fs::rename(&entry, &elsewhere).unwrap();
    symlink(&elsewhere, &entry).unwrap();
    refused("a link");
    fs::remove_file(&entry).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &entry,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    refused("a pipe");
    if std::os::unix::fs::chown(&entry, Some(12345), None).is_ok() {
        refused("another owner");
    }
}

#[test]
fn a_folder_in_an_entrys_place_does_no_harm() {
    let (_temporary, folder, entry) = one_entry();
    fs::remove_file(&entry).unwrap();
    fs::create_dir(&entry).unwrap();
    let cache = KernelCache::in_folder(&folder);
    assert_eq!(force(&with(&cache), &dot("dot")), REFUSED);
    assert!(cache.problem().unwrap().contains("not written"));
}

#[test]
fn folders_of_others_are_not_used() {
    let temporary = tempfile::tempdir().unwrap();
    let unused = |path: &Path, why: &str| {
        let cache = KernelCache::in_folder(path);
        assert_eq!(force(&with(&cache), &dot("dot")), MISS);
        let problem = cache.problem().unwrap();
        assert!(problem.contains(why), "{problem}");
        assert!(cache.clear().unwrap_err().to_string().contains(why));
    };
    let open = temporary.path().join("open");
    fs::create_dir(&open).unwrap();
    let mode_is = |mode| fs::metadata(&open).unwrap().mode() & 0o7777 == mode;
    // Others could have put files there.
    for mode in [0o702, 0o770, 0o1777] {
        fs::set_permissions(&open, Permissions::from_mode(mode)).unwrap();
        unused(&open, "open to other users");
        assert!(mode_is(mode));
    }
    // A folder with other files, such as a home folder, must keep its mode.
    let notes = open.join("notes");
    File::create(&notes).unwrap();
    for mode in [0o755, 0o710] {
        fs::set_permissions(&open, Permissions::from_mode(mode)).unwrap();
        unused(&open, "open to other users");
        assert!(mode_is(mode));
    }
    fs::remove_file(&notes).unwrap();
    fs::set_permissions(&open, Permissions::from_mode(0o700)).unwrap();
    let link = temporary.path().join("link");
    symlink(&open, &link).unwrap();
    unused(&link, "cannot open");
    let file = temporary.path().join("file");
    File::create(&file).unwrap();
    unused(&file, "cannot make");
    unused(&file.join("below"), "cannot make");
    if std::os::unix::fs::chown(&open, Some(12345), None).is_ok() {
        unused(&open, "another user");
    }
    assert_eq!(entries(&open), Vec::<PathBuf>::new());
}

#[test]
fn a_folder_made_by_hand_is_closed_to_others_and_used() {
    let (_temporary, folder, _) = one_entry();
    for mode in [0o755, 0o750, 0o711] {
        fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        assert_eq!(force(&in_folder(&folder), &dot("dot")), HIT, "{mode:o}");
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    }
    let empty = tempfile::tempdir().unwrap();
    fs::set_permissions(empty.path(), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(force(&in_folder(empty.path()), &dot("dot")), MISS);
    assert_eq!(force(&in_folder(empty.path()), &dot("dot")), HIT);
}

#[test]
fn it_can_be_off() {
    let cache = KernelCache::off();
    for _ in 0..2 {
        assert_eq!(force(&with(&cache), &dot("dot")), MISS);
    }
    assert_eq!(cache.path(), None);
    cache.clear().unwrap();
}

#[test]
fn clear_removes_entries_and_nothing_else() {
    let (_temporary, folder, entry) = one_entry();
    fs::write(folder.join("1-2-3.new"), "half").unwrap();
    fs::write(folder.join("README"), "mine").unwrap();
    let cache = KernelCache::in_folder(&folder);
    cache.clear().unwrap();
    cache.clear().unwrap();
    assert!(!entry.exists());
    assert_eq!(entries(&folder), [folder.join("README")]);
    assert_eq!(force(&with(&cache), &dot("dot")), MISS);
}

#[test]
fn cache_evicts_the_least_recently_used_first() {
    let (_temporary, folder, entry) = one_entry();
    let size = fs::metadata(&entry).unwrap().len();
    let room_for_four = KernelCache::in_folder(&folder).limit(size * 9 / 2);
    let old = |path: &Path, hours: u64| {
        let then = SystemTime::now() - Duration::from_secs(3600 * hours);
        File::open(path).unwrap().set_modified(then).unwrap();
    };
    let half = folder.join("1-2-3.new");
    fs::write(&half, "left behind").unwrap();
    old(&half, 2);
    for (hours, name) in [(40, "a"), (30, "b"), (20, "c")] {
        let before = entries(&folder);
        assert_eq!(force(&with(&room_for_four), &dot(name)), MISS);
        let mut new = entries(&folder);
        new.retain(|e| !before.contains(e));
        old(&new[0], hours);
        assert!(!half.exists());
    }
    old(&entry, 50);
    // The oldest entry is used again, so the second oldest is evicted.
    assert_eq!(force(&in_folder(&folder), &dot("dot")), HIT);
    assert_eq!(force(&with(&room_for_four), &dot("d")), MISS);
    let hits = |name| force(&with(&room_for_four), &dot(name)).hits;
    assert_eq!(["dot", "b", "c", "d"].map(hits), [1; 4]);
    assert_eq!(hits("a"), 0);
    let total: u64 = entries(&folder)
        .iter()
        .map(|e| e.metadata().unwrap().len())
        .sum();
    assert!(total <= size * 9 / 2);
}

#[test]
fn an_entry_beyond_the_limit_is_not_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("kernels");
    for limit in [0, 1, 1000] {
        let cache = KernelCache::in_folder(&folder).limit(limit);
        assert_eq!(force(&with(&cache), &dot("dot")), MISS);
        assert_eq!(entries(&folder).len(), 0);
    }
}

/// Many caches at once, each with its own handle on the folder, with and without enough space.
#[test]
fn many_may_use_one_folder_at_once() {
    let (_temporary, folder, entry) = one_entry();
    let size = fs::metadata(&entry).unwrap().len();
    let names: Arc<Vec<String>> = Arc::new((0..4).map(|i| format!("dot{i}")).collect());
    std::thread::scope(|scope| {
        for t in 0..6 {
            let (folder, names) = (&folder, names.clone());
            scope.spawn(move || {
                for round in 0..4 {
                    let limit = if t == 0 { size * 2 } else { 1 << 20 };
                    let cache = KernelCache::in_folder(folder).limit(limit);
                    let used = force(&with(&cache), &dot(&names[(t + round) % names.len()]));
                    assert_eq!(used.refused, 0);
                    assert_eq!(cache.problem(), None);
                }
            });
        }
    });
    assert!(entries(&folder).iter().all(|e| e.extension().is_none()));
}

/// The loops of a program are compiled together, but each has its own entry.
#[test]
fn loops_of_a_program_are_entries_of_their_own() {
    let (_temporary, folder, _) = one_entry();
    let names = ["dot", "a", "b", "c", "d"];
    let loops = names.map(dot);
    let bad = Loop::default();
    let mut all: Vec<&Loop> = loops.iter().collect();
    all.insert(2, &bad);
    let backend = in_folder(&folder);
    let kernels = backend.compile_all(&all);
    for (i, kernel) in kernels.iter().enumerate() {
        match kernel {
            Ok(kernel) => sums_well(&**kernel),
            Err(_) => assert_eq!(i, 2),
        }
    }
    let used = backend.disk_use();
    assert_eq!((kernels.len(), used.hits, used.compiled), (6, 1, 4));
    for name in names {
        assert_eq!(force(&in_folder(&folder), &dot(name)), HIT);
    }
    assert!(backend.compile_all(&[]).is_empty());
}
