//! Loops of all operators, for tests of their kernels.

use loop_lang::op::{Op, Sig};
use loop_lang::types::Ty;

/// Returns the text of a loop of all operators of one type.
///
/// Each operator takes the elements of two arrays.
pub fn text(ty: Ty) -> String {
    let (mut body, mut rooms, mut writes, mut results) = Default::default();
    let all: (&mut String, &mut String, &mut String, &mut String) =
        (&mut body, &mut rooms, &mut writes, &mut results);
    let casts = Ty::ALL.iter().map(|to| (format!("cast.{to} x_0"), *to));
    let operators = Op::ALL.iter().filter_map(|op| {
        let args = match op.sig() {
            Sig::Select | Sig::Cast | Sig::Bitcast => return None,
            Sig::FloatInt => vec![ty, Ty::I32],
            _ => vec![ty; op.arity()],
        };
        let to = op.result(&args, None)?;
        let names = [
            "x_0",
            if args.len() == 2 && args[1] != ty {
                "i_0"
            } else {
                "y_0"
            },
            "x_0",
        ];
        Some((
            format!("{} {}", op.name(), names[..args.len()].join(" ")),
            to,
        ))
    });
    for (k, (text, to)) in operators.chain(casts).enumerate() {
        *all.0 += &format!("  let t{k}_0 = {text}\n");
        *all.1 += &format!("  let out{k}_0 = newArray {to} n_0\n");
        *all.2 += &format!("  writeArray out{k}_0 ix_0 t{k}_0\n");
        *all.3 += &format!(" out{k}_0");
    }
    format!(
        "loop operators_{ty}\ncomb 0 manifest at r0\nparam a_0: [{ty}] stream r0\nparam b_0: [{ty}] stream r0\n\
         rate r0 root ix_0 < n_0 {{ stage 0 }}\ninit_0:\n  let n_0 = arrayLength a_0\n  carry ix_0 = 0\n{rooms}\
         guard_0:\n  let more_0 = lt ix_0 n_0\n  unless more_0\nbody_0:\n  let x_0 = readArray a_0 ix_0\n  \
         let y_0 = readArray b_0 ix_0\n  let i_0 = cast.i32 y_0\n{body}yield_0:\n{writes}bottom_0:\n  \
         let nix_0 = add ix_0 1\n  ix_0 := nix_0\ndone_0:\n  return{results}\n"
    )
}

/// Returns the operators that join values of a type.
pub fn that_join(ty: Ty) -> impl Iterator<Item = Op> {
    let all = Op::ALL.iter().copied();
    all.filter(move |op| op.identity(ty).is_some())
}

/// Returns the text of a loop that joins elements onto arrays, by each operator.
pub fn scatters(ty: Ty) -> String {
    let with: Vec<String> = that_join(ty)
        .map(|op| format!(" with {}", op.name()))
        .collect();
    let with: Vec<&str> = with.iter().map(String::as_str).collect();
    scattered(ty, &with)
}

/// Returns a loop that joins elements onto array copies by several operators.
pub fn scattered(ty: Ty, with: &[&str]) -> String {
    let each = |line: &dyn Fn(usize, &str) -> String| -> String {
        with.iter().enumerate().map(|(k, w)| line(k, w)).collect()
    };
    let copies = each(&|k, _| format!("  let out{k}_0 = copyArray base_0\n"));
    let joins = each(&|k, with| format!("  scatterArray out{k}_0 i_0 x_0{with}\n"));
    let results = each(&|k, _| format!(" out{k}_0"));
    format!(
        "loop scatters_{ty}\ncomb 0 manifest at r0\nparam at_0: [u64] stream r0\nparam xs_0: [{ty}] stream r0\n\
         param base_0: [{ty}] random\nrate r0 root ix_0 < n_0 {{ stage 0 }}\ninit_0:\n  let n_0 = arrayLength xs_0\n  \
         carry ix_0 = 0\n{copies}guard_0:\n  let more_0 = lt ix_0 n_0\n  unless more_0\nbody_0:\n  \
         let i_0 = readArray at_0 ix_0\n  let x_0 = readArray xs_0 ix_0\nyield_0:\n{joins}bottom_0:\n  \
         let nix_0 = add ix_0 1\n  ix_0 := nix_0\ndone_0:\n  return{results}\n"
    )
}
