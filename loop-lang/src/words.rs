//! Rules shared by the printer and the parser: reserved words, default owners, implied types.

use crate::op::{Op, Sig};
use crate::types::Ty;

/// Returns the combinator's name at the end of a variable's, function's or label's name.
pub(crate) fn default_owner(name: &str) -> Option<&str> {
    name.rsplit_once('_').map(|(_, comb)| comb)
}

/// Tells whether a word is reserved, and so cannot name a variable.
pub(crate) fn is_reserved(name: &str) -> bool {
    const WORDS: &str = "true false inf nan let carry trap unless if else while cond do next with scan \
        newArray scratchArray fillArray copyArray readArray arrayLength sliceArray writeArray \
        scatterArray sortArrays goto return loop comb param rate group fn";
    // Most variables end in a combinator's name, and reserved words have no underscore.
    !name.contains('_')
        && (WORDS.split_whitespace().any(|w| w == name) || Op::from_name(name).is_some())
}

/// Returns the result type that the text form implies for `let v = op args`. If the operands break
/// the operator's rule, it is a guess. The printer then writes the type, and the verifier reports a
/// fault. `target` is the target type of a cast.
pub(crate) fn let_type(op: Op, args: &[Ty], target: Option<Ty>) -> Ty {
    op.result(args, target).unwrap_or_else(|| match op.sig() {
        Sig::Cmp | Sig::IntTest | Sig::FloatTest => Ty::Bool,
        Sig::Select => args.get(1).copied().unwrap_or(Ty::Bool),
        Sig::Cast | Sig::Bitcast => target.unwrap_or(Ty::U64),
        _ => args.first().copied().unwrap_or(Ty::U64),
    })
}

/// Tells whether the statement names the operator's target type.
pub(crate) fn names_target(op: Op) -> bool {
    matches!(op.sig(), Sig::Cast | Sig::Bitcast)
}
