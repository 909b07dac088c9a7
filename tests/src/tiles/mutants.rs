//! Mutants of tile texts: a mutant that verifies must stay within its memory.
//!
//! Its results may be arbitrary.

use crate::rng::Rng;
use livefusion_tile::ir::{Operand, Origin, StmtKind, Tile};
use livefusion_tile::parse::parse;
use livefusion_tile::verify::verify;
use loop_lang::Loop;

/// Returns a tile with up to three changes of words and lines.
///
/// Returns `None` unless it verifies and terminates.
pub fn mutant(tile: &Tile, program: &Loop, rng: &mut Rng) -> Option<Tile> {
    let mut lines: Vec<String> = tile
        .show(program)
        .to_string()
        .lines()
        .map(String::from)
        .collect();
    for _ in 0..rng.pick(&[1, 1, 2, 3]) {
        let [at, other] = [(); 2].map(|()| 1 + rng.below(lines.len() - 1));
        match rng.weighted(&[70, 10, 10, 10]) {
            0 => lines[at] = reworded(&lines[at], tile, rng),
            1 => {
                lines.remove(at);
            }
            2 => lines.insert(at, lines[other].clone()),
            _ => lines.swap(at, other),
        }
        if lines.len() < 2 {
            return None;
        }
    }
    let changed = parse(&lines.join("\n"), program).ok()?;
    verify(&changed, program).ok()?;
    (changed != *tile && ends(&changed)).then_some(changed)
}

/// A line with one word replaced by another of the same kind.
fn reworded(line: &str, tile: &Tile, rng: &mut Rng) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let begins = |at: &usize| {
        let mut around = line[at.saturating_sub(1)..].chars();
        is_word(line.as_bytes()[*at].into()) && (*at == 0 || !around.next().is_some_and(is_word))
    };
    let starts: Vec<usize> = (0..line.len()).filter(begins).collect();
    if starts.is_empty() {
        return line.to_string();
    }
    let at = rng.pick(&starts);
    let word = line[at..].split(|c| !is_word(c)).next().unwrap_or_default();
    let value = tile.values.iter().find(|v| v.name == word);
    // A value of the same type, so that more mutants verify.
    let others = tile.values.iter();
    let others = others.filter(|v| value.is_some_and(|of| of.shape == v.shape));
    let others: Vec<&str> = others.map(|v| v.name.as_str()).collect();
    let numbers = [
        "0",
        "1",
        "4",
        "8",
        "9",
        "16",
        "24",
        "32",
        "64",
        "18446744073709551615",
    ];
    let new = match word {
        _ if value.is_some() => rng.pick(&others),
        _ if word.parse::<u64>().is_ok() => rng.pick(&numbers),
        _ if word.len() == 1 => rng.pick(&["a", "b", "c", "d"]),
        _ => word,
    };
    format!("{}{new}{}", &line[..at], &line[at + word.len()..])
}

/// Whether a tile has no loop whose number of iterations is a computed value.
fn ends(tile: &Tile) -> bool {
    let known = |a: &Operand| {
        let of = |v| matches!(tile.value(v).origin, Origin::From | Origin::End);
        a.value().is_none_or(of)
    };
    let mut ends = true;
    tile.each_stmt(&mut |s| {
        ends &= match &s.kind {
            StmtKind::While { .. } => false,
            StmtKind::For { from, to, .. } => known(from) && known(to),
            _ => true,
        }
    });
    ends
}
