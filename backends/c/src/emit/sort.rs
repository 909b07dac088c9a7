//! C that puts rows in order: few by a network, written out for each number of rows, the others by the host.

use super::ops::Helpers;
use livefusion_backend::math;
use livefusion_backend::sort::{LONGEST, NETWORK};
use loop_lang::types::Ty;
use std::fmt::Write;

/// What the host's function is called with.
const COLUMN: &str = "typedef struct { void *data; u64 bytes; } lf_column;\n";

impl Helpers {
    /// The function that puts the first rows of columns of these types in order. Its parameters are the columns, and how many rows.
    pub(super) fn sort(&mut self, types: &[Ty]) -> String {
        let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
        let suffix = names.join("_");
        let name = format!("lf_sort_{suffix}");
        if !self.is_there(&name) {
            self.require("lf_column", || COLUMN.into());
            let params = "const lf_column *, u64, u64";
            self.linked_at("lf_sort", params, math::entries().len());
            self.require(&name, || text(types, &suffix));
        }
        name
    }
}

/// ```text
/// static inline void lf_network_u64(u64 *a0, const u64 n)   (n is a literal wherever it is inlined)
/// static void lf_sort_u64(u64 *a0, const u64 n)
/// ```
fn text(types: &[Ty], suffix: &str) -> String {
    let columns = || types.iter().enumerate();
    let list = |one: &dyn Fn(usize, &Ty) -> String, between: &str| {
        let all: Vec<String> = columns().map(|(k, ty)| one(k, ty)).collect();
        all.join(between)
    };
    let params = list(&|k, ty| format!("{} *a{k}", ty.name()), ", ");
    let args = list(&|k, _| format!("a{k}"), ", ");
    let mut text = format!(
        "static inline __attribute__((always_inline)) void lf_network_{suffix}({params}, const u64 n) {{\n"
    );
    let mut line = |line: String| _ = writeln!(text, "  {line}");
    for (k, ty) in columns() {
        line(format!("{} x{k}[{LONGEST}];", ty.name()));
        line(format!("__builtin_memcpy(x{k}, a{k}, n * {});", ty.size()));
    }
    line(format!(
        "#define LF_EXCHANGE(i, j) if (j < n) {{ {} }}",
        exchange(types)
    ));
    for pairs in NETWORK.chunks(8) {
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(i, j)| format!("LF_EXCHANGE({i}, {j})"))
            .collect();
        line(pairs.join(" "));
    }
    line("#undef LF_EXCHANGE".into());
    for (k, ty) in columns() {
        line(format!("__builtin_memcpy(a{k}, x{k}, n * {});", ty.size()));
    }
    let _ = writeln!(
        text,
        "}}\nstatic void lf_sort_{suffix}({params}, const u64 n) {{"
    );
    let mut line = |line: String| _ = writeln!(text, "  {line}");
    line("switch (n) {".into());
    line("  case 0: case 1: break;".into());
    for n in 2..=LONGEST {
        line(format!(
            "  case {n}: lf_network_{suffix}({args}, {n}); break;"
        ));
    }
    let all = list(&|k, ty| format!("{{ a{k}, {} }}", ty.size()), ", ");
    line("  default: {".into());
    line(format!("    const lf_column all[] = {{ {all} }};"));
    line(format!("    lf_sort(all, {}, n);", types.len()));
    line("  }".into());
    line("}".into());
    text.push_str("}\n");
    text
}

/// Exchanges rows `i` and `j` if the second one comes first. Compilers would branch where one condition decides over several
/// values, and nobody foresees which: so these are exchanged by a mask.
fn exchange(types: &[Ty]) -> String {
    if let [ty] = types {
        let ty = ty.name();
        return format!(
            "const {ty} a = x0[i], b = x0[j]; x0[i] = a < b ? a : b; x0[j] = a < b ? b : a;"
        );
    }
    // By the last column, unless those before differ.
    let columns = (0..types.len()).rev();
    let later = columns.fold(String::new(), |later, k| match later.is_empty() {
        true => format!("(x{k}[j] < x{k}[i])"),
        false => format!("((x{k}[j] < x{k}[i]) | ((x{k}[j] == x{k}[i]) & {later}))"),
    });
    let mut text = format!("const u64 s = -(u64){later};");
    for (k, ty) in types.iter().enumerate() {
        let ty = ty.name();
        let _ = write!(
            text,
            " const {ty} d{k} = (x{k}[i] ^ x{k}[j]) & ({ty})s; x{k}[i] ^= d{k}; x{k}[j] ^= d{k};"
        );
    }
    text
}
