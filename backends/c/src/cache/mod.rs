//! Compiled code on disk, for later processes.
//!
//! It holds libraries of this backend and compiled code of other backends.
//!
//! | module | contents |
//! | --- | --- |
//! | `key` | the inputs of compiled code: its source, the compiler, the processor |
//! | `place` | the location of the cache |
//! | `folder` | the private folder |
//! | `entry` | an entry's bytes, which are checked before they are loaded |
//!
//! The folder is used through one open handle, after a check of owner and mode. Entries are written
//! under a temporary name and renamed. The loaded bytes are exactly the checked bytes. A disk fault
//! costs a compilation, never a result.

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

/// The default size limit of a cache in bytes.
const LIMIT: u64 = 256 << 20;

/// The suffix of files that are being written.
const NEW: &str = ".new";

/// The age from which an unfinished file counts as left by a dead process.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// Caches compiled kernels on disk, so that later processes need not compile again.
///
/// The default folder is `livefusion` in the user's caches (`$XDG_CACHE_HOME`, else `~/.cache`; on
/// macOS `~/Library/Caches`). It holds at most 256 MiB. The least recently used entries go first.
/// The variable `LIVEFUSION_CACHE_DIR` names another folder. If it is empty or `off`, nothing is
/// kept.
///
/// The folder must belong to the user alone (mode 0700, not a symbolic link). If others can only
/// read it, and it holds nothing but kernels, its mode is corrected. Any other folder is not used.
/// One line on standard error says so once, and [`problem`](KernelCache::problem) returns the
/// reason.
///
/// An entry is compiled again and replaced if it is damaged, or if another user can have written
/// it. Disk faults are never errors of a program. Several processes may use one folder at once.
/// Clones share the cache.
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
    /// The folder, or the reason why there is none.
    place: Result<PathBuf, String>,
    folder: PerProcess<Result<Folder, String>>,
    /// The last write error.
    failed: PerProcess<Mutex<Option<String>>>,
    /// Bytes written since the last scan of the folder. Before the first scan it exceeds any limit.
    written: AtomicU64,
}

/// Lists the results of a lookup.
#[derive(Debug)]
pub enum Lookup {
    /// The stored bytes.
    Hit(Vec<u8>),
    /// There is no entry.
    Miss,
    /// There was an entry that cannot be trusted.
    Refused,
}

/// The content found under a name in the folder.
enum Found {
    /// No file.
    Nothing,
    /// A file that only another user, or a mistake, can have put there.
    Refused,
    /// A file's bytes.
    Bytes(Vec<u8>),
}

/// A file of the folder.
struct Listed {
    name: String,
    bytes: u64,
    /// The time of the last read or write.
    used: SystemTime,
}

/// Returns whether the cache gives files such names.
fn is_name_of_ours(name: &str) -> bool {
    name.ends_with(NEW) || name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

impl Listed {
    /// Returns whether the cache made it.
    fn is_ours(&self) -> bool {
        is_name_of_ours(&self.name)
    }

    /// Returns whether it is unfinished.
    fn is_new(&self) -> bool {
        self.name.ends_with(NEW)
    }

    /// Returns whether it is unfinished and its writer is dead.
    fn is_left_behind(&self) -> bool {
        self.is_new() && self.used.elapsed().is_ok_and(|age| age > LEFT_BEHIND)
    }
}

impl Default for KernelCache {
    /// Opens the cache that the environment selects. The environment is read once per process.
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

    /// Creates a cache in a folder.
    ///
    /// The folder is created on first use if it is missing.
    pub fn in_folder(path: impl Into<PathBuf>) -> KernelCache {
        KernelCache::at(Ok(path.into()))
    }

    /// Disables the cache, so that every process compiles for itself.
    ///
    /// ```
    /// use livefusion_c::KernelCache;
    /// assert_eq!(KernelCache::off().problem().as_deref(), Some("it is switched off"));
    /// ```
    pub fn off() -> KernelCache {
        KernelCache::at(Err("it is switched off".into()))
    }

    /// Sets the size limit in bytes.
    pub fn limit(mut self, bytes: u64) -> KernelCache {
        self.limit = bytes;
        self
    }

    /// Returns the folder, unless the cache is off.
    pub fn path(&self) -> Option<&Path> {
        self.shared.place.as_deref().ok()
    }

    /// Returns the reason why nothing is kept, if any.
    ///
    /// For example, the cache is off, the folder belongs to another user, or the disk is full.
    pub fn problem(&self) -> Option<String> {
        match self.folder() {
            Ok(_) => self.failed().clone(),
            Err(why) => Some(why.to_string()),
        }
    }

    /// Removes all entries.
    ///
    /// Loaded kernels stay as they are.
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

    /// Returns whether the cache can be searched.
    pub(crate) fn is_usable(&self) -> bool {
        self.folder().is_ok()
    }

    /// Looks up compiled code.
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

    /// Stores compiled code, if it fits the limit.
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

    /// Removes the least recently used entries until `bytes` more fit.
    ///
    /// The folder is scanned only after this process has written a sixteenth of the limit. Each
    /// scan frees that much in advance.
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
