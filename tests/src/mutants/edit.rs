//! Wild mutations of a loop's text: random lines and words, ignoring scopes and places.
//!
//! Most words are replaced by plausible ones, because otherwise few texts would be loops.

use crate::rng::Rng;
use loop_lang::ir::Type;
use loop_lang::op::Op;
use loop_lang::parse::parse;
use loop_lang::types::Ty;
use std::collections::HashMap;

/// The types of a text's variables.
type Types = HashMap<String, Type>;

/// A text with a few mutations.
pub(super) fn wild(text: &str, changes: usize, rng: &mut Rng) -> String {
    let program = parse(text).unwrap_or_default();
    let types: Types = (program.vars.into_iter()).map(|v| (v.name, v.ty)).collect();
    let mut lines: Vec<String> = text
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(String::from)
        .collect();
    for _ in 0..changes {
        change(&mut lines, &types, rng);
    }
    lines.join("\n") + "\n"
}

/// The lines that may change. Group declarations and combine functions are excluded. They promise
/// laws that the verifier does not check, such as identities and associativity.
fn open_lines(lines: &[String]) -> Vec<usize> {
    let mut in_function = false;
    let mut open = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        in_function |= line.starts_with("fn ");
        if !in_function && !line.starts_with("group ") {
            open.push(i);
        }
        in_function &= line != "}";
    }
    open
}

fn change(lines: &mut Vec<String>, types: &Types, rng: &mut Rng) {
    let open = open_lines(lines);
    if open.is_empty() {
        return;
    }
    let n = rng.below(open.len());
    let (at, other) = (open[n], open[rng.below(open.len())]);
    match rng.weighted(&[4, 4, 3, 3, 66, 8, 12]) {
        0 => {
            // Mostly neighbours.
            let next = open[(n + 1).min(open.len() - 1)];
            lines.swap(at, if rng.chance(60) { next } else { other });
        }
        1 => {
            lines.remove(at);
        }
        2 => {
            let line = lines[at].clone();
            lines.insert(if rng.chance(50) { at } else { other }, line);
        }
        3 => {
            let line = lines.remove(at);
            lines.insert(other.min(lines.len()), line);
        }
        4 => replace_word(lines, at, types, rng),
        5 => reorder_group(lines, rng),
        _ => new_statement(lines, types, rng),
    }
}

/// Words and the text between them.
fn tokens(line: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in line.chars() {
        let word = c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        match all.last_mut() {
            Some(last) if word && in_word => last.push(c),
            _ => all.push(c.to_string()),
        }
        in_word = word;
    }
    all
}

fn is_number(word: &str) -> bool {
    word.trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit())
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.contains('_')
}

/// A variable or a literal of any type.
fn operand(lines: &[String], rng: &mut Rng) -> String {
    if rng.chance(30) {
        return literal(rng);
    }
    let line = tokens(&lines[rng.below(lines.len())]);
    let names: Vec<&String> = line.iter().filter(|w| is_name(w)).collect();
    match names.is_empty() {
        true => literal(rng),
        false => names[rng.below(names.len())].clone(),
    }
}

/// A variable of a type, or a literal.
fn of_type(ty: Type, types: &Types, rng: &mut Rng) -> String {
    let mut names: Vec<&String> = types
        .iter()
        .filter(|(_, t)| **t == ty)
        .map(|(n, _)| n)
        .collect();
    names.sort();
    match ty {
        Type::Scalar(Ty::U64) if rng.chance(30) => rng.pick(&["0", "1", "2", "5", "33"]).into(),
        Type::Scalar(Ty::F64) if rng.chance(30) => rng.pick(&["0.0", "-0.0", "1.5", "nan"]).into(),
        Type::Scalar(Ty::Bool) if rng.chance(30) => rng.pick(&["true", "false"]).into(),
        Type::Scalar(ty) if rng.chance(20) && ty.is_int() => format!("{}{ty}", rng.below(99)),
        _ => names
            .get(rng.below(names.len()))
            .map_or("0".into(), |n| n.to_string()),
    }
}

fn literal(rng: &mut Rng) -> String {
    let integers = ["0", "1", "2", "3", "5", "8", "31", "64", "200"];
    let floats = [
        "0.0", "-0.0", "1.5", "-2.25", "nan", "inf", "-inf", "1e300", "5e-324",
    ];
    match rng.below(8) {
        0 => rng.pick(&["true", "false"]).into(),
        1 | 2 => rng.pick(&floats).into(),
        3 => rng.pick(&["1.5f32", "-0.0f32", "nan.f32", "3.0f32"]).into(),
        4 => {
            let ty = rng.pick(&Ty::ALL);
            format!("{}{ty}", rng.pick(&integers))
        }
        5 => rng
            .pick(&["-1i64", "-128i8", "255u8", "18446744073709551615"])
            .into(),
        _ => rng.pick(&integers).into(),
    }
}

/// An operator whose results do not depend on the bits of a NaN.
fn operator(rng: &mut Rng) -> Op {
    loop {
        let op = rng.pick(Op::ALL);
        if !matches!(op, Op::Bitcast | Op::SignBit | Op::Copysign | Op::Cast) {
            return op;
        }
    }
}

fn replace_word(lines: &mut [String], at: usize, types: &Types, rng: &mut Rng) {
    let mut words = tokens(&lines[at]);
    let is_word = |w: &String| w.len() > 1 || w.chars().all(|c| c.is_ascii_alphanumeric());
    let places: Vec<usize> = (0..words.len()).filter(|i| is_word(&words[*i])).collect();
    if places.is_empty() {
        return;
    }
    let place = places[rng.below(places.len())];
    let word = words[place].clone();
    let new = if rng.chance(4) {
        // Any word of any line.
        let other = tokens(&lines[rng.below(lines.len())]);
        other
            .get(rng.below(other.len()))
            .cloned()
            .unwrap_or_default()
    } else if is_number(&word) || word == "true" || word == "false" {
        let suffix = Ty::ALL.into_iter().find(|t| word.ends_with(t.name()));
        match suffix {
            Some(ty) if rng.chance(60) && !ty.is_float() => {
                format!("{}{ty}", rng.pick(&["0", "1", "2", "3", "7", "100"]))
            }
            _ if rng.chance(70) && !word.contains(['.', 'n', 'f']) => {
                let small = [
                    "0", "1", "2", "3", "4", "8", "16", "32", "64", "128", "4096",
                ];
                rng.pick(&small).into()
            }
            _ => operand(lines, rng),
        }
    } else if is_name(&word) {
        if let Some(ty) = types.get(&word)
            && rng.chance(85)
        {
            words[place] = of_type(*ty, types, rng);
            lines[at] = words.concat();
            return;
        }
        let section = word.split('_').next().unwrap_or_default();
        let names: Vec<String> = lines
            .iter()
            .flat_map(|l| tokens(l))
            .filter(|w| is_name(w))
            .collect();
        let alike: Vec<&String> = names
            .iter()
            .filter(|w| w.split('_').next() == Some(section) && **w != word)
            .collect();
        match alike.is_empty() || rng.chance(40) {
            true => operand(lines, rng),
            false => alike[rng.below(alike.len())].clone(),
        }
    } else if Ty::from_name(&word).is_some() {
        rng.pick(&Ty::ALL).name().into()
    } else if Op::ALL.iter().any(|op| op.name() == word) {
        let old = Op::ALL.iter().find(|op| op.name() == word);
        let mut new = operator(rng);
        // Mostly one with the same signature.
        for _ in 0..40 {
            if rng.chance(15) || old.is_some_and(|op| op.sig() == new.sig()) {
                break;
            }
            new = operator(rng);
        }
        new.name().into()
    } else {
        // Rates, kinds, orders and keywords: one that occurs somewhere.
        let all: Vec<String> = lines
            .iter()
            .flat_map(|l| tokens(l))
            .filter(|w| w.len() > 1 && !is_name(w) && !is_number(w))
            .collect();
        all.get(rng.below(all.len())).cloned().unwrap_or_default()
    };
    words[place] = new;
    lines[at] = words.concat();
}

/// Changes the order or level of a group.
fn reorder_group(lines: &mut [String], rng: &mut Rng) {
    let mut groups: Vec<&mut String> = lines
        .iter_mut()
        .filter(|l| l.starts_with("group "))
        .collect();
    let k = rng.below(groups.len());
    let Some(line) = groups.get_mut(k) else {
        return;
    };
    let Some((head, _)) = line.split_once(" level ") else {
        return;
    };
    let order = match rng.below(6) {
        0 => "exact".to_string(),
        1 => "sequential".to_string(),
        2 => format!("runs {}", rng.pick(&[1, 4, 128])),
        3 => format!("prefix {}", rng.pick(&[1, 2, 8, 16])),
        _ => format!("lanes {}", rng.pick(&[1, 2, 4, 8, 32, 64])),
    };
    **line = format!("{head} level {} {order}", rng.below(3));
}

/// Adds a statement over existing operands; its definition may replace a later operand.
fn new_statement(lines: &mut Vec<String>, types: &Types, rng: &mut Rng) {
    let bodies: Vec<usize> = (0..lines.len())
        .filter(|i| lines[*i].starts_with("  "))
        .collect();
    if bodies.is_empty() {
        return;
    }
    let at = bodies[rng.below(bodies.len())];
    let comb = lines[at]
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .find_map(|w| w.rsplit_once('_').map(|(_, comb)| comb.to_string()))
        .unwrap_or_else(|| "0".into());
    let name = format!("m{}_{comb}", rng.below(1000));
    let line = match rng.below(8) {
        0 => {
            let (array, index) = (operand(lines, rng), operand(lines, rng));
            format!("  let {name} = readArray {array} {index}")
        }
        1 => format!(
            "  writeArray {} {} {} @{comb}",
            operand(lines, rng),
            operand(lines, rng),
            operand(lines, rng)
        ),
        2 => format!(
            "  scatterArray {} {} {} with {} @{comb}",
            operand(lines, rng),
            operand(lines, rng),
            operand(lines, rng),
            rng.pick(&["add", "min", "max", "mul", "xor"])
        ),
        3 => {
            let (ty, of) = (rng.pick(&Ty::ALL), operand(lines, rng));
            format!("  let {name} = cast.{ty} {of}")
        }
        _ => {
            let a = operand(lines, rng);
            let b = match types.get(&a) {
                Some(ty) => of_type(*ty, types, rng),
                None => operand(lines, rng),
            };
            format!("  let {name} = {} {a} {b}", operator(rng).name())
        }
    };
    lines.insert(at, line);
    // Use it further down.
    let below: Vec<usize> = (at + 1..lines.len())
        .filter(|i| lines[*i].starts_with("  "))
        .collect();
    if let Some(user) = below.get(rng.below(below.len().min(6))) {
        let mut words = tokens(&lines[*user]);
        let names: Vec<usize> = (0..words.len())
            .filter(|i| is_name(&words[*i]) || is_number(&words[*i]))
            .collect();
        if let Some(place) = names.last() {
            words[*place] = name;
            lines[*user] = words.concat();
        }
    }
}
