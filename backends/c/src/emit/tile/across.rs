//! Elements that lie apart, those of a step together: rows of memory become columns of vectors.
//!
//! Squares of rows are turned in registers, first neighbours, then pairs, then fours: each time two rows exchange what is on
//! either side of the other's. gcc makes four times as many moves of a loop over single elements.

use super::Writer;
use super::pack::unsigned;
use crate::emit::ops::Helpers;
use livefusion_tile::ir::{Memory, Operand, Value};
use loop_lang::ir::Var;

impl Writer<'_, '_, '_> {
    /// So many steps of so many lanes, into a buffer.
    pub(super) fn across(
        &mut self,
        into: Value,
        (array, at): (Var, Operand),
        lanes: u32,
        (apart, steps): (u64, u32),
    ) {
        let (place, buffer) = (
            self.place(Memory::Array(array), at),
            self.whole(into).to_string(),
        );
        // The processor sees no order in lines that lie so far apart: it is told which come when those of as many lanes more are
        // done.
        self.unit.line(format!("for (u64 k = 0; k < {lanes}; k++)"));
        self.unit.line(format!(
            "  __builtin_prefetch({place} + (k + {}) * {apart});",
            2 * lanes
        ));
        let size = self.shape(into).ty.size();
        let register = self.unit.helpers.target.vector_bytes() / size;
        let side = lanes.min(steps).min(register as u32);
        if side < 2 {
            self.unit.line(format!("for (u64 k = 0; k < {lanes}; k++)"));
            self.unit
                .line(format!("  for (u64 l = 0; l < {steps}; l++)"));
            self.unit.line(format!(
                "    {buffer}[l * {lanes} + k] = ({place})[k * {apart} + l];"
            ));
            return;
        }
        let turn = turn(self.unit.helpers, side as usize, size);
        for lane in (0..lanes).step_by(side as usize) {
            for step in (0..steps).step_by(side as usize) {
                let to = format!("{buffer} + {}", step * lanes + lane);
                let from = format!("{place} + {}", u64::from(lane) * apart + u64::from(step));
                self.unit
                    .line(format!("{turn}({to}, {lanes}, {from}, {apart});"));
            }
        }
    }
}

/// A function that turns a square of elements.
fn turn(helpers: &mut Helpers, side: usize, size: usize) -> String {
    let name = format!("lf_turn_{side}_{size}");
    let element = unsigned(size).name();
    helpers.require(&name, || {
        let rows: Vec<String> = (0..side)
            .map(|k| format!("r{k} = *(const lf_t_at *)(x + {k} * apart)"))
            .collect();
        let mut text = format!(
            "static inline void {name}(void *to, u64 wide, const void *from, u64 apart) {{\n  \
             typedef {element} lf_t __attribute__((vector_size({})));\n  \
             typedef lf_t lf_t_at __attribute__((aligned({size}), may_alias));\n  \
             typedef {element} lf_x __attribute__((may_alias));\n  \
             const lf_x *const x = from;\n  lf_x *const y = to;\n  \
             lf_t {}, a;\n",
            side * size,
            rows.join(", ")
        );
        let mut apart = 1;
        while apart < side {
            for k in (0..side).filter(|k| k & apart == 0) {
                let pair = k + apart;
                let choose = |second: bool| {
                    let of = |i: usize| match (i & apart == 0, second) {
                        (true, false) => i,
                        (false, false) => side + i - apart,
                        (true, true) => i + apart,
                        (false, true) => side + i,
                    };
                    let all: Vec<String> = (0..side).map(|i| of(i).to_string()).collect();
                    all.join(", ")
                };
                let (first, second) = (choose(false), choose(true));
                text += &format!(
                    "  a = r{k}; r{k} = LF_SHUFFLE(lf_t, a, r{pair}, {first}); \
                     r{pair} = LF_SHUFFLE(lf_t, a, r{pair}, {second});\n"
                );
            }
            apart *= 2;
        }
        for k in 0..side {
            text += &format!("  *(lf_t_at *)(y + {k} * wide) = r{k};\n");
        }
        text + "}\n"
    });
    name
}
