//! Pieces of a body as functions of their own: what compilers do with a function takes them more than twice the time where it
//! is twice as long.

use super::Writer;
use crate::emit::ideas::Idea;
use livefusion_tile::ir::{Entry, Origin, Stmt, Value, named};
use std::collections::BTreeMap;

/// What goes into the function of a piece beside what the frame has, and out of it.
struct Own {
    declaration: String,
    argument: String,
    /// Statements at its begin, and at its end.
    begin: String,
    end: String,
}

impl Writer<'_, '_, '_> {
    /// Writes functions for the pieces of the tile's body, if it is in pieces. Their calls, by their positions in it.
    pub(super) fn pieces(&mut self, function: &str) -> BTreeMap<usize, String> {
        let mut calls = BTreeMap::new();
        let in_pieces = |e: &Entry| matches!(e, Entry::Most(_));
        if !self.tile.entries.iter().any(in_pieces) {
            return calls;
        }
        self.unit.uses(Idea::Pieces);
        let body = self.tile.body.iter().enumerate();
        for (k, s) in body.filter(|(_, s)| self.tile.is_range(&s.kind)) {
            let function = format!("{function}_p{}", calls.len() + 1);
            calls.insert(k, self.piece(&function, s));
        }
        calls
    }

    /// Writes the function of a piece. Its call.
    fn piece(&mut self, function: &str, s: &Stmt) -> String {
        let stmts = std::slice::from_ref(s);
        let (passed, own) = (self.passed(stmts), self.own(stmts));
        let declarations = (passed.iter().map(|p| &p.declaration))
            .chain(own.iter().map(|o| &o.declaration))
            .fold("const u64 from, const u64 end".to_string(), |all, one| {
                all + ", " + one
            });
        let arguments = (passed.iter().map(|p| &p.inside))
            .chain(own.iter().map(|o| &o.argument))
            .fold("from, end".to_string(), |all, one| all + ", " + one);
        self.unit.line("static __attribute__((noinline)) u64");
        self.unit.open(format!("{function}({declarations}) {{"));
        self.unit.line("u64 trapped = 0;");
        let states: Vec<Value> = passed.iter().filter_map(|p| p.state).collect();
        for v in &states {
            let (ty, name) = (self.shape(*v).ty.name(), self.name(*v));
            self.unit.line(format!("{ty} {name} = *lf_{name};"));
        }
        own.iter()
            .filter(|o| !o.begin.is_empty())
            .for_each(|o| self.unit.line(&o.begin));
        self.comb = None;
        // Halves come in from other pieces; the words that they were cut off need not.
        let halves = self.halves.iter_mut();
        halves.for_each(|(half, word)| *word = (*half).into());
        self.stmts(stmts);
        self.comb = None;
        own.iter()
            .filter(|o| !o.end.is_empty())
            .for_each(|o| self.unit.line(&o.end));
        for v in &states {
            let name = self.name(*v);
            self.unit.line(format!("*lf_{name} = {name};"));
        }
        self.unit.line("return trapped;");
        self.unit.close();
        self.unit.line("");
        format!("trapped |= {function}({arguments});")
    }

    /// What is the tile's own that a piece has to do with: registers, buffers, and what was computed before.
    fn own(&mut self, stmts: &[Stmt]) -> Vec<Own> {
        let mut inside = Vec::new();
        livefusion_tile::ir::each_stmt(stmts, &mut |s| inside.extend(s.kind.target()));
        let mut values: Vec<Value> = named(stmts).into_iter().collect();
        values.sort();
        let mut all = Vec::new();
        for v in values {
            let (shape, name) = (self.tile.shape(v), self.whole(v).to_string());
            let (ty, parts) = (self.vector(self.shape(v)), self.parts(shape.lanes));
            match self.tile.value(v).origin {
                Origin::Register if parts > 1 => all.push(Own {
                    declaration: format!("{ty} *restrict lf_{name}"),
                    argument: name.clone(),
                    begin: format!(
                        "{ty} {name}[{parts}]; for (u64 k = 0; k < {parts}; k++) {name}[k] = lf_{name}[k];"
                    ),
                    end: format!("for (u64 k = 0; k < {parts}; k++) lf_{name}[k] = {name}[k];"),
                }),
                Origin::Register => all.push(Own {
                    declaration: format!("{ty} *restrict lf_{name}"),
                    argument: format!("&{name}"),
                    begin: format!("{ty} {name} = *lf_{name};"),
                    end: format!("*lf_{name} = {name};"),
                }),
                Origin::Buffer => all.push(Own {
                    declaration: format!("{} *restrict {name}", self.element(v)),
                    argument: name,
                    begin: String::new(),
                    end: String::new(),
                }),
                Origin::Let if !inside.contains(&v) => {
                    for part in 0..parts {
                        let name = match parts {
                            1 => name.clone(),
                            _ => format!("{name}_p{part}"),
                        };
                        all.push(Own {
                            declaration: format!("const {ty} {name}"),
                            argument: name,
                            begin: String::new(),
                            end: String::new(),
                        });
                    }
                }
                _ => {}
            }
        }
        all
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
        let is_piece = |l: &str| l.contains("_tile_0_r0_p") && l.ends_with('{');
        let pieces = functions.filter(|f| f.lines().any(is_piece));
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
            let sizes = [256, 300, 3072].map(of);
            let [few, _, most] = sizes.each_ref().map(Vec::len);
            assert!(few > 4 && most >= 11 * few, "{few} and {most} functions");
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
