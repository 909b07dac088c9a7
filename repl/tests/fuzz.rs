//! Fuzzing of mutated help examples and files: no panics, no endless runs.
//!
//! `LF_FUZZ=600` fuzzes for 600 seconds, and reports the number of cases.

#[path = "fuzzed/mod.rs"]
mod fuzzed;

use livefusion_repl::combinators::{self, SCALARS};
use std::time::{Duration, Instant};

/// The default number of texts and files.
const FEW: u64 = 150;

/// Replacement tokens.
const OTHERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "1e15",
    "0.0",
    "18446744073709551615",
    "9223372036854775807",
    "1099511627776",
    "255u8",
    "f64::NAN",
    "true",
    "x",
    "kept",
    "_",
    "[]",
    "()",
    "ragged",
    "\"a.csv\"",
    "let",
    "def",
    "if",
    "then",
    "else",
    "as",
    "f32",
    "i8",
    "|>",
    "..",
    "..=",
    ";",
    "\n",
    "{",
    "}",
    "#",
    "é",
];

/// Bytes with a meaning in headers and tables.
const NEAR: &[u8] = b",;\n\"'()[]{}:0129eE-+.<>|?#Truefals";

/// The generator splitmix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Words, runs of the same sign, strings.
fn tokens(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        '(' | ')' | '[' | ']' | '{' | '}' | ',' => 1,
        c if c.is_whitespace() => 2,
        '"' => 3,
        _ => 4,
    };
    let mut before = None;
    for c in text.chars() {
        let now = class(c);
        match all.last_mut() {
            Some(last) if before == Some(now) && now != 1 => last.push(c),
            _ => all.push(c.into()),
        }
        before = Some(now);
    }
    all
}

/// A text made by mutating the examples.
fn changed(rng: &mut Rng, examples: &[Vec<String>]) -> String {
    let mut text = examples[rng.below(examples.len())].clone();
    for _ in 0..1 + rng.below(3) {
        let (at, other) = (rng.below(text.len()), rng.below(examples.len()));
        let other = &examples[other];
        let token = || text.get(at).cloned().unwrap_or_default();
        match rng.below(8) {
            0 => drop(text.splice(at..(at + 1).min(text.len()), [])),
            1 => text.insert(at, token()),
            2 => {
                let to = rng.below(text.len());
                if !text.is_empty() {
                    text.swap(at, to);
                }
            }
            // Tokens of another example are inserted here.
            3 => {
                let from = rng.below(other.len());
                let to = (from + 1 + rng.below(6)).min(other.len());
                let end = (at + 1).min(text.len());
                text.splice(at..end, other[from..to].iter().cloned());
            }
            // The text is piped into another example, or becomes its argument.
            4 => text.extend([" |> ".to_string(), other[rng.below(other.len())].clone()]),
            5 => text = [vec!["(".into()], other.clone(), vec![").".into()], text].concat(),
            _ => {
                let end = (at + 1).min(text.len());
                let new = OTHERS[rng.below(OTHERS.len())];
                text.splice(at..end, [new.to_string()]);
            }
        }
    }
    text.concat()
}

/// The bytes of a file, with some changes.
fn spoiled(rng: &mut Rng, files: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = files[rng.below(files.len())].clone();
    for _ in 0..rng.below(6) {
        let (at, byte) = (rng.below(bytes.len()), rng.next() as u8);
        let near = NEAR[rng.below(NEAR.len())];
        match rng.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, near),
            2 => bytes.extend_from_within(at..),
            3 if at < bytes.len() => bytes[at] = near,
            _ if at < bytes.len() => bytes[at] = byte,
            _ => {}
        }
    }
    bytes
}

fn files() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut session = livefusion_repl::session::Session::new();
    session.folder = folder.path().into();
    let saved = [
        "[1, 2, 3]",
        "[[1.5, 2.5], [3.5, 4.5]]",
        "[true, false]",
        "[1u8]",
        "[(1.0, -0.5)]",
    ];
    let mut all: Vec<Vec<u8>> = Vec::new();
    for (k, text) in saved.iter().enumerate() {
        let name = format!("{k}.npy");
        let answer = session.submit("files", &format!("{text} |> save \"{name}\""));
        assert_eq!(answer.err, "");
        all.push(std::fs::read(folder.path().join(name)).expect("a file"));
    }
    for name in ["t.parquet", "t.arrow"] {
        let text =
            format!("([1, 2], ragged [[0.5], [1.5, 2.5]], [true, false]) |> save \"{name}\"");
        assert_eq!(session.submit("files", &text).err, "");
        all.push(std::fs::read(folder.path().join(name)).expect("a file"));
    }
    let tables = [
        "a,b\n1,2.5\n3,x\n",
        "\"n\"\n\"1\"\"2\"\n",
        "x\n18446744073709551615\n-1\n",
        "t,f\ntrue,\n,NA\n1e400,nan\n",
    ];
    all.extend(tables.iter().map(|t| t.as_bytes().to_vec()));
    all
}

#[test]
fn changed_examples_and_files() {
    let seconds = std::env::var("LF_FUZZ").ok().and_then(|n| n.parse().ok());
    let seed = std::env::var("LF_SEED").ok().and_then(|n| n.parse().ok());
    let (start, first): (_, u64) = (Instant::now(), seed.unwrap_or(0));
    let goes_on = |k: u64| match seconds {
        Some(n) => start.elapsed() < Duration::from_secs(n),
        None => k < FEW,
    };
    let named = combinators::all().map(|c| c.example);
    let examples = named.chain(SCALARS.iter().map(|f| f.example));
    let examples: Vec<_> = examples.map(tokens).collect();
    let files = files();
    let folder = tempfile::tempdir().expect("a folder");
    let mut k = 0;
    while goes_on(k) {
        let mut rng = Rng(first.wrapping_add(k));
        fuzzed::text(&changed(&mut rng, &examples), folder.path());
        fuzzed::file(&spoiled(&mut rng, &files), folder.path());
        k += 1;
    }
    if seconds.is_some() {
        eprintln!("{k} texts and as many files, from seed {first}");
    }
}

/// Excessive sizes and endless runs are reported, and definitions stay.
#[test]
fn limits() {
    use livefusion_repl::session::{Session, on_stack};
    let said = on_stack(|| {
        let mut session = Session::new();
        session.submit("<1>", "let xs = [1, 2]");
        let large = [
            "iota(1000000000000000)",
            "(0..1000000000000000).map(_ + 1)",
            "replicate(18446744073709551615, 1.5)",
            "generate((4294967296, 4294967296), |(i, j)| i + j)",
        ];
        for text in large {
            let answer = session.submit("<2>", text);
            assert_eq!(answer.out, "", "{text}");
            let said =
                answer.err.contains("expected room for") || answer.err.contains("expected as many");
            assert!(said, "{text}: {}", answer.err);
        }
        let stop = session.stop.clone();
        for text in [
            "iterate_while([1.0], |xs| xs.max() > 0.0, |xs| xs.scan(0.0, |a, b| a + b))",
            "[1].map(|x| while_loop(x, |x| x == x, |x| x + 1))",
            "(0..1000000000000000).map(_ % 7).sum()",
        ] {
            let answer = std::thread::scope(|scope| {
                let stops = scope.spawn(|| {
                    while !stop.stop() {
                        std::thread::sleep(Duration::from_millis(50));
                    }
                });
                let answer = session.submit("<4>", text);
                let _ = stops.join();
                answer
            });
            assert!(answer.err.contains("cancelled"), "{text}: {}", answer.err);
        }
        session.submit("<3>", "xs.sum()").out
    });
    assert_eq!(said.as_deref(), Some("3\n"));
}
