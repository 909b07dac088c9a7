//! The cache of loaded files.

use crate::value::Value;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// Holds the contents of files by load arguments, and the cost of reading.
#[derive(Default)]
pub struct Loaded {
    values: HashMap<Vec<String>, Value>,
    /// The time spent reading.
    pub time: Duration,
    /// The bytes of the files.
    pub bytes: u64,
}

impl Loaded {
    /// Returns the cached contents for these arguments.
    pub fn get(&self, key: &[String]) -> Option<&Value> {
        self.values.get(key)
    }

    /// Caches the contents of a file.
    pub fn insert(&mut self, key: Vec<String>, value: Value, path: &Path, time: Duration) {
        self.values.insert(key, value);
        self.time += time;
        self.bytes += std::fs::metadata(path).map_or(0, |file| file.len());
    }
}
