//! Names of values: each has its own, like the one that is wanted.

use rustc_hash::FxHashMap;

/// Names that are taken, and the last number that was put behind each.
pub(super) struct Names(FxHashMap<String, u32>);

impl Names {
    /// These are taken.
    pub(super) fn of<'n>(taken: impl Iterator<Item = &'n String>) -> Names {
        Names(taken.map(|name| (name.clone(), 1)).collect())
    }

    /// A name that nothing has.
    pub(super) fn own(&mut self, name: &str) -> String {
        let mut own = name.to_string();
        while self.0.contains_key(&own) {
            let k = self.0.entry(name.to_string()).or_insert(1);
            *k += 1;
            own = format!("{name}_{k}");
        }
        self.0.insert(own.clone(), 1);
        own
    }
}
