//! What nobody needs goes: statements first, then values.

use crate::ir::{Memory, Origin, Stmt, StmtKind, Tile, Value};
use rustc_hash::FxHashSet;

/// Removes statements without effect whose results nobody reads, and values that are left unused.
pub(super) fn clean(tile: &mut Tile) {
    let mut needed = FxHashSet::default();
    let mut all = Vec::new();
    tile.each_stmt(&mut |s| all.push(&s.kind));
    loop {
        let before = needed.len();
        // From the end: most that is needed is known before what makes it is met.
        for kind in all.iter().rev() {
            if !is_needed(tile, kind, &needed) {
                continue;
            }
            kind.each_operand(&mut |a| needed.extend(a.value()));
            if let StmtKind::Load {
                from: Memory::Register(r) | Memory::Buffer(r),
                ..
            } = kind
            {
                needed.insert(*r);
            }
        }
        if needed.len() == before {
            break;
        }
    }
    let mut body = std::mem::take(&mut tile.body);
    keep(tile, &mut body, &needed);
    tile.body = body;
    renumber(tile);
}

/// Whether a statement does something that is asked for.
fn is_needed(tile: &Tile, kind: &StmtKind, needed: &FxHashSet<Value>) -> bool {
    match kind {
        StmtKind::Store {
            into: Memory::Register(r) | Memory::Buffer(r),
            ..
        }
        | StmtKind::Compress {
            into: Memory::Register(r) | Memory::Buffer(r),
            ..
        } => needed.contains(r),
        StmtKind::SetLane { to, .. } => needed.contains(to),
        StmtKind::Across { into, .. } => needed.contains(into),
        StmtKind::Set { to, .. } => tile.value(*to).origin.is_state() || needed.contains(to),
        StmtKind::Store { .. }
        | StmtKind::Put { .. }
        | StmtKind::Compress { .. }
        | StmtKind::Sort { .. }
        | StmtKind::Trap { .. }
        | StmtKind::Leave { .. }
        | StmtKind::For { .. }
        | StmtKind::Segment { .. }
        | StmtKind::DryRun { .. }
        | StmtKind::While { .. } => true,
        // What tells whether nothing is to be done is needed by nobody.
        StmtKind::If { then, other, .. } => {
            let mut all = then.iter().chain(other);
            all.any(|s| is_needed(tile, &s.kind, needed))
        }
        _ => kind.target().is_some_and(|v| needed.contains(&v)),
    }
}

fn keep(tile: &Tile, stmts: &mut Vec<Stmt>, needed: &FxHashSet<Value>) {
    for s in stmts.iter_mut() {
        match &mut s.kind {
            StmtKind::For { body, .. } | StmtKind::DryRun { body } => keep(tile, body, needed),
            StmtKind::Segment {
                body,
                epilogue,
                scalar_epilogue,
                ..
            } => {
                keep(tile, body, needed);
                keep(tile, epilogue, needed);
                keep(tile, scalar_epilogue, needed);
            }
            StmtKind::If { then, other, .. } => {
                keep(tile, then, needed);
                keep(tile, other, needed);
            }
            StmtKind::While { test, body, .. } => {
                keep(tile, test, needed);
                keep(tile, body, needed);
            }
            _ => {}
        }
    }
    stmts.retain(|s| match &s.kind {
        StmtKind::For { body, .. } => !body.is_empty(),
        StmtKind::If { then, other, .. } => !then.is_empty() || !other.is_empty(),
        kind => is_needed(tile, kind, needed),
    });
}

/// Numbers the values that are left as they stand in the tile's text. The range is always there.
fn renumber(tile: &mut Tile) {
    let mut used = FxHashSet::default();
    let mut lets = Vec::new();
    tile.each_stmt(&mut |s| {
        s.kind.each_operand(&mut |a| used.extend(a.value()));
        used.extend(s.kind.target());
        used.extend(s.kind.own());
        let target = s.kind.target();
        lets.extend(target.filter(|v| tile.value(*v).origin == Origin::Let));
    });
    let of = |v: &Value| match tile.value(*v).origin {
        Origin::From => 0,
        Origin::End => 1,
        Origin::Given(_) => 2,
        Origin::State(_) => 3,
        Origin::Scan(..) => 4,
        Origin::Register => 5,
        Origin::Buffer => 6,
        Origin::Let => 7,
    };
    let all = tile.each_value().map(|(v, _)| v);
    let mut frame: Vec<Value> = all
        .filter(|v| of(v) < 2 || of(v) < 7 && used.contains(v))
        .collect();
    frame.sort_by_key(of);
    let order: Vec<Value> = frame.into_iter().chain(lets).collect();
    let mut to = vec![Value(0); tile.values.len()];
    for (i, v) in order.iter().enumerate() {
        to[v.index()] = Value(i as u32);
    }
    tile.values = order.iter().map(|v| tile.value(*v).clone()).collect();
    let new = |v: &mut Value| *v = to[v.index()];
    for s in &mut tile.body {
        s.kind.each_value_mut(&mut |v| new(v));
    }
}
