//! The laws of alias maps, against a plain list of (set of keys, value).

use loop_lang::alias_map::AliasMap;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

type Map = AliasMap<u8, Vec<u32>>;
/// Each set of synonyms with its value, sorted.
type Sets = BTreeMap<Vec<u8>, Vec<u32>>;

fn sets(map: &Map) -> Sets {
    let sorted = map.iter().map(|(keys, value)| {
        let (mut keys, mut value) = (keys.to_vec(), value.clone());
        keys.sort();
        value.sort();
        (keys, value)
    });
    sorted.collect()
}

fn concat(mut a: Vec<u32>, b: Vec<u32>) -> Result<Vec<u32>, Infallible> {
    a.extend(b);
    Ok(a)
}

fn union(a: &Map, b: &Map) -> Map {
    let Ok(map) = a.clone().union(b.clone(), concat);
    map
}

/// A map of the sets that do not clash with earlier ones; values are unique by `tag`.
fn map(tag: u32, wanted: Vec<BTreeSet<u8>>) -> Map {
    let mut map = Map::new();
    for (i, keys) in wanted.into_iter().enumerate() {
        let fresh = !keys.is_empty() && keys.iter().all(|k| map.get(*k).is_none());
        let inserted = map.insert(keys.clone(), vec![tag + i as u32]);
        assert!(keys.is_empty() || fresh == inserted.is_ok());
    }
    map.retain(|keys, _| !keys.is_empty());
    map
}

fn any_map(tag: u32) -> impl Strategy<Value = Map> {
    let keys = prop::collection::btree_set(0u8..24, 0..5);
    prop::collection::vec(keys, 0..8).prop_map(move |wanted| map(tag, wanted))
}

#[test]
fn insert_and_lookup_by_any_synonym() {
    let mut map = Map::new();
    assert!(map.is_empty());
    assert_eq!(map.insert([3, 1, 3], vec![7]), Ok(()));
    assert_eq!(map.get(1), Some(&vec![7]));
    assert_eq!(map.get(1), map.get(3));
    assert_eq!(map.get(2), None);
    assert_eq!(map.synonyms(1), [3, 1]);
    assert!(map.synonyms(2).is_empty());
    assert_eq!(map.insert([2, 1], vec![8]), Err(vec![8]));
    assert_eq!(map.get(2), None);
    map.get_mut(3).unwrap().push(9);
    assert_eq!(map.get(1), Some(&vec![7, 9]));
    assert_eq!(map.len(), 1);
}

#[test]
fn the_older_set_comes_first() {
    let mut map = Map::new();
    map.insert([0], vec![0]).unwrap();
    map.insert([1], vec![1]).unwrap();
    map.insert([2, 3, 4], vec![2]).unwrap();
    // The larger set's keys do not move, but the joined set is as old as its oldest part.
    assert_eq!(map.unify(3, 0, concat), Ok(true));
    assert_eq!(map.unify(1, 4, concat), Ok(true));
    assert_eq!(map.get(1), Some(&vec![0, 2, 1]));
    assert_eq!(map.slot(1), Some(0));
    assert_eq!(map.unify(1, 9, concat), Ok(false));
}

#[test]
fn a_failed_merge_removes_both_sets() {
    let mut map = Map::new();
    map.insert([0, 1], vec![0]).unwrap();
    map.insert([2], vec![1]).unwrap();
    map.insert([3], vec![2]).unwrap();
    assert_eq!(map.unify(1, 2, |_, _| Err("clash")), Err("clash"));
    assert_eq!(map.keys().collect::<Vec<_>>(), [3]);
    assert_eq!(map.get(0), None);
    assert_eq!(map.insert([0], vec![5]), Ok(()));
}

proptest! {
    #[test]
    fn synonyms_are_an_equivalence(m in any_map(0)) {
        for a in m.keys() {
            prop_assert!(m.synonyms(a).contains(&a));
            for b in m.synonyms(a) {
                prop_assert_eq!(m.synonyms(*b), m.synonyms(a));
                prop_assert_eq!(m.get(*b), m.get(a));
                prop_assert_eq!(m.slot(*b), m.slot(a));
            }
        }
        let keys: Vec<u8> = m.keys().collect();
        let distinct: BTreeSet<u8> = keys.iter().copied().collect();
        prop_assert_eq!(distinct.len(), keys.len());
    }

    #[test]
    fn add_synonym_adds_one_key(m in any_map(0), key in 0u8..24, new in 0u8..24) {
        let mut after = m.clone();
        let joined = m.get(key).is_some() && (m.get(new).is_none() || m.synonyms(key).contains(&new));
        prop_assert_eq!(after.add_synonym(key, new), joined);
        if joined {
            prop_assert_eq!(after.get(new), m.get(key));
            prop_assert_eq!(after.len(), m.len());
        } else {
            prop_assert_eq!(sets(&after), sets(&m));
        }
    }

    #[test]
    fn union_is_associative_and_commutative(a in any_map(0), b in any_map(100), c in any_map(200)) {
        prop_assert_eq!(sets(&union(&union(&a, &b), &c)), sets(&union(&a, &union(&b, &c))));
        prop_assert_eq!(sets(&union(&a, &b)), sets(&union(&b, &a)));
    }

    #[test]
    fn union_has_an_identity_and_joins_what_meets(a in any_map(0), b in any_map(100)) {
        prop_assert_eq!(sets(&union(&a, &Map::new())), sets(&a));
        prop_assert_eq!(sets(&union(&Map::new(), &a)), sets(&a));
        let both = union(&a, &b);
        let keys: BTreeSet<u8> = a.keys().chain(b.keys()).collect();
        prop_assert_eq!(both.keys().collect::<BTreeSet<u8>>(), keys);
        for m in [&a, &b] {
            for k in m.keys() {
                prop_assert!(m.synonyms(k).iter().all(|s| both.slot(*s) == both.slot(k)));
            }
        }
        // Every value is kept once.
        let total = |m: &Map| m.iter().map(|(_, v)| v.len()).sum::<usize>();
        prop_assert_eq!(total(&both), total(&a) + total(&b));
    }

    #[test]
    fn map_keeps_synonyms(m in any_map(0)) {
        let mapped = m.clone().map(|keys, v| (keys.len(), v));
        prop_assert_eq!(mapped.keys().collect::<Vec<_>>(), m.keys().collect::<Vec<_>>());
        for k in m.keys() {
            let (n, value) = mapped.get(k).unwrap();
            prop_assert_eq!(*n, m.synonyms(k).len());
            prop_assert_eq!(Some(value), m.get(k));
        }
    }

    #[test]
    fn reorder_numbers_densely(m in any_map(0)) {
        let mut after = m.clone();
        after.reorder(|keys, _| std::cmp::Reverse(keys[0]), |k| *k);
        prop_assert_eq!(sets(&after), sets(&m));
        for (i, (keys, value)) in after.iter().enumerate() {
            prop_assert!(keys.is_sorted());
            prop_assert_eq!(after.at(i), Some((keys, value)));
            prop_assert!(keys.iter().all(|k| after.slot(*k) == Some(i)));
        }
        let firsts: Vec<u8> = after.iter().map(|(keys, _)| keys[0]).collect();
        prop_assert!(firsts.is_sorted_by(|a, b| a > b));
    }
}
