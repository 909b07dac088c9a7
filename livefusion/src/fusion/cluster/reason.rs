//! Reasons that keep two combinators in different loops, and changes that would fuse them.

use std::fmt;

/// Lists the reasons that keep a producer and a consumer in different loops.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The result of a fold.
    Fold,
    /// A delayed scalar that a closure captures.
    Scalar,
    /// A delayed length.
    Length,
    /// An array that is read by index.
    RandomAccess,
    /// An array that is read by index, and is too costly to compute at each read.
    Costly,
    /// The base of a scatter.
    ScatterBase,
    /// An array that a scatter updates in place, and another consumer reads.
    InPlace,
    /// The result of a scatter.
    ScatterResult,
    /// Two streams that advance differently.
    RatesDiffer,
    /// Two lengths that are not known to be equal.
    NoCommonRate,
    /// The consumer also needs a result that is complete only when the producer's loop ends.
    Between,
    /// A loop that would exceed the code budget.
    Budget,
    /// The engine's clustering is [`Unfused`](crate::Clustering::Unfused).
    Unfused,
    /// The engine's clustering is [`Greedy`](crate::Clustering::Greedy), and it placed other items
    /// first.
    Greedy,
    /// Separate loops move fewer bytes.
    Cheaper,
    /// A later loop recomputes the consumer, but not the producer.
    Rematerialised,
}

impl Reason {
    /// Returns a change of the program or engine that would fuse the two.
    pub fn help(self) -> &'static str {
        match self {
            Reason::Fold => "use a running value (`scan`), or apply the total to the next result",
            Reason::Scalar => "move the scalar out of the closure: apply it to the final result",
            Reason::Length => "give this length as a number, or take it from an array in memory",
            Reason::RandomAccess => "read it in step, with `zip`, `shift` or `windows`",
            Reason::Costly => "read each element once, in step, with `zip` or `windows`",
            Reason::ScatterBase => "scatter onto `replicate`, or onto an array in memory",
            Reason::InPlace => "read the array after the scatter, from its result",
            Reason::ScatterResult => {
                "compute the consumer from the values, before they are scattered"
            }
            Reason::RatesDiffer => {
                "pair the elements before they are filtered or cut: `xs.zip(&ys).filter(..)`"
            }
            Reason::NoCommonRate => "cut both to one length with `take`",
            Reason::Between => "apply that result after the loop, not in it",
            Reason::Budget => "force a small intermediate result first",
            Reason::Unfused | Reason::Greedy => "choose `Clustering::Optimal` for the engine",
            Reason::Cheaper => "none is needed",
            Reason::Rematerialised => "force the consumer first, and it is computed once",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Fold => "a fold has its result only when its loop ends",
            Reason::Scalar => "a closure captures this scalar, so the loop must begin with it",
            Reason::Length => "the loop must begin with this length",
            Reason::RandomAccess => "an array that is read by index must be in memory",
            Reason::Costly => "reads by index would compute its costly elements more than once",
            Reason::ScatterBase => "a scatter must begin with a complete base",
            Reason::InPlace => "a scatter updates this array in place, after all other consumers",
            Reason::ScatterResult => "a scatter has its result only when its loop ends",
            Reason::RatesDiffer => "it advances at other steps than the stream beside it",
            Reason::NoCommonRate => "the two lengths are not known to be equal",
            Reason::Between => {
                "the consumer needs a result that is complete only when this loop ends"
            }
            Reason::Budget => "one loop would exceed the limit on its code",
            Reason::Unfused => "the engine fuses nothing",
            Reason::Greedy => "greedy clustering had placed other combinators first",
            Reason::Cheaper => "separate loops move fewer bytes",
            Reason::Rematerialised => {
                "a later loop recomputes the consumer, and reads this from memory"
            }
        })
    }
}
