//! Fuzz targets over bytes: no panics, and accepted inputs give right results.
//!
//! The targets in `tests/fuzz` call this from a coverage-guided fuzzer; a test calls it with random
//! bytes.

use crate::check::against_naive;
use crate::program::{Options, drawn};
use crate::rng::Rng;
use livefusion::Engine;

/// Checks a text of the Loop language.
///
/// If it parses, its printed form must parse to the same loop. If it verifies, it must verify after
/// each pass.
pub fn parser(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(mut program) = loop_lang::parse::parse(text) else {
        return;
    };
    let printed = program.to_string();
    let again = loop_lang::parse::parse(&printed).map(|p| p.to_string());
    assert_eq!(again.ok().as_ref(), Some(&printed), "{text}");
    if loop_lang::verify::verify(&program).is_ok() {
        loop_lang::passes::optimize(&mut program);
        if let Err(faults) = loop_lang::verify::verify(&program) {
            panic!("{faults:?}\n{text}");
        }
    }
}

/// Checks a program whose every decision is a byte.
///
/// The interpreter must agree with the naive evaluator. Compiled backends are left to random
/// programs. A compiler would dominate the time, and coverage would lead into its code.
pub fn program(bytes: &[u8]) {
    let mut rng = Rng::scripted(bytes);
    let turn = rng.word();
    let options = match turn % 4 {
        0 => Options::SMALL,
        1 => Options::PARTS,
        _ => Options::WIRED,
    };
    let program = drawn(rng, turn / 4, options);
    if let Err(why) = against_naive(&program, &Engine::interp()) {
        panic!("{why}\n{program}");
    }
}

/// Checks that a damaged cache entry is detected.
///
/// Entries are arbitrary bytes, or sound ones with changes. Each pair of leading bytes makes one
/// change.
pub fn entry(bytes: &[u8]) {
    let (key, rest) = bytes.split_at(bytes.len().min(8));
    if let Some(library) = livefusion_c::decode_entry(rest, key) {
        assert_eq!(livefusion_c::encode_entry(key, library), rest);
    }
    let sound = livefusion_c::encode_entry(key, rest);
    assert_eq!(livefusion_c::decode_entry(&sound, key), Some(rest));
    let mut changed = sound.clone();
    for &[at, to] in rest.as_chunks().0.iter().take(8) {
        let at = usize::from(at) % sound.len();
        changed[at] = to;
        let expected = (changed == sound).then_some(rest);
        assert_eq!(livefusion_c::decode_entry(&changed, key), expected);
    }
}
