//! Alias maps: a set of keys (synonyms) shares one value. Loops merge through this structure.
//!
//! It follows the `AliasMap` of the LiveFusion thesis, chapter "Loop representation: The Loop
//! Language". Sets are numbered in order of insertion, and a joined set keeps the number of its
//! older part. So everything derived from an alias map is deterministic. A join of two sets moves
//! the keys of the smaller one: a key moves at most log(n) times.

use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::Hash;

/// Maps disjoint sets of synonymous keys to values.
#[derive(Clone, Debug)]
pub struct AliasMap<K, V> {
    /// The handle of each key's set. A handle stays with the keys, a slot with the set's age.
    handle_of: FxHashMap<K, usize>,
    slot_of: Vec<usize>,
    slots: Vec<Option<(Vec<K>, V)>>,
}

impl<K, V> Default for AliasMap<K, V> {
    fn default() -> Self {
        AliasMap {
            handle_of: FxHashMap::default(),
            slot_of: Vec::new(),
            slots: Vec::new(),
        }
    }
}

impl<K: Copy + Eq + Hash, V> AliasMap<K, V> {
    /// Returns an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a set of synonyms with its value.
    ///
    /// # Errors
    ///
    /// Returns the value if a key is already present.
    pub fn insert(&mut self, keys: impl IntoIterator<Item = K>, value: V) -> Result<(), V> {
        let mut keys: Vec<K> = keys.into_iter().collect();
        let mut seen = FxHashSet::default();
        keys.retain(|k| seen.insert(*k));
        if keys.iter().any(|k| self.handle_of.contains_key(k)) {
            return Err(value);
        }
        let handle = self.slot_of.len();
        self.handle_of.extend(keys.iter().map(|k| (*k, handle)));
        self.slot_of.push(self.slots.len());
        self.slots.push(Some((keys, value)));
        Ok(())
    }

    /// Returns the value that `key` shares with its synonyms.
    pub fn get(&self, key: K) -> Option<&V> {
        self.at(self.slot(key)?).map(|(_, v)| v)
    }

    /// Returns the shared value mutably.
    ///
    /// A change applies to all synonyms of `key`.
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let slot = self.slot(key)?;
        self.slots.get_mut(slot)?.as_mut().map(|s| &mut s.1)
    }

    /// Returns all keys that share `key`'s value, including `key`.
    ///
    /// The result is empty if `key` is absent.
    pub fn synonyms(&self, key: K) -> &[K] {
        self.slot(key)
            .and_then(|s| self.at(s))
            .map_or(&[], |(k, _)| k)
    }

    /// Makes `new` a synonym of `key`.
    ///
    /// Returns false if `key` is absent or `new` is already in another set.
    pub fn add_synonym(&mut self, key: K, new: K) -> bool {
        let Some(&handle) = self.handle_of.get(&key) else {
            return false;
        };
        if let Some(&h) = self.handle_of.get(&new) {
            return h == handle;
        }
        self.handle_of.insert(new, handle);
        if let Some((keys, _)) = &mut self.slots[self.slot_of[handle]] {
            keys.push(new);
        }
        true
    }

    /// Joins the sets of `a` and `b`.
    ///
    /// The new value is `merge(value of the older set, value of the younger set)`, in the older
    /// set's slot. A join of a set with itself changes nothing. The result is `Ok(false)` if a key
    /// is absent.
    ///
    /// # Errors
    ///
    /// Returns `merge`'s error, with both sets removed.
    pub fn unify<E>(
        &mut self,
        a: K,
        b: K,
        merge: impl FnOnce(V, V) -> Result<V, E>,
    ) -> Result<bool, E> {
        let (Some(&ha), Some(&hb)) = (self.handle_of.get(&a), self.handle_of.get(&b)) else {
            return Ok(false);
        };
        if ha == hb {
            return Ok(true);
        }
        let (old, young) = if self.slot_of[ha] < self.slot_of[hb] {
            (ha, hb)
        } else {
            (hb, ha)
        };
        let slot = self.slot_of[old];
        let (Some((mut keys, v1)), Some((more, v2))) = (
            self.slots[slot].take(),
            self.slots[self.slot_of[young]].take(),
        ) else {
            return Ok(false);
        };
        // The larger set's handle survives, so that few keys are renumbered.
        let (kept, moved) = if keys.len() >= more.len() {
            (old, &more)
        } else {
            (young, &keys)
        };
        for k in moved {
            self.handle_of.insert(*k, kept);
        }
        self.slot_of[kept] = slot;
        keys.extend(more);
        match merge(v1, v2) {
            Ok(v) => {
                self.slots[slot] = Some((keys, v));
                Ok(true)
            }
            Err(e) => {
                for k in &keys {
                    self.handle_of.remove(k);
                }
                Err(e)
            }
        }
    }

    /// Returns the union of two maps.
    ///
    /// Sets that share a key are joined, and their values are merged. A set that overlaps several
    /// sets of the other map joins them all.
    pub fn union<E>(
        mut self,
        other: Self,
        mut merge: impl FnMut(V, V) -> Result<V, E>,
    ) -> Result<Self, E> {
        for (keys, value) in other.slots.into_iter().flatten() {
            let met = |k: &K| self.handle_of.contains_key(k);
            let met: Vec<K> = keys.iter().copied().filter(met).collect();
            let Some(&anchor) = met.first() else {
                // No key is present, so this cannot fail.
                let _ = self.insert(keys, value);
                continue;
            };
            for k in &met {
                self.unify(anchor, *k, &mut merge)?;
            }
            for k in keys {
                self.add_synonym(anchor, k);
            }
            let slot = self.slot_of[self.handle_of[&anchor]];
            if let Some((keys, old)) = self.slots[slot].take() {
                self.slots[slot] = Some((keys, merge(old, value)?));
            }
        }
        Ok(self)
    }

    /// Maps every value and keeps the synonyms.
    pub fn map<W>(self, mut f: impl FnMut(&[K], V) -> W) -> AliasMap<K, W> {
        let slots = self.slots.into_iter().map(|slot| {
            slot.map(|(keys, v)| {
                let w = f(&keys, v);
                (keys, w)
            })
        });
        AliasMap {
            slots: slots.collect(),
            handle_of: self.handle_of,
            slot_of: self.slot_of,
        }
    }

    /// Lists every key, set by set in slot order.
    pub fn keys(&self) -> impl Iterator<Item = K> + '_ {
        self.slots
            .iter()
            .flatten()
            .flat_map(|s| s.0.iter().copied())
    }

    /// Lists every set with its value, in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (&[K], &V)> {
        self.slots.iter().flatten().map(|(k, v)| (&k[..], v))
    }

    /// Lists every value mutably, in slot order.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.slots.iter_mut().flatten().map(|(_, v)| v)
    }

    /// Returns the slot number of a key's set.
    ///
    /// It is dense after [`AliasMap::reorder`], and equal for synonyms.
    pub fn slot(&self, key: K) -> Option<usize> {
        self.handle_of.get(&key).map(|h| self.slot_of[*h])
    }

    /// Returns the set and value in a slot.
    pub fn at(&self, slot: usize) -> Option<(&[K], &V)> {
        self.slots.get(slot)?.as_ref().map(|(k, v)| (&k[..], v))
    }

    /// Returns the number of sets.
    pub fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// Tells whether there is no set.
    pub fn is_empty(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    /// Keeps the sets for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&[K], &V) -> bool) {
        for slot in &mut self.slots {
            if slot.as_ref().is_some_and(|(k, v)| !keep(k, v)) {
                *slot = None;
            }
        }
        let (slots, slot_of) = (&self.slots, &self.slot_of);
        self.handle_of.retain(|_, h| slots[slot_of[*h]].is_some());
    }

    /// Renumbers the sets densely in the order of `order(keys, value)`.
    ///
    /// It also sorts the synonyms of each set by `key_order`, so that equal maps print equally.
    pub fn reorder<O: Ord, P: Ord>(
        &mut self,
        mut order: impl FnMut(&[K], &V) -> O,
        mut key_order: impl FnMut(&K) -> P,
    ) {
        let slots = std::mem::take(&mut self.slots);
        let mut sets: Vec<(Vec<K>, V)> = slots.into_iter().flatten().collect();
        for (keys, _) in &mut sets {
            keys.sort_by_key(&mut key_order);
        }
        sets.sort_by_cached_key(|(k, v)| order(k, v));
        self.handle_of.clear();
        for (i, (keys, _)) in sets.iter().enumerate() {
            self.handle_of.extend(keys.iter().map(|k| (*k, i)));
        }
        self.slot_of = (0..sets.len()).collect();
        self.slots = sets.into_iter().map(Some).collect();
    }
}
