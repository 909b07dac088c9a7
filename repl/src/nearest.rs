//! Suggestions for misspelt names.

/// Finds the nearest candidates to a misspelt name.
///
/// It returns at most three, the nearest first. A candidate may differ in one edit for every three
/// letters of the name. An edit adds, removes, replaces or swaps letters.
///
/// ```
/// use livefusion_repl::nearest;
/// assert_eq!(nearest("fitler", ["map", "filter", "filter_map"]), ["filter"]);
/// assert_eq!(nearest("cumsun", ["sum", "cumsum", "cumsum_all"]), ["cumsum"]);
/// assert!(nearest("exit", ["exp", "fft"]).is_empty());
/// ```
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name: Vec<char> = name.chars().collect();
    let most = match name.len() {
        0..3 => 0,
        n => n / 3,
    };
    let near = candidates.into_iter().filter_map(|c| {
        let other: Vec<char> = c.chars().collect();
        let may_be = other.len().abs_diff(name.len()) <= most;
        let edits = may_be.then(|| edits(&name, &other))?;
        (edits <= most && edits < name.len()).then_some((edits, c))
    });
    let mut near: Vec<_> = near.collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, c)| c).take(3).collect()
}

/// The number of letters added, removed, replaced, or swapped with the next.
fn edits(a: &[char], b: &[char]) -> usize {
    let first: Vec<usize> = (0..=b.len()).collect();
    let (mut before, mut last) = (first.clone(), first);
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let change = last[j] + usize::from(a[i] != b[j]);
            let mut least = change.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        let count = |a: &str, b: &str| {
            let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
            edits(&a, &b)
        };
        assert_eq!(count("", "abc"), 3);
        assert_eq!(count("sum", "sum"), 0);
        assert_eq!(count("mpa", "map"), 1);
        assert_eq!(count("kitten", "sitting"), 3);
    }

    #[test]
    fn the_nearest_come_first() {
        let names = ["maxes", "max", "map", "mean", "min"];
        assert_eq!(nearest("mas", names), ["map", "max"]);
        assert_eq!(nearest("map", names), ["map", "max"]);
        assert!(nearest("", names).is_empty());
        assert!(nearest("λ", ["μ"]).is_empty());
    }
}
