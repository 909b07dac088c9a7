//! Bodies in pieces: each piece a loop over a tile of elements.

use super::phases::Phase;
use super::pieces::Pieces;
use super::plan::Plan;
use super::unit::Unit;
use crate::facts;
use loop_lang::ir::{StmtKind, Var};

impl Plan {
    /// Writes the loop over tiles.
    pub(super) fn write_pieces(&self, unit: &mut Unit, pieces: &Pieces) {
        let tile = pieces.tile;
        for (k, ty) in pieces.types.iter().enumerate() {
            unit.line(format!("{} lf_cell_{k}[{tile}];", ty.name()));
        }
        unit.open(format!(
            "for (u64 tile = from; tile < end; tile += {tile}) {{"
        ));
        unit.line(format!("const u64 width = lf_least({tile}, end - tile);"));
        for piece in &pieces.pieces {
            self.write_piece(unit, pieces, piece);
        }
        unit.close();
    }

    fn write_piece(&self, unit: &mut Unit, pieces: &Pieces, piece: &Phase) {
        let lanes: Vec<_> = self
            .lane_vars(unit.program)
            .into_iter()
            .filter(|(_, v)| updates(piece, *v))
            .collect();
        let counter = unit.names.var(self.counter).to_string();
        let at = if lanes.is_empty() {
            unit.open("for (u64 lane = 0; lane < width; lane++) {");
            unit.line(format!("const u64 {counter} = tile + lane;"));
            "lane"
        } else {
            let strip = self.strip;
            unit.open(format!(
                "for (u64 strip = tile; strip < tile + width; strip += {strip}) {{"
            ));
            unit.open(format!("for (u64 lane = 0; lane < {strip}; lane++) {{"));
            unit.line(format!("const u64 {counter} = strip + lane;"));
            "strip - tile + lane"
        };
        let mut crossing: Vec<(&Var, &usize)> = pieces.cells.iter().collect();
        crossing.sort();
        for (v, cell) in &crossing {
            if piece.uses.contains(v) && !piece.defs.contains(v) {
                let (ty, name) = (facts::elem(unit.program, **v).name(), unit.names.var(**v));
                unit.line(format!("const {ty} {name} = lf_cell_{cell}[{at}];"));
            }
        }
        self.open_lane_vars(unit, &lanes);
        for s in &piece.stmts {
            unit.stmts(std::slice::from_ref(*s));
        }
        self.close_lane_vars(unit, &lanes, None);
        for (v, cell) in crossing.iter().filter(|c| piece.defs.contains(c.0)) {
            let name = unit.names.var(**v);
            unit.line(format!("lf_cell_{cell}[{at}] = {name};"));
        }
        unit.close();
        if !lanes.is_empty() {
            unit.close();
        }
    }
}

fn updates(piece: &Phase, v: Var) -> bool {
    let stmts = piece.stmts.iter();
    stmts
        .map(|s| &s.kind)
        .any(|s| matches!(s, StmtKind::Assign(to, _) if *to == v))
}
