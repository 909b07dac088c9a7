//! Compiled code on disk, for the next process: libraries of this backend, and what other backends compile.
//!
//! | module | room for |
//! | --- | --- |
//! | `key` | what compiled code depends on: its source, the compiler, the processor |
//! | `place` | where the cache is |
//! | `folder` | the folder, which is nobody else's |
//! | `entry` | an entry's bytes, which are checked before they are loaded |
//!
//! The folder is used through one open handle whose owner and mode were checked, entries are written
//! under another name and renamed, and what is loaded are the very bytes that were checked. A fault of
//! the disk costs a compilation, never a result.

mod cpu;
pub(crate) mod entry;
#[cfg(unix)]
mod folder;
#[cfg(not(unix))]
#[path = "nowhere.rs"]
mod folder;
mod key;
mod place;

use folder::Folder;
pub use key::Key;
use livefusion_backend::process::PerProcess;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// How many bytes a cache keeps unless it is told otherwise.
const LIMIT: u64 = 256 << 20;

/// What the names of files end with that are being written.
const NEW: &str = ".new";

/// A file that is being written for longer than this was left by a process that died.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// Compiled kernels on disk, so that the next process need not compile them again.
///
/// By default they are in `livefusion` among the user's caches (`$XDG_CACHE_HOME`, else `~/.cache`; on
/// macOS `~/Library/Caches`), at most 256 MiB of them; those that were not used for longest go first.
/// The variable `LIVEFUSION_CACHE_DIR` names another folder; if it is empty or `off`, nothing is kept.
///
/// The folder must belong to the user and to nobody else (mode 0700, not a symbolic link). One that others
/// can only read, and that holds nothing but kernels, is closed to them; of any other nothing is made use, a line
/// on the standard error says so once, and [`problem`](KernelCache::problem) says why. An entry that is damaged, or that somebody else
/// can have written, is compiled again and replaced. Faults of the disk are never errors of a program.
/// Several processes may use one folder at once. Clones are the same cache.
///
/// ```
/// use livefusion_c::{CBackend, KernelCache};
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("kernels");
/// let cache = KernelCache::in_folder(&path).limit(16 << 20);
/// let backend = CBackend::new().with_cache(cache.clone());
/// # drop(backend);
/// assert_eq!(cache.problem(), None);
/// cache.clear()?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct KernelCache {
    shared: Arc<Shared>,
    limit: u64,
}

struct Shared {
    /// Where it is, or why it is nowhere.
    place: Result<PathBuf, String>,
    folder: PerProcess<Result<Folder, String>>,
    /// What went wrong last while something was written.
    failed: PerProcess<Mutex<Option<String>>>,
    /// Bytes written since the folder was looked through; more than any limit before that.
    written: AtomicU64,
}

/// What a look into the cache came to.
#[derive(Debug)]
pub enum Lookup {
    /// The code's bytes, as they were kept.
    Hit(Vec<u8>),
    /// There is no entry.
    Miss,
    /// There was an entry that cannot be trusted.
    Refused,
}

/// What there is under a name in the folder.
enum Found {
    /// Nothing.
    Nothing,
    /// Something that only somebody else, or a mistake, can have put there.
    Refused,
    /// A file's bytes.
    Bytes(Vec<u8>),
}

/// A file of the folder.
struct Listed {
    name: String,
    bytes: u64,
    /// When it was last read or written.
    used: SystemTime,
}

/// Whether the cache gives files such names.
fn is_name_of_ours(name: &str) -> bool {
    name.ends_with(NEW) || name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

impl Listed {
    /// Whether the cache made it.
    fn is_ours(&self) -> bool {
        is_name_of_ours(&self.name)
    }

    /// Whether it is half written.
    fn is_new(&self) -> bool {
        self.name.ends_with(NEW)
    }

    /// Whether it is half written and nobody will finish it.
    fn is_left_behind(&self) -> bool {
        self.is_new() && self.used.elapsed().is_ok_and(|age| age > LEFT_BEHIND)
    }
}

impl Default for KernelCache {
    /// The cache that the environment asks for. It is looked for once in a process.
    fn default() -> KernelCache {
        static DEFAULT: LazyLock<KernelCache> =
            LazyLock::new(|| KernelCache::at(place::from_environment()));
        DEFAULT.clone()
    }
}

impl KernelCache {
    fn at(place: Result<PathBuf, String>) -> KernelCache {
        KernelCache {
            shared: Arc::new(Shared {
                place,
                folder: PerProcess::new(),
                failed: PerProcess::new(),
                written: AtomicU64::new(u64::MAX),
            }),
            limit: LIMIT,
        }
    }

    /// A cache in a folder, which is made with its first use if it is not there.
    pub fn in_folder(path: impl Into<PathBuf>) -> KernelCache {
        KernelCache::at(Ok(path.into()))
    }

    /// No cache: every process compiles for itself.
    ///
    /// ```
    /// use livefusion_c::KernelCache;
    /// assert_eq!(KernelCache::off().problem().as_deref(), Some("it is switched off"));
    /// ```
    pub fn off() -> KernelCache {
        KernelCache::at(Err("it is switched off".into()))
    }

    /// The same cache, which keeps at most so many bytes.
    pub fn limit(mut self, bytes: u64) -> KernelCache {
        self.limit = bytes;
        self
    }

    /// Where it is, unless it is off.
    pub fn path(&self) -> Option<&Path> {
        self.shared.place.as_deref().ok()
    }

    /// Why nothing is kept, if so: it is off, the folder is somebody else's, the disk is full.
    pub fn problem(&self) -> Option<String> {
        match self.folder() {
            Ok(_) => self.failed().clone(),
            Err(why) => Some(why.to_string()),
        }
    }

    /// Removes all entries. Loaded kernels stay as they are.
    pub fn clear(&self) -> io::Result<()> {
        if self.path().is_none() {
            return Ok(());
        }
        let folder = self.folder().map_err(io::Error::other)?;
        for file in folder.list()?.iter().filter(|f| f.is_ours()) {
            match folder.remove(&file.name) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether there is a cache to look into.
    pub(crate) fn is_usable(&self) -> bool {
        self.folder().is_ok()
    }

    /// Looks for compiled code.
    pub fn find(&self, key: &Key) -> Lookup {
        let Ok(folder) = self.folder() else {
            return Lookup::Miss;
        };
        let library = match folder.read(&key.name) {
            Found::Nothing => return Lookup::Miss,
            Found::Refused => None,
            Found::Bytes(bytes) => entry::decode(&bytes, key.text.as_bytes()).map(<[u8]>::to_vec),
        };
        match library {
            Some(library) => Lookup::Hit(library),
            None => {
                let _ = folder.remove(&key.name);
                Lookup::Refused
            }
        }
    }

    /// Keeps compiled code, if there is room for it.
    pub fn keep(&self, key: &Key, library: &[u8]) {
        let Ok(folder) = self.folder() else {
            return;
        };
        let entry = entry::encode(key.text.as_bytes(), library);
        if entry.len() > entry::MOST || entry.len() as u64 > self.limit {
            return;
        }
        let kept = self
            .make_room(folder, entry.len() as u64)
            .and_then(|()| folder.write(&key.name, &entry));
        *self.failed() = kept.err().map(|e| format!("an entry was not written: {e}"));
    }

    /// Removes what was not used for longest until `bytes` more fit. The folder is looked through only
    /// when the process has written a sixteenth of the limit, and so much is made free beforehand.
    fn make_room(&self, folder: &Folder, bytes: u64) -> io::Result<()> {
        let (written, slack) = (&self.shared.written, self.limit / 16);
        let after = written.load(Ordering::Relaxed).saturating_add(bytes);
        if after <= slack {
            written.store(after, Ordering::Relaxed);
            return Ok(());
        }
        written.store(0, Ordering::Relaxed);
        let mut files = folder.list()?;
        files.retain(|f| f.is_ours() && (!f.is_new() || f.is_left_behind()));
        files.sort_by_key(|f| (!f.is_left_behind(), f.used));
        let room = (self.limit - slack).saturating_sub(bytes);
        let mut total = files
            .iter()
            .fold(0u64, |sum, f| sum.saturating_add(f.bytes));
        for file in &files {
            if total <= room && !file.is_left_behind() {
                break;
            }
            // Another process may have removed it meanwhile.
            let _ = folder.remove(&file.name);
            total = total.saturating_sub(file.bytes);
        }
        Ok(())
    }

    fn folder(&self) -> Result<&Folder, &str> {
        let path = self.shared.place.as_deref().map_err(String::as_str)?;
        let folder = self.shared.folder.get_or_make(|| Folder::open(path));
        folder.as_ref().map_err(String::as_str)
    }

    fn failed(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        let failed = self.shared.failed.get_or_make(Mutex::default).lock();
        failed.unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for KernelCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.shared.place {
            Ok(path) => write!(f, "KernelCache({}, {} bytes)", path.display(), self.limit),
            Err(why) => write!(f, "KernelCache({why})"),
        }
    }
}
