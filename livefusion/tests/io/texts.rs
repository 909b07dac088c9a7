//! Arrays of text, compared with the same operations on `String`s.

use super::fault;
use livefusion::io::{Labels, Texts, csv_text};
use livefusion::prelude::*;
use proptest::prelude::*;

fn words() -> impl Strategy<Value = Vec<String>> {
    let word = proptest::sample::select(&["", "a", "ab", "b", "B", "é", "zz", "Oslo"][..]);
    proptest::collection::vec(word.prop_map(String::from), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn texts_compare_sort_and_group_as_strings_do(xs in words(), ys in words(), text in words()) {
        let (own, others) = (Texts::of(&xs), Texts::of(&ys));
        prop_assert_eq!(own.to_vec().unwrap(), xs.clone());
        let text = text.first().map_or("m", String::as_str);
        let is = |holds: fn(&str, &str) -> bool| -> Vec<bool> { xs.iter().map(|x| holds(x, text)).collect() };
        prop_assert_eq!(own.eq(text).to_vec().unwrap(), is(|a, b| a == b));
        prop_assert_eq!(own.ne(text).to_vec().unwrap(), is(|a, b| a != b));
        prop_assert_eq!(own.lt(text).to_vec().unwrap(), is(|a, b| a < b));
        prop_assert_eq!(own.le(text).to_vec().unwrap(), is(|a, b| a <= b));
        prop_assert_eq!(own.gt(text).to_vec().unwrap(), is(|a, b| a > b));
        prop_assert_eq!(own.ge(text).to_vec().unwrap(), is(|a, b| a >= b));
        let mut sorted = xs.clone();
        sorted.sort();
        prop_assert_eq!(own.with_codes(&own.codes().sort()).to_vec().unwrap(), sorted);
        let turned: Vec<String> = xs.iter().rev().cloned().collect();
        let others_turned = Texts::of(&turned);
        let least = |f: fn(&String, &String) -> bool| -> Vec<bool> { xs.iter().zip(&turned).map(|(a, b)| f(a, b)).collect() };
        prop_assert_eq!(own.eq_each(&others_turned).to_vec().unwrap(), least(|a, b| a == b));
        prop_assert_eq!(own.lt_each(&others_turned).to_vec().unwrap(), least(|a, b| a < b));
        let (a, b) = own.alike(&others);
        prop_assert_eq!(a.labels(), b.labels());
        prop_assert_eq!((a.to_vec().unwrap(), b.to_vec().unwrap()), (xs.clone(), ys.clone()));
        let pairs = a.codes().join(b.codes()).to_vec().unwrap();
        let (mut expected, mut expected_left) = (Vec::new(), Vec::new());
        for (i, x) in xs.iter().enumerate() {
            let equal = ys.iter().enumerate().filter(|(_, y)| *y == x).map(|(j, _)| (i as u64, j as u64));
            let before = expected.len();
            expected.extend(equal);
            expected_left.extend(expected[before..].iter().map(|(i, j)| (*i, *j, true)));
            if expected.len() == before {
                expected_left.push((i as u64, 0, false));
            }
        }
        prop_assert_eq!(&pairs, &expected);
        prop_assert_eq!(own.join(&others).to_vec().unwrap(), pairs);
        prop_assert_eq!(own.left_join(&others).to_vec().unwrap(), expected_left);
        let tags = own.gt("a");
        let kept: Vec<String> = xs.iter().filter(|x| x.as_str() > "a").cloned().collect();
        prop_assert_eq!(own.pack(&tags).to_vec().unwrap(), kept);
    }
}

#[test]
fn texts_of_a_table_have_codes_in_the_order_of_the_texts() {
    let table = csv_text("city,n\nRome,1\nOslo,2\nRome,3\n").read().unwrap();
    assert_eq!(table.codes("city").unwrap().force().unwrap(), [0, 1, 0]);
    let texts = table.texts("city").unwrap();
    assert_eq!(texts.codes().force().unwrap(), [1, 0, 1]);
    assert_eq!(texts.labels().iter().collect::<Vec<_>>(), ["Oslo", "Rome"]);
    assert_eq!(
        fault(table.texts("n")),
        "column \"n\": expected text, got i64"
    );
    let again = table.with_texts("copy", &texts).unwrap();
    assert_eq!(
        again.text("copy").unwrap().collect::<Vec<_>>(),
        ["Rome", "Oslo", "Rome"]
    );
}

#[test]
fn texts_of_codes_without_a_label_are_an_error() {
    let texts = Texts::new(&Array::from(vec![0u32, 2]), &Labels::of(["a", "b"]));
    assert_eq!(
        fault(texts.to_vec()),
        "expected a code of one of 2 texts, got 2"
    );
    // Codes that have no label are not looked up.
    let (texts, _) = texts.alike(&Texts::of(["c"]));
    assert!(texts.to_vec().is_err());
}
