//! Operators that vectors have no instruction for, but bits do: shifts by any number, magnitudes, signs, and rounding.
//!
//! What compilers make of a loop over lanes is left to chance: beside other vectors they often take one lane after the
//! other.

use super::Writer;
use super::pack::{signed, unsigned};
use livefusion_tile::ir::Shape;
use loop_lang::op::Op;
use loop_lang::types::Ty;

impl Writer<'_, '_, '_> {
    /// The operator as an expression on vectors, if it is one of these.
    pub(super) fn bits_op(&mut self, op: Op, own: Shape, of: &[String]) -> Option<String> {
        let int = Shape::of(signed(own.ty.size()), own.lanes);
        let (v, i) = (self.vector(own), self.vector(int));
        let body = match own.ty.is_float() {
            _ if op == Op::SignBit => {
                let bits = format!("({i}){}", of[0]);
                return Some(self.compare(Op::Lt, int.ty, &bits, &format!("({i}){{0}}")));
            }
            true => self.of_floats(op, own, int)?,
            false => self.of_integers(op, own, int)?,
        };
        let name = format!("{v}_{}", op.name());
        let parameters = ["x", "y"].map(|p| format!("{v} {p}"));
        let parameters = parameters[..op.arity()].join(", ");
        self.unit.helpers.require(&name, || {
            format!("static inline {v} {name}({parameters}) {{ {body} }}\n")
        });
        Some(format!("{name}({})", of.join(", ")))
    }

    fn of_integers(&mut self, op: Op, own: Shape, int: Shape) -> Option<String> {
        let word = Shape::of(unsigned(own.ty.size()), own.lanes);
        let (v, i, u) = (self.vector(own), self.vector(int), self.vector(word));
        let last = own.ty.size() * 8 - 1;
        let (places, all) = (self.all(own), self.all(int));
        Some(match op {
            Op::Shl => format!("return ({v})(({u})x << ({u})(y & {places}({last})));"),
            Op::Shr => format!("return x >> (y & {places}({last}));"),
            Op::Abs if own.ty.is_signed() => {
                format!("const {v} s = x >> {last}; return (x ^ s) - s;")
            }
            Op::Abs => "return x;".to_string(),
            Op::Signum if own.ty.is_signed() => {
                format!("return (x >> {last}) | ({v})(({u})-x >> {last});")
            }
            Op::Signum => format!("return ({v})(({i})(x != ({v}){{0}}) & {all}(1));"),
            _ => return None,
        })
    }

    fn of_floats(&mut self, op: Op, own: Shape, int: Shape) -> Option<String> {
        let (v, i) = (self.vector(own), self.vector(int));
        let (all, bits) = (self.all(own), self.all(int));
        // All bits but the sign, one, a half, and what has no fraction from there on.
        let (low, one, half, whole) = match own.ty {
            Ty::F32 => ("0x7fffffff", "0x1p0f", "0x1p-1f", "0x1p23f"),
            _ => ("0x7fffffffffffffffl", "0x1p0", "0x1p-1", "0x1p52"),
        };
        let magnitude = |x: &str| format!("(({i}){x} & {bits}({low}))");
        let sign = |x: &str| format!("(({i}){x} & ~{bits}({low}))");
        Some(match op {
            Op::Abs => format!("return ({v}){};", magnitude("x")),
            Op::Copysign => format!("return ({v})({} | {});", magnitude("x"), sign("y")),
            Op::Signum => format!(
                "const {i} number = ({i})(x == x); const {i} unit = ({i}){all}({one}) | {}; \
                 return ({v})((number & unit) | (~number & ({i})x));",
                sign("x")
            ),
            // To even first, which a sum does; what went down from a half goes up. What has no fraction stays.
            Op::Round => format!(
                "const {v} m = ({v}){}; const {v} even = (m + {all}({whole})) - {all}({whole}); \
                 const {i} down = ({i})(m - even == {all}({half})); \
                 const {v} near = even + ({v})(down & ({i}){all}({one})); \
                 const {i} some = ({i})(m < {all}({whole})); \
                 return ({v})((some & ({i})near) | (~some & ({i})m) | {});",
                magnitude("x"),
                sign("x")
            ),
            _ => return None,
        })
    }
}
