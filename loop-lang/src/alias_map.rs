//! A map in which a set of keys (synonyms) shares one value: the structure through which loops merge.
//!
//! Seed: the LiveFusion chapter's `AliasMap`. Sets are numbered in order of insertion, and that order
//! is kept, so everything made from an alias map is deterministic. Joining two sets moves the keys of
//! the smaller one: a key moves at most log(n) times.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Keys in disjoint sets of synonyms, one value per set.
#[derive(Clone, Debug)]
pub struct AliasMap<K, V> {
    slot_of: FxHashMap<K, usize>,
    slots: Vec<Option<(Vec<K>, V)>>,
}

impl<K, V> Default for AliasMap<K, V> {
    fn default() -> Self {
        AliasMap { slot_of: FxHashMap::default(), slots: Vec::new() }
    }
}

impl<K: Copy + Eq + Hash, V> AliasMap<K, V> {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a set of synonyms with its value. Returns the value again if a key is present already.
    pub fn insert(&mut self, keys: impl IntoIterator<Item = K>, value: V) -> Result<(), V> {
        let mut keys: Vec<K> = keys.into_iter().collect();
        let mut seen = rustc_hash::FxHashSet::default();
        keys.retain(|k| seen.insert(*k));
        if keys.iter().any(|k| self.slot_of.contains_key(k)) {
            return Err(value);
        }
        for k in &keys {
            self.slot_of.insert(*k, self.slots.len());
        }
        self.slots.push(Some((keys, value)));
        Ok(())
    }

    /// The value that `key` shares with its synonyms.
    pub fn get(&self, key: K) -> Option<&V> {
        self.slots[*self.slot_of.get(&key)?].as_ref().map(|s| &s.1)
    }

    /// The value that `key` shares with its synonyms, to be changed for all of them.
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.slots[*self.slot_of.get(&key)?].as_mut().map(|s| &mut s.1)
    }

    /// All keys that share `key`'s value, `key` included; empty if it is absent.
    pub fn synonyms(&self, key: K) -> &[K] {
        self.slot_of.get(&key).and_then(|s| self.slots[*s].as_ref()).map_or(&[], |s| &s.0)
    }

    /// Makes `new` a synonym of `key`. False if `key` is absent or `new` is already present elsewhere.
    pub fn add_synonym(&mut self, key: K, new: K) -> bool {
        let Some(&slot) = self.slot_of.get(&key) else { return false };
        match self.slot_of.get(&new) {
            Some(&s) => s == slot,
            None => {
                self.slot_of.insert(new, slot);
                if let Some((keys, _)) = &mut self.slots[slot] {
                    keys.push(new);
                }
                true
            }
        }
    }

    /// Joins the sets of `a` and `b` into one whose value is `merge(value of the earlier set, value
    /// of the later set)`. Joining a set with itself changes nothing.
    ///
    /// Errors: passes on `merge`'s error, with both sets removed; `Ok(false)` if a key is absent.
    pub fn unify<E>(
        &mut self,
        a: K,
        b: K,
        merge: impl FnOnce(V, V) -> Result<V, E>,
    ) -> Result<bool, E> {
        let (Some(&sa), Some(&sb)) = (self.slot_of.get(&a), self.slot_of.get(&b)) else {
            return Ok(false);
        };
        if sa == sb {
            return Ok(true);
        }
        let (first, second) = (sa.min(sb), sa.max(sb));
        let (Some((mut k1, v1)), Some((mut k2, v2))) =
            (self.slots[first].take(), self.slots[second].take())
        else {
            return Ok(false);
        };
        // The larger set's slot survives, so that few keys are renumbered.
        let (kept, moved) = if k1.len() >= k2.len() { (first, &k2) } else { (second, &k1) };
        for k in moved {
            self.slot_of.insert(*k, kept);
        }
        if kept == first {
            k1.append(&mut k2);
        } else {
            k2.append(&mut k1);
            std::mem::swap(&mut k1, &mut k2);
        }
        match merge(v1, v2) {
            Ok(v) => {
                self.slots[kept] = Some((k1, v));
                Ok(true)
            }
            Err(e) => {
                self.slot_of.retain(|_, s| *s != kept);
                Err(e)
            }
        }
    }

    /// The union of two maps. Sets that share a key become one, and their values are merged; a set of
    /// one map that meets several of the other joins them all.
    pub fn union<E>(
        mut self,
        other: Self,
        mut merge: impl FnMut(V, V) -> Result<V, E>,
    ) -> Result<Self, E> {
        for (keys, value) in other.slots.into_iter().flatten() {
            let met: Vec<K> = keys.iter().copied().filter(|k| self.slot_of.contains_key(k)).collect();
            let Some(&anchor) = met.first() else {
                let _ = self.insert(keys, value);
                continue;
            };
            for k in &met {
                self.unify(anchor, *k, &mut merge)?;
            }
            for k in keys {
                self.add_synonym(anchor, k);
            }
            let slot = self.slot_of[&anchor];
            if let Some((keys, old)) = self.slots[slot].take() {
                self.slots[slot] = Some((keys, merge(old, value)?));
            }
        }
        Ok(self)
    }

    /// The same synonyms with every value mapped.
    pub fn map<W>(self, mut f: impl FnMut(&[K], V) -> W) -> AliasMap<K, W> {
        AliasMap {
            slot_of: self.slot_of,
            slots: self
                .slots
                .into_iter()
                .map(|s| s.map(|(k, v)| { let w = f(&k, v); (k, w) }))
                .collect(),
        }
    }

    /// Every key, set by set in slot order.
    pub fn keys(&self) -> impl Iterator<Item = K> + '_ {
        self.slots.iter().flatten().flat_map(|s| s.0.iter().copied())
    }

    /// Every set with its value, in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (&[K], &V)> {
        self.slots.iter().flatten().map(|(k, v)| (&k[..], v))
    }

    /// Every value, to be changed, in slot order.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.slots.iter_mut().flatten().map(|(_, v)| v)
    }

    /// The slot number of a key's set: dense after [`AliasMap::reorder`], and equal for synonyms.
    pub fn slot(&self, key: K) -> Option<usize> {
        self.slot_of.get(&key).copied()
    }

    /// The set and value in a slot.
    pub fn at(&self, slot: usize) -> Option<(&[K], &V)> {
        self.slots.get(slot)?.as_ref().map(|(k, v)| (&k[..], v))
    }

    /// Number of sets.
    pub fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// Whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps the sets for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&[K], &V) -> bool) {
        for slot in &mut self.slots {
            if slot.as_ref().is_some_and(|(k, v)| !keep(k, v)) {
                *slot = None;
            }
        }
        let slots = &self.slots;
        self.slot_of.retain(|_, s| slots[*s].is_some());
    }

    /// Renumbers the sets densely in the order of `order(first key..)`, and sorts the synonyms of
    /// each set by `key_order`, so that equal maps print equally.
    pub fn reorder<O: Ord, P: Ord>(
        &mut self,
        mut order: impl FnMut(&[K], &V) -> O,
        mut key_order: impl FnMut(&K) -> P,
    ) {
        let mut sets: Vec<(Vec<K>, V)> = std::mem::take(&mut self.slots).into_iter().flatten().collect();
        for (keys, _) in &mut sets {
            keys.sort_by_key(|k| key_order(k));
        }
        sets.sort_by_cached_key(|(k, v)| order(k, v));
        self.slot_of.clear();
        for (i, (keys, _)) in sets.iter().enumerate() {
            for k in keys {
                self.slot_of.insert(*k, i);
            }
        }
        self.slots = sets.into_iter().map(Some).collect();
    }
}
