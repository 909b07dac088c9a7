//! The grammar's tables: every example parses into the tree that its row describes.

use livefusion_repl::grammar::{self, FORMS, RESERVED, Side, TABLE};
use livefusion_repl::{Sources, parse};

fn outline(text: &str) -> String {
    let mut sources = Sources::default();
    let source = sources.add("grammar.lf", text);
    parse(&sources, source).expect(text).outline()
}

#[test]
fn forms() {
    for form in FORMS {
        let tree = outline(form.example);
        let parts: Vec<&str> = tree.split(['(', ')', ' ']).collect();
        assert!(parts.contains(&form.head), "{form:?}: {tree}");
    }
}

#[test]
fn operators() {
    for operator in TABLE.iter().flat_map(|level| level.operators) {
        let text = operator.example;
        assert!(text.contains(operator.text), "{operator:?}");
        assert!(outline(text).starts_with('('), "{operator:?}");
    }
}

/// Of two operators, the one of the later level binds tighter. Of one level, the first does.
#[test]
fn levels() {
    let levels = TABLE[2..].iter().take_while(|l| l.side != Side::Prefix);
    let rows = levels.enumerate().flat_map(|(k, level)| {
        let operators = level.operators.iter().filter(|o| o.text != "as");
        operators.map(move |o| (k, level.side, o.text))
    });
    let rows: Vec<_> = rows.collect();
    for (i, side, first) in &rows {
        for (j, _, second) in &rows {
            if i == j && *side == Side::Alone {
                continue;
            }
            let tree = outline(&format!("a {first} b {second} c"));
            let left = outline(&format!("(a {first} b) {second} c"));
            let right = outline(&format!("a {first} (b {second} c)"));
            assert_eq!(tree, if i >= j { left } else { right });
        }
    }
}

#[test]
fn reserved_words_name_nothing() {
    for word in RESERVED {
        let mut sources = Sources::default();
        let source = sources.add("grammar.lf", format!("let {word} = 1"));
        assert!(parse(&sources, source).is_err(), "{word}");
    }
}

#[test]
fn all_is_shown() {
    let text = grammar::show();
    let operators = TABLE.iter().flat_map(|l| l.operators).map(|o| o.example);
    for example in operators.chain(FORMS.iter().map(|f| f.example)) {
        assert!(text.contains(example), "{example}");
    }
}
