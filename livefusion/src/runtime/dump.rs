//! `LIVEFUSION_DUMP`: writes the compilation stages of every program to files.
//!
//! The files are for people. A failure to write is reported once and changes nothing else.

use std::fmt::{Display, Write as _};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Once, OnceLock};

/// The variable that lists the stages.
const STAGES: &str = "LIVEFUSION_DUMP";
/// The variable that names the folder.
const FOLDER: &str = "LIVEFUSION_DUMP_TO";
/// The default folder.
const USUAL_FOLDER: &str = "livefusion-dump";

/// The requested dump of this process.
static REQUESTED: LazyLock<Option<Dump>> = LazyLock::new(|| {
    let list = std::env::var_os(STAGES)?;
    let folder = std::env::var_os(FOLDER).filter(|f| !f.is_empty());
    Dump::new(
        &list.to_string_lossy(),
        Path::new(&folder.unwrap_or_else(|| USUAL_FOLDER.into())),
    )
});

/// Lists the stages that can be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Ast,
    Graph,
    Plan,
    Loop,
    Schedule,
    Tile,
    C,
}

/// Every stage with its name in a list and its file ending.
const ALL: [(Stage, &str, &str); 7] = [
    (Stage::Ast, "ast", "1.ast.txt"),
    (Stage::Graph, "graph", "2.graph.txt"),
    (Stage::Plan, "plan", "3.plan.txt"),
    (Stage::Loop, "loop", "4.loop.txt"),
    (Stage::Schedule, "schedule", "5.schedule.txt"),
    (Stage::Tile, "tile", "6.tile.txt"),
    (Stage::C, "c", "7.c.c"),
];

impl Stage {
    /// Splits a list into stages and unknown names.
    fn list(text: &str) -> (Vec<Stage>, Vec<&str>) {
        let (mut stages, mut unknown) = (Vec::new(), Vec::new());
        let names = text.split(',').map(str::trim).filter(|n| !n.is_empty());
        for name in names {
            match ALL.iter().find(|(_, known, _)| *known == name) {
                Some((stage, ..)) => stages.push(*stage),
                None => unknown.push(name),
            }
        }
        (stages, unknown)
    }

    fn ending(self) -> &'static str {
        let row = ALL.iter().find(|(stage, ..)| *stage == self);
        row.map_or("txt", |(_, _, ending)| ending)
    }
}

/// Holds the requested stages and their folder.
struct Dump {
    stages: Vec<Stage>,
    /// The requested folder.
    folder: PathBuf,
    /// This process's own folder within, or none if it cannot be created.
    own: OnceLock<Option<PathBuf>>,
    programs: AtomicU64,
    failed: Once,
}

impl Dump {
    /// Creates a dump, or none if no stage is requested.
    fn new(list: &str, folder: &Path) -> Option<Dump> {
        let (stages, unknown) = Stage::list(list);
        if !unknown.is_empty() {
            let known = ALL.map(|(_, name, _)| name).join(", ");
            let unknown = unknown.join("`, `");
            say(&format!(
                "there is no stage `{unknown}`, but there are {known}"
            ));
        }
        // The process may change its working directory before it writes.
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        (!stages.is_empty()).then(|| Dump {
            stages,
            folder,
            own: OnceLock::new(),
            programs: AtomicU64::new(0),
            failed: Once::new(),
        })
    }

    /// Begins the files of the next program.
    fn record(&self) -> DumpRecord<'_> {
        DumpRecord(Some((
            self,
            self.programs.fetch_add(1, Ordering::Relaxed) + 1,
        )))
    }

    /// Appends text to a file.
    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        let Some(own) = self.own.get_or_init(|| self.own_folder()) else {
            return Ok(());
        };
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).open(own.join(file))?;
        file.write_all(text.as_bytes())
    }

    fn own_folder(&self) -> Option<PathBuf> {
        let made = fs::create_dir_all(&self.folder).and_then(|()| claim(&self.folder));
        made.map_err(|e| self.fail(&e)).ok()
    }

    fn fail(&self, why: &dyn Display) {
        let folder = self.folder.display();
        self.failed
            .call_once(|| say(&format!("cannot write to {folder}: {why}")));
    }
}

/// Creates a folder for this process's id.
///
/// An earlier process may have had the same id. Then the name gets a number.
fn claim(folder: &Path) -> io::Result<PathBuf> {
    let id = std::process::id();
    let names = (2..).map(|k| format!("{id}-{k}"));
    for name in [id.to_string()].into_iter().chain(names) {
        let own = folder.join(name);
        match fs::create_dir(&own) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|()| own),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Prints a message to standard error, and ignores failures.
fn say(what: &str) {
    let _ = writeln!(io::stderr(), "livefusion: {STAGES}: {what}");
}

/// Writes the files of one program, or nothing if no dump is requested.
pub struct DumpRecord<'a>(Option<(&'a Dump, u64)>);

impl DumpRecord<'static> {
    /// Returns a record for the process's next program.
    pub fn next() -> DumpRecord<'static> {
        REQUESTED.as_ref().map_or(DumpRecord(None), Dump::record)
    }
}

impl DumpRecord<'_> {
    /// Appends text to a stage's file.
    ///
    /// The text is made only if the stage is requested. An empty text creates no file.
    pub fn add<T: Display>(&self, stage: Stage, text: impl FnOnce() -> T) {
        let Some((dump, number)) = self.0.filter(|(d, _)| d.stages.contains(&stage)) else {
            return;
        };
        let mut made = String::new();
        if write!(made, "{}", text()).is_err() || made.is_empty() {
            return;
        }
        let file = format!("{number:04}.{}", stage.ending());
        if let Err(e) = dump.write(&file, &made) {
            dump.fail(&e);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Returns the files of a folder and their texts.
    fn files(folder: &Path) -> BTreeMap<String, String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let entries = entries.map(|e| e.expect("an entry").path());
        let name = |p: &Path| {
            p.file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        };
        entries
            .map(|p| (name(&p), fs::read_to_string(&p).expect("text")))
            .collect()
    }

    #[test]
    fn a_list_has_stages_and_what_is_none() {
        use Stage::{Ast, C, Graph, Loop, Plan, Schedule, Tile};
        let list = Stage::list;
        assert_eq!(
            list("ast,graph,plan,loop,schedule,tile,c"),
            (vec![Ast, Graph, Plan, Loop, Schedule, Tile, C], vec![])
        );
        assert_eq!(list(" c , loop,"), (vec![C, Loop], vec![]));
        assert_eq!(list("loops,c,C"), (vec![C], vec!["loops", "C"]));
        assert_eq!(list(""), (vec![], vec![]));
        let folder = Path::new("nowhere");
        assert!(Dump::new("", folder).is_none() && Dump::new("asm", folder).is_none());
    }

    #[test]
    fn endings_sort_files_as_stages_follow() {
        let endings = ALL.map(|(stage, ..)| stage.ending());
        assert!(endings.is_sorted());
        for (_, name, ending) in ALL {
            assert_eq!(ending.split('.').nth(1), Some(name));
        }
    }

    #[test]
    fn texts_are_made_and_written_if_requested() {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = temporary.path().join("new").join("dump");
        let dump = Dump::new("plan,loop,c", &folder).expect("stages");
        DumpRecord(None).add(Stage::Plan, || -> &str { panic!("not requested") });
        let (first, second) = (dump.record(), dump.record());
        first.add(Stage::Graph, || -> &str { panic!("not requested") });
        first.add(Stage::C, || "");
        assert!(!folder.exists());
        second.add(Stage::Loop, || "a\n");
        first.add(Stage::Plan, || 7);
        second.add(Stage::Loop, || "b\n");
        let own = folder.join(std::process::id().to_string());
        let expected = [("0001.3.plan.txt", "7"), ("0002.4.loop.txt", "a\nb\n")];
        let expected = expected.map(|(name, text)| (name.to_string(), text.to_string()));
        assert_eq!(files(&own), BTreeMap::from(expected.clone()));

        // The existing folder, of an earlier process with the same id, is left alone.
        let other = Dump::new("plan", &folder).expect("stages");
        other.record().add(Stage::Plan, || "other");
        let next = folder.join(format!("{}-2", std::process::id()));
        assert_eq!(files(&own), BTreeMap::from(expected));
        assert_eq!(files(&next)["0001.3.plan.txt"], "other");
    }

    #[test]
    fn threads_write_files_of_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let dump = Dump::new("ast", folder.path()).expect("a stage");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let record = dump.record();
                        let number = record.0.expect("a number").1;
                        record.add(Stage::Ast, || number);
                    }
                });
            }
        });
        let own = folder.path().join(std::process::id().to_string());
        let expected = (1..=100).map(|k| (format!("{k:04}.1.ast.txt"), k.to_string()));
        assert_eq!(files(&own), expected.collect());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_done_without() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "mine").expect("a file");
        let dump = Dump::new("ast", &file).expect("a stage");
        dump.record().add(Stage::Ast, || "a");
        dump.record().add(Stage::Ast, || "b");
        assert!(dump.failed.is_completed());
        assert_eq!(files(folder.path())["file"], "mine");
    }
}
