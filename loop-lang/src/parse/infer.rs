//! Type inference for variables without a written type.

use crate::ir::{Atom, Type, Var};
use crate::op::Op;
use crate::types::Ty;
use crate::words::let_type;
use smallvec::SmallVec;

/// Describes how a variable gets its type.
#[derive(Clone, Debug, Default)]
pub(crate) enum Rule {
    /// No definition seen.
    #[default]
    Missing,
    /// Written, or implied by the statement's form.
    Known(Type),
    /// The type of another operand.
    Same(Atom),
    /// The element type of an array.
    Elem(Var),
    /// The type of an operator's result.
    Op(Op, SmallVec<[Atom; 3]>),
}

impl Rule {
    /// Returns the variables that must have their types first.
    fn needs(&self) -> SmallVec<[Var; 3]> {
        let vars = |atoms: &[Atom]| {
            let vars = atoms.iter().filter_map(|a| match a {
                Atom::Var(v) => Some(*v),
                Atom::Const(_) => None,
            });
            vars.collect()
        };
        match self {
            Rule::Missing | Rule::Known(_) => SmallVec::new(),
            Rule::Same(a) => vars(&[*a]),
            Rule::Elem(v) => vars(&[Atom::Var(*v)]),
            Rule::Op(_, args) => vars(args),
        }
    }

    fn apply(&self, types: &[Option<Type>]) -> Option<Type> {
        let of = |a: Atom| match a {
            Atom::Var(v) => types[v.index()],
            Atom::Const(c) => Some(Type::Scalar(c.ty)),
        };
        match self {
            Rule::Missing => None,
            Rule::Known(t) => Some(*t),
            Rule::Same(a) => of(*a),
            Rule::Elem(v) => of(Atom::Var(*v)).map(|t| Type::Scalar(t.elem())),
            Rule::Op(op, args) => {
                let args: Option<SmallVec<[Ty; 3]>> =
                    args.iter().map(|a| of(*a).map(Type::elem)).collect();
                Some(Type::Scalar(let_type(*op, &args?, None)))
            }
        }
    }
}

/// Resolves the rules of all variables, each once. The result is none if a rule is missing or
/// cyclic, or depends on a variable without a type.
pub(crate) fn resolve(rules: &[Rule]) -> Vec<Option<Type>> {
    let mut types: Vec<Option<Type>> = vec![None; rules.len()];
    let mut entered = vec![false; rules.len()];
    let mut stack: Vec<usize> = Vec::new();
    for start in 0..rules.len() {
        stack.push(start);
        while let Some(&v) = stack.last() {
            if !entered[v] {
                entered[v] = true;
                let needs = rules[v].needs();
                stack.extend(needs.iter().map(|n| n.index()).filter(|n| !entered[*n]));
            } else {
                stack.pop();
                if types[v].is_none() {
                    types[v] = rules[v].apply(&types);
                }
            }
        }
    }
    types
}
