//! Dead-code elimination.
//!
//! *Needed* are the loop's results, its traps, exits and branches, the counters and bounds of its
//! loop rates, and all of their operands, transitively. A carried group is needed as a whole if one
//! of its variables is; its own updates do not make it needed. Values written to an array are
//! needed if the array is. Groups that are not needed leave the loop's table.
//!
//! Before: `let a_1 = mul x_0 x_0; let b_1 = sqrt a_1; return x_0`. After: `return x_0`.
//!
//! Input: a verified loop. Output: a verified loop in which every statement is needed. Parameters,
//! rates, blocks and functions stay.
//!
//! The pass marks a graph over variables from the roots and removes the rest, in linear time.
//! Source: the mark phase of Cytron et al., *Efficiently computing static single assignment form*,
//! 1991, section 7.1, with control dependences left in place.

use crate::ir::{Atom, Group, GroupId, Loop, RateKind, Stmt, StmtKind, Var};
use crate::verify::verify;
use crate::walk;

/// Removes dead code.
pub fn run(program: &mut Loop) -> bool {
    let needed = Needed::of(program, |_| false, &[]);
    let swept = sweep(program, &needed);
    // A count without updates is dropped, whether its group leaves the table or not.
    for rate in &mut program.rates {
        if let RateKind::Sub { count, .. } = &mut rate.kind {
            *count = count.filter(|v| needed.has(*v));
        }
    }
    let sequential = |g: &Group| g.combine.is_none();
    let stays = program
        .groups
        .iter()
        .any(|g| sequential(g) && needed.group(g));
    if stays || !program.groups.iter().any(sequential) {
        return drop_groups(program, &needed) || swept;
    }
    // Without a sequential group, the levels of the other groups become relevant. If these levels
    // do not verify, the table stays unchanged.
    let before = program.clone();
    let dropped = drop_groups(program, &needed);
    if verify(program).is_err() {
        *program = before;
        return swept;
    }
    dropped || swept
}

/// The needed variables.
pub(super) struct Needed(Vec<bool>);

/// The uses of each variable: a marked variable marks its uses.
struct UseGraph<'a> {
    program: &'a Loop,
    uses: Vec<Vec<Var>>,
    roots: Vec<Var>,
}

impl Needed {
    /// Marks the loop's needs, the groups selected by `keep`, and the variables in `more`.
    pub(super) fn of(program: &Loop, keep: impl Fn(&Group) -> bool, more: &[Var]) -> Needed {
        let mut graph = UseGraph {
            program,
            uses: vec![Vec::new(); program.vars.len()],
            roots: more.to_vec(),
        };
        graph.tables(keep);
        for (_, block) in program.blocks.iter() {
            graph.stmts(&block.stmts, &mut Vec::new());
            walk::leaving(block, &mut |a| graph.root(a));
        }
        for function in &program.functions {
            graph.stmts(&function.body, &mut Vec::new());
            function.results.iter().for_each(|a| graph.root(*a));
        }
        let mut needed = vec![false; program.vars.len()];
        while let Some(v) = graph.roots.pop() {
            if !std::mem::replace(&mut needed[v.index()], true) {
                graph.roots.append(&mut graph.uses[v.index()]);
            }
        }
        Needed(needed)
    }

    fn has(&self, v: Var) -> bool {
        self.0[v.index()]
    }

    /// Tells whether a group is needed; either all of its variables are or none.
    fn group(&self, group: &Group) -> bool {
        group.vars.iter().any(|v| self.has(*v))
    }
}

impl UseGraph<'_> {
    fn root(&mut self, a: Atom) {
        if let Atom::Var(v) = a {
            self.roots.push(v);
        }
    }

    fn uses(&mut self, v: Var, a: Atom) {
        if let Atom::Var(used) = a {
            self.uses[v.index()].push(used);
        }
    }

    /// Adds rates and groups.
    fn tables(&mut self, keep: impl Fn(&Group) -> bool) {
        for rate in &self.program.rates {
            self.roots.extend(rate.kind.counter());
            rate.kind.bound().into_iter().for_each(|a| self.root(a));
        }
        for group in &self.program.groups {
            if keep(group) {
                self.roots.extend(&group.vars);
            }
            // A cycle, so that one variable marks all.
            for (i, v) in group.vars.iter().enumerate() {
                self.uses(*v, Atom::Var(group.vars[(i + 1) % group.vars.len()]));
            }
        }
    }

    /// Adds statements; `control` holds the conditions of enclosing regions.
    fn stmts(&mut self, stmts: &[Stmt], control: &mut Vec<Atom>) {
        for stmt in stmts {
            self.stmt(&stmt.kind, control);
        }
    }

    fn stmt(&mut self, kind: &StmtKind, control: &mut Vec<Atom>) {
        match kind {
            StmtKind::Trap { .. } => {
                walk::operands(kind, &mut |a| self.root(a));
                control.iter().for_each(|a| self.root(*a));
            }
            StmtKind::Assign(v, a) => self.uses(*v, *a),
            StmtKind::Scan {
                results,
                group,
                elems,
            } => {
                let group = &self.program.groups[group.index()];
                let Some(first) = group.vars.first() else {
                    return;
                };
                elems.iter().for_each(|a| self.uses(*first, *a));
                results
                    .iter()
                    .for_each(|r| self.uses(*r, Atom::Var(*first)));
            }
            StmtKind::WriteArray(a, i, x) => [*i, *x].into_iter().for_each(|x| self.uses(*a, x)),
            StmtKind::ScatterArray {
                arrays,
                index,
                values,
                ..
            } => {
                self.together(arrays, values.iter().copied().chain([*index]));
            }
            StmtKind::SortArrays(arrays, n) => self.together(arrays, [*n]),
            StmtKind::If {
                cond,
                then,
                other,
                results,
            } => {
                control.push(*cond);
                self.stmts(then, control);
                self.stmts(other, control);
                control.pop();
                for (v, a, b) in results {
                    [*cond, *a, *b].into_iter().for_each(|x| self.uses(*v, x));
                }
            }
            StmtKind::While {
                state,
                test,
                cond,
                body,
                next,
            } => {
                control.push(*cond);
                self.stmts(test, control);
                self.stmts(body, control);
                control.pop();
                for ((v, start), next) in state.iter().zip(next) {
                    [*start, *next, *cond]
                        .into_iter()
                        .for_each(|x| self.uses(*v, x));
                }
            }
            _ => walk::definitions(kind, &mut |v| {
                walk::operands(kind, &mut |a| self.uses(v, a))
            }),
        }
    }
}

impl UseGraph<'_> {
    /// Links arrays that change together with each other and with the operands of the change.
    fn together(&mut self, arrays: &[Var], by: impl IntoIterator<Item = Atom>) {
        let Some(first) = arrays.first() else { return };
        by.into_iter().for_each(|x| self.uses(*first, x));
        for a in arrays {
            self.uses(*first, Atom::Var(*a));
            self.uses(*a, Atom::Var(*first));
        }
    }
}

/// Removes the statements that are not needed.
pub(super) fn sweep(program: &mut Loop, needed: &Needed) -> bool {
    let groups = std::mem::take(&mut program.groups);
    let mut changed = false;
    for block in program.blocks.values_mut() {
        changed |= sweep_stmts(&mut block.stmts, &groups, needed);
    }
    for function in &mut program.functions {
        changed |= sweep_stmts(&mut function.body, &groups, needed);
    }
    program.groups = groups;
    changed
}

fn sweep_stmts(stmts: &mut Vec<Stmt>, groups: &[Group], needed: &Needed) -> bool {
    let mut changed = false;
    stmts.retain_mut(|stmt| {
        for region in walk::regions_mut(&mut stmt.kind) {
            changed |= sweep_stmts(region, groups, needed);
        }
        let kept = keep(&mut stmt.kind, groups, needed, &mut changed);
        changed |= !kept;
        kept
    });
    changed
}

/// Tells whether a statement stays. Regions stay for their results and traps; unneeded results are
/// removed.
fn keep(kind: &mut StmtKind, groups: &[Group], needed: &Needed, changed: &mut bool) -> bool {
    match kind {
        StmtKind::Trap { .. } => true,
        StmtKind::Assign(v, _) | StmtKind::WriteArray(v, ..) => needed.has(*v),
        StmtKind::Scan { group, .. } => needed.group(&groups[group.index()]),
        StmtKind::ScatterArray { arrays, .. } | StmtKind::SortArrays(arrays, _) => {
            arrays.iter().any(|a| needed.has(*a))
        }
        StmtKind::If {
            then,
            other,
            results,
            ..
        } => {
            let before = results.len();
            results.retain(|(v, ..)| needed.has(*v));
            *changed |= results.len() != before;
            !(results.is_empty() && then.is_empty() && other.is_empty())
        }
        StmtKind::While {
            state,
            test,
            body,
            next,
            ..
        } => {
            let used: Vec<bool> = state.iter().map(|(v, _)| needed.has(*v)).collect();
            *changed |= used.contains(&false);
            let (mut states, mut nexts) = (used.iter(), used.iter());
            state.retain(|_| states.next() == Some(&true));
            next.retain(|_| nexts.next() == Some(&true));
            !(state.is_empty() && test.is_empty() && body.is_empty())
        }
        _ => {
            let mut any = false;
            walk::definitions(kind, &mut |v| any |= needed.has(v));
            any
        }
    }
}

/// Removes unneeded groups from the table, and renumbers the others.
fn drop_groups(program: &mut Loop, needed: &Needed) -> bool {
    let mut number = Vec::with_capacity(program.groups.len());
    let mut next = 0;
    for group in &program.groups {
        number.push(GroupId::new(next));
        next += usize::from(needed.group(group));
    }
    if next == program.groups.len() {
        return false;
    }
    program.groups.retain(|g| needed.group(g));
    for block in program.blocks.values_mut() {
        for stmt in &mut block.stmts {
            if let StmtKind::Scan { group, .. } = &mut stmt.kind {
                *group = number[group.index()];
            }
        }
    }
    true
}
