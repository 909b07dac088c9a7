//! Substitution of values in statements.

use super::{Memory, Operand, StmtKind, Value};

impl StmtKind {
    /// Calls `f` on every value that it mentions, in nested statements too.
    pub(crate) fn each_value_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
        let operand = |a: &mut Operand, f: &mut dyn FnMut(&mut Value)| {
            if let Operand::Value(v) = a {
                f(v);
            }
        };
        match self {
            StmtKind::Let { to, args, .. } => {
                f(to);
                args.iter_mut().for_each(|a| operand(a, f));
            }
            StmtKind::Beat { to, new, old, .. } => {
                f(to);
                operand(new, f);
                operand(old, f);
            }
            StmtKind::Positions { to, from } => {
                f(to);
                operand(from, f);
            }
            StmtKind::Until { to, at, end } => {
                f(to);
                operand(at, f);
                operand(end, f);
            }
            StmtKind::Load {
                to,
                from,
                at,
                under,
                ..
            } => {
                f(to);
                if let Memory::Register(r) | Memory::Buffer(r) = from {
                    f(r);
                }
                operand(at, f);
                under.iter_mut().for_each(|a| operand(a, f));
            }
            StmtKind::Gather { to, at, .. } => {
                f(to);
                operand(at, f);
            }
            StmtKind::Across { into, at, .. } => {
                f(into);
                operand(at, f);
            }
            StmtKind::Store {
                into,
                at,
                value,
                under,
                ..
            } => {
                if let Memory::Register(r) | Memory::Buffer(r) = into {
                    f(r);
                }
                operand(at, f);
                operand(value, f);
                under.iter_mut().for_each(|a| operand(a, f));
            }
            StmtKind::Put {
                at, value, under, ..
            } => {
                operand(at, f);
                operand(value, f);
                under.iter_mut().for_each(|a| operand(a, f));
            }
            StmtKind::Compress {
                into,
                at,
                value,
                under,
                ..
            } => {
                if let Memory::Register(r) | Memory::Buffer(r) = into {
                    f(r);
                }
                operand(at, f);
                operand(value, f);
                operand(under, f);
            }
            StmtKind::Length { to, .. } => f(to),
            StmtKind::Sort { rows, .. } => operand(rows, f),
            StmtKind::Count { to, of }
            | StmtKind::Any { to, of }
            | StmtKind::Scan { to, of, .. }
            | StmtKind::Last { to, of }
            | StmtKind::Reverse { to, of }
            | StmtKind::Halves { to, of, .. } => {
                f(to);
                operand(of, f);
            }
            StmtKind::Slide { to, first, of } => {
                f(to);
                operand(first, f);
                operand(of, f);
            }
            StmtKind::Lane { to, of, at } => {
                f(to);
                operand(of, f);
                operand(at, f);
            }
            StmtKind::SetLane { to, at, value } => {
                f(to);
                operand(at, f);
                operand(value, f);
            }
            StmtKind::Set { to, value } => {
                f(to);
                operand(value, f);
            }
            StmtKind::Trap { unless } => operand(unless, f),
            StmtKind::Leave { at, unless } => {
                operand(at, f);
                operand(unless, f);
            }
            StmtKind::For {
                counter,
                from,
                to,
                body,
                ..
            } => {
                f(counter);
                operand(from, f);
                operand(to, f);
                body.iter_mut().for_each(|s| s.kind.each_value_mut(f));
            }
            StmtKind::Segment {
                counter,
                from,
                to,
                capacities,
                body,
                epilogue,
                scalar_epilogue,
                ..
            } => {
                f(counter);
                operand(from, f);
                operand(to, f);
                capacities
                    .iter_mut()
                    .for_each(|(_, index)| operand(index, f));
                let inner = body.iter_mut().chain(epilogue).chain(scalar_epilogue);
                inner.for_each(|s| s.kind.each_value_mut(f));
            }
            StmtKind::DryRun { body } => {
                body.iter_mut().for_each(|s| s.kind.each_value_mut(f));
            }
            StmtKind::If { cond, then, other } => {
                operand(cond, f);
                let inner = then.iter_mut().chain(other);
                inner.for_each(|s| s.kind.each_value_mut(f));
            }
            StmtKind::While { test, cond, body } => {
                operand(cond, f);
                let inner = test.iter_mut().chain(body);
                inner.for_each(|s| s.kind.each_value_mut(f));
            }
        }
    }
}
