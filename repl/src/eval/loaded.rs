//! The contents of files that were read.

use crate::value::Value;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

/// The contents of files by the arguments that they were loaded with, and what reading them took.
#[derive(Default)]
pub struct Loaded {
    values: HashMap<Vec<String>, Value>,
    /// The time that reading them took.
    pub time: Duration,
    /// The bytes of the files.
    pub bytes: u64,
}

impl Loaded {
    /// The contents that these arguments gave.
    pub fn get(&self, key: &[String]) -> Option<&Value> {
        self.values.get(key)
    }

    /// Keeps the contents of a file.
    pub fn insert(&mut self, key: Vec<String>, value: Value, path: &Path, time: Duration) {
        self.values.insert(key, value);
        self.time += time;
        self.bytes += std::fs::metadata(path).map_or(0, |file| file.len());
    }
}
