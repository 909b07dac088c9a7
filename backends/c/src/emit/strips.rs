//! Bodies in pieces: each piece a loop over a tile of elements, in a function of its own. What compilers take
//! more than linear time for is the size of a function, and this bounds it, whatever the size of the body.

use super::phases::Phase;
use super::pieces::Pieces;
use super::plan::Plan;
use super::straight::Passed;
use super::unit::Unit;
use crate::facts;
use loop_lang::ir::{GroupId, StmtKind, Var};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Functions beside the one that is written.
#[derive(Default)]
pub struct Aside {
    /// What their names begin with.
    prefix: String,
    /// How many there are.
    count: usize,
    /// Their text.
    pub(super) text: String,
}

impl Aside {
    /// None yet, beside this function.
    pub(super) fn of(function: String) -> Aside {
        Aside {
            prefix: function,
            ..Aside::default()
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

/// What all pieces of a loop are written with.
struct Common<'p, 'a> {
    pieces: &'p Pieces<'a>,
    /// The groups of variables in lanes.
    lanes: FxHashMap<Var, GroupId>,
    /// Parameters that a piece may have, and where each is in the list, by the name that the text uses.
    passed: Vec<Passed>,
    by_name: FxHashMap<String, usize>,
}

impl Plan<'_> {
    /// Writes the loop over tiles.
    pub(super) fn write_pieces(&self, unit: &mut Unit, pieces: &Pieces) {
        let tile = pieces.tile;
        let mut passed = self.passed(unit);
        for (k, ty) in pieces.types.iter().enumerate() {
            let (ty, name) = (ty.name(), format!("lf_cell_{k}"));
            unit.line(format!("{ty} {name}[{tile}] __attribute__((aligned(64)));"));
            passed.push(Passed {
                declaration: format!("{ty} *restrict {name}"),
                argument: name.clone(),
                name,
                array: None,
                local: None,
            });
        }
        let names = passed.iter().enumerate();
        let common = Common {
            pieces,
            lanes: (self.lane_vars(unit.program).into_iter())
                .map(|(g, v)| (v, g))
                .collect(),
            by_name: names.map(|(i, p)| (p.name.clone(), i)).collect(),
            passed,
        };
        unit.open(format!(
            "for (u64 tile = from; tile < end; tile += {tile}) {{"
        ));
        unit.line(format!("const u64 width = lf_least({tile}, end - tile);"));
        for piece in &pieces.pieces {
            let call = self.write_function(unit, &common, piece);
            unit.line(call);
        }
        unit.close();
    }

    /// Writes the function of a piece, which takes what its text names, and gives the call.
    fn write_function(&self, unit: &mut Unit, common: &Common, piece: &Phase) -> String {
        let (out, depth) = (std::mem::take(&mut unit.out), unit.depth);
        unit.depth = 1;
        self.write_piece(unit, common, piece);
        let body = std::mem::replace(&mut unit.out, out);
        unit.depth = depth;
        let words = body.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
        let taken: BTreeSet<usize> = words
            .filter_map(|word| common.by_name.get(word).copied())
            .collect();
        let (mut parameters, mut arguments) = (vec!["const u64 tile", "const u64 width"], vec![]);
        let (mut before, mut after) = (String::new(), String::new());
        for p in taken.iter().map(|i| &common.passed[*i]) {
            parameters.push(&p.declaration);
            let name = &p.name;
            match &p.local {
                Some((ty, _)) => {
                    arguments.push(format!("&{name}"));
                    before.push_str(&format!("  {} {name} = *lf_{name};\n", ty.name()));
                    after.push_str(&format!("  *lf_{name} = {name};\n"));
                }
                None => arguments.push(name.clone()),
            }
        }
        let aside = &mut unit.aside;
        let function = format!("{}_piece_{}", aside.prefix, aside.count);
        aside.count += 1;
        aside.text.push_str(&format!(
            "static __attribute__((noinline)) u64\n{function}({}) {{\n  u64 trapped = 0;\n\
             {before}{body}{after}  return trapped;\n}}\n\n",
            parameters.join(", ")
        ));
        let arguments = ["tile", "width"]
            .map(String::from)
            .into_iter()
            .chain(arguments);
        let arguments: Vec<String> = arguments.collect();
        format!("trapped |= {function}({});", arguments.join(", "))
    }

    fn write_piece(&self, unit: &mut Unit, common: &Common, piece: &Phase) {
        let assigned = piece.statements.iter().filter_map(|s| match s.stmt.kind {
            StmtKind::Assign(v, _) => Some((*common.lanes.get(&v)?, v)),
            _ => None,
        });
        let lanes: BTreeSet<(GroupId, Var)> = assigned.collect();
        let lanes: Vec<(GroupId, Var)> = lanes.into_iter().collect();
        let counter = unit.names.var(self.sweep.counter).to_string();
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
        let cells = |vars: &mut dyn Iterator<Item = &Var>| -> BTreeSet<(Var, usize)> {
            vars.filter_map(|v| Some((*v, *common.pieces.cells.get(v)?)))
                .collect()
        };
        for (v, cell) in cells(&mut piece.uses.difference(&piece.defs)) {
            let (ty, name) = (facts::elem(unit.program, v).name(), unit.names.var(v));
            unit.line(format!("const {ty} {name} = lf_cell_{cell}[{at}];"));
        }
        self.open_lane_vars(unit, &lanes);
        piece.write(unit);
        self.close_lane_vars(unit, &lanes, None);
        for (v, cell) in cells(&mut piece.defs.iter()) {
            let name = unit.names.var(v);
            unit.line(format!("lf_cell_{cell}[{at}] = {name};"));
        }
        unit.close();
        if !lanes.is_empty() {
            unit.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::compiler::Effort;
    use crate::emit::{File, Form};
    use livefusion_tile::target::Target;
    use loop_lang::state::Layout;

    /// The lines of each piece in the C of a loop over an array with these groups, starts and body.
    fn pieces(groups: &str, init: &str, body: &str) -> Vec<usize> {
        let text = format!(
            "loop long\ncomb 0 manifest at r0\nparam xs_0: [f64] stream r0\n\
             rate r0 root ix_0 < len_0 {{ stage 0 }}\n{groups}\
             init_0:\n  let len_0 = arrayLength xs_0\n  carry ix_0 = 0\n{init}\
             guard_0:\n  let more_0 = lt ix_0 len_0\n  unless more_0\n\
             body_0:\n  let x_0 = readArray xs_0 ix_0\n{body}\
             bottom_0:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\n\
             done_0:\n  return\n"
        );
        let mut program = loop_lang::parse::parse(&text).unwrap();
        loop_lang::gotos::complete_blocks(&mut program);
        loop_lang::gotos::derive_gotos(&mut program);
        loop_lang::verify::verify(&program).unwrap();
        let (mut file, layout) = (File::new(&Target::here()), Layout::of(&program));
        file.add(&program, &layout, "long", Form::default())
            .unwrap();
        let text = file.finish().unwrap();
        assert_eq!(text.effort, Effort::Full);
        let functions = text.source.split("\n}\n");
        let pieces = functions.filter(|f| {
            f.lines()
                .any(|l| l.contains("_piece_") && !l.ends_with(';'))
        });
        pieces.map(|f| f.lines().count()).collect()
    }

    fn sums(n: usize) -> Vec<usize> {
        let (mut groups, mut init, mut body) = (String::new(), String::new(), String::new());
        for i in 0..n {
            groups += &format!(
                "group acc_{i} owner r0 step r0 start 0.0 id -0.0 next new_{i} combine add level 0 lanes 32\n"
            );
            init += &format!("  carry acc_{i} = 0.0 @0\n");
            body += &format!(
                "  let y_{i} = add x_0 {i}.5 @0\n  let new_{i} = add acc_{i} y_{i} @0\n  acc_{i} := new_{i} @0\n"
            );
        }
        pieces(&groups, &init, &body)
    }

    fn chain(n: usize) -> Vec<usize> {
        let mut body = String::new();
        for i in 0..n {
            body += &format!("  let x_{} = add x_{i} {i}.5 @0\n", i + 1);
        }
        let write = format!("  writeArray out_0 ix_0 x_{n} @0\n");
        pieces("", "  let out_0 = newArray f64 len_0\n", &(body + &write))
    }

    /// However many sums or maps: functions of the same size, only more of them, with the same effort.
    #[test]
    fn long_bodies_are_functions_of_bounded_size() {
        for of in [sums, chain] {
            let sizes = [48, 56, 768].map(of);
            let [few, _, most] = sizes.each_ref().map(Vec::len);
            assert!(few > 4 && most >= 12 * few, "{few} and {most} functions");
            let longest = sizes.each_ref().map(|p| p.iter().copied().max());
            let bound = longest[0].map(|lines| lines + lines / 4);
            assert!(longest.iter().all(|l| *l <= bound), "{longest:?} lines");
        }
    }

    /// What has more statements than a function may have is in pieces too; what calls them is no work for the
    /// compiler.
    #[test]
    fn no_body_is_too_long_for_pieces() {
        let few = chain(768).len();
        let many = chain(8 * 768).len();
        assert!(many >= 7 * few, "{few} and {many} functions");
    }
}
