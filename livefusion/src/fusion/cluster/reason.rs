//! Why two combinators are in different loops.

use std::fmt;

/// Why what is made in one loop is used in another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// The result of a fold.
    Fold,
    /// A delayed scalar that a closure captures.
    Scalar,
    /// A delayed length.
    Length,
    /// An array that is read at random.
    RandomAccess,
    /// An array that is read at random, and costs too much to be computed where it is read.
    Costly,
    /// What a scatter puts values into.
    ScatterBase,
    /// What a scatter changes in place is read before.
    InPlace,
    /// What a scatter made.
    ScatterResult,
    /// Streams that are consumed together and advance differently.
    RatesDiffer,
    /// Lengths that have nothing to do with each other.
    NoCommonRate,
    /// A third combinator must come between them.
    Between,
    /// Together they would be more code than a loop may be.
    Budget,
    /// The strategy gives every combinator a loop of its own.
    Unfused,
    /// The strategy put one where the other could not follow.
    Greedy,
    /// Fusing them would cost more elsewhere.
    Cheaper,
    /// They share a loop, but a later one computes only the user again.
    Again,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Fold => "a fold's result is complete only after its loop",
            Reason::Scalar => {
                "a scalar that a closure captures must be there before the loop starts"
            }
            Reason::Length => "a length must be known before the loop starts",
            Reason::RandomAccess => "an array that is read at random must be in memory",
            Reason::Costly => {
                "read at random, its elements would be computed twice, and cost too much for that"
            }
            Reason::ScatterBase => "what a scatter writes into must be complete before",
            Reason::InPlace => "what both read is changed in place, once all others have read it",
            Reason::ScatterResult => "a scatter's result is complete only after its loop",
            Reason::RatesDiffer => "what is consumed in step with it advances differently",
            Reason::NoCommonRate => "the lengths are unrelated",
            Reason::Between => {
                "what the user needs besides is complete only after the maker's loop"
            }
            Reason::Budget => "together they would be more code than a loop may be",
            Reason::Unfused => "nothing is fused",
            Reason::Greedy => "the greedy strategy had filled the loops otherwise",
            Reason::Cheaper => "apart they cost less",
            Reason::Again => "a later loop computes its user again, and reads it",
        })
    }
}
