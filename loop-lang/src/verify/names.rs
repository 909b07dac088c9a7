//! Names are unique words without other meanings, so that the text form is unambiguous.

use super::Faults;
use crate::ir::Loop;
use crate::op::Op;
use crate::words::is_reserved;
use rustc_hash::FxHashSet;
use std::borrow::Cow;

pub(super) fn check(l: &Loop, faults: &mut Faults) {
    if !is_word(&l.name, false) {
        faults.add("loop", format!("`{}` is not a name", l.name));
    }
    unique(
        "combinator",
        true,
        l.combs.iter().map(|c| &c.name[..]),
        faults,
    );
    unique("rate", false, l.rates.iter().map(|r| &r.name[..]), faults);
    unique(
        "function",
        false,
        l.functions.iter().map(|f| &f.name[..]),
        faults,
    );
    unique(
        "variable",
        false,
        l.vars.iter().map(|v| &v.name[..]),
        faults,
    );
    for comb in l.combs.iter().filter(|c| !is_word(&c.kind, false)) {
        faults.add(&comb.name, format!("`{}` is not a kind's name", comb.kind));
    }
    for data in l.vars.iter().filter(|v| is_reserved(&v.name)) {
        faults.add(&data.name, "this name has a meaning of its own");
    }
    for function in &l.functions {
        if Op::from_name(&function.name).is_some() {
            faults.add(&function.name, "an operator has this name");
        }
    }
}

fn unique<'a>(
    what: &str,
    numbers: bool,
    names: impl Iterator<Item = &'a str>,
    faults: &mut Faults,
) {
    let mut seen = FxHashSet::default();
    for name in names {
        if !is_word(name, numbers) {
            faults.add(name, format!("`{name}` is not a {what}'s name"));
        } else if !seen.insert(name) {
            faults.add(name, format!("two {what}s have this name"));
        }
    }
}

/// Tells whether a name has only letters, digits and underscores; `numbers` allows a leading digit.
fn is_word(name: &str, numbers: bool) -> bool {
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name
            .bytes()
            .next()
            .is_some_and(|b| numbers || !b.is_ascii_digit())
}

/// Turns an arbitrary name into a word.
///
/// Other characters become underscores.
///
/// ```
/// use loop_lang::verify::as_word;
/// assert_eq!([as_word("map"), as_word("7 */\n"), as_word("")], ["map", "_7____", "_"]);
/// ```
pub fn as_word(name: &str) -> Cow<'_, str> {
    if is_word(name, false) {
        return name.into();
    }
    let fit = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let clean = name.chars().map(fit);
    std::iter::once('_').chain(clean).collect()
}
