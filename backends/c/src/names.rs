//! C identifiers for a loop's variables, labels and functions.

use loop_lang::ir::{Loop, Order, Type, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Lists the names of a variable besides its value's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Facet {
    /// An array's length.
    Length,
    /// A carried variable's pending next value.
    Next,
    /// The lanes of a `Lanes` group's variable.
    Lanes,
    /// A `Lanes` group's variable joined, for readers after its loop.
    Joined,
    /// A `Prefix` group's variable, as its readers see it.
    Now,
    /// Total of a `Prefix` group's finished blocks.
    Total,
    /// Last local value of a `Prefix` group.
    Last,
    /// Tree entries of a `Prefix` group.
    Tree,
    /// The function that joins a `Lanes` group, named after its first variable.
    Join,
}

/// Names reserved by C and by our types.
const RESERVED: &str = "auto break case char const continue default do double else enum extern float \
    for goto if inline int long register restrict return short signed sizeof static struct switch \
    typedef union unsigned void volatile while asm typeof bool true false linux unix i8 i16 i32 i64 \
    u8 u16 u32 u64 f32 f64";

/// Names declared by the state machine and by calls of tiles. Variables with these names are
/// renamed.
const OURS: &str = "run steps limit event position trapped outcome strip lane from end count left \
    left_at rest size first l width tile";

/// Holds the C names of one loop.
pub struct Names {
    vars: Vec<String>,
    facets: FxHashMap<(Var, Facet), String>,
    functions: Vec<String>,
}

impl Names {
    /// Names everything in `program`.
    ///
    /// Functions are prefixed with `symbol`, the kernel's own name.
    pub fn of(program: &Loop, carried: &[Var], symbol: &str) -> Names {
        let mut unique = Unique::beside_words();
        for word in OURS.split_whitespace() {
            unique.pick(word);
        }
        let functions = program
            .functions
            .iter()
            .map(|f| unique.pick(&format!("{symbol}_{}", f.name)))
            .collect();
        let vars = program
            .vars
            .iter()
            .map(|v| unique.pick(&v.name))
            .collect::<Vec<_>>();
        let mut names = Names {
            vars,
            facets: FxHashMap::default(),
            functions,
        };
        for (i, data) in program.vars.iter().enumerate() {
            if let Type::Array(_) = data.ty {
                names.add(&mut unique, Var::new(i), Facet::Length, "n_", "");
            }
        }
        for g in &program.groups {
            let facets: &[(Facet, &str)] = match g.order {
                Order::Lanes(_) | Order::Runs(_) => {
                    &[(Facet::Lanes, "_lane"), (Facet::Joined, "_joined")]
                }
                Order::Prefix(_) => &[
                    (Facet::Now, "_now"),
                    (Facet::Total, "_total"),
                    (Facet::Last, "_last"),
                    (Facet::Tree, "_tree"),
                ],
                Order::Exact | Order::Sequential => &[],
            };
            for v in &g.vars {
                for (facet, suffix) in facets {
                    names.add(&mut unique, *v, *facet, "", suffix);
                }
            }
            if let (Some(_), Some(v)) = (g.order.lanes(), g.vars.first()) {
                names.add(&mut unique, *v, Facet::Join, &format!("{symbol}_join_"), "");
            }
        }
        for v in carried {
            names.add(&mut unique, *v, Facet::Next, "", "_next");
        }
        names
    }

    fn add(&mut self, unique: &mut Unique, v: Var, facet: Facet, before: &str, after: &str) {
        let name = unique.pick(&format!("{before}{}{after}", self.vars[v.index()]));
        self.facets.insert((v, facet), name);
    }

    /// Returns the variable's own name.
    pub fn var(&self, v: Var) -> &str {
        &self.vars[v.index()]
    }

    /// Returns the name of a facet of a variable.
    pub fn facet(&self, v: Var, facet: Facet) -> &str {
        self.facets.get(&(v, facet)).map_or(self.var(v), |s| s)
    }

    /// Returns a combine function's name.
    pub fn function(&self, index: usize) -> &str {
        &self.functions[index]
    }
}

/// Makes unique identifiers.
#[derive(Default)]
pub struct Unique {
    taken: FxHashSet<String>,
    /// The number to try next for a taken name.
    next: FxHashMap<String, u32>,
}

impl Unique {
    /// Excludes the words of C.
    pub fn beside_words() -> Unique {
        let mut unique = Unique::default();
        for word in RESERVED.split_whitespace() {
            unique.pick(word);
        }
        unique
    }

    /// Returns an unused identifier close to `wanted`.
    pub fn pick(&mut self, wanted: &str) -> String {
        let base = identifier(wanted);
        let mut name = base.clone();
        while !self.taken.insert(name.clone()) {
            let n = self.next.entry(base.clone()).or_insert(2);
            name = format!("{base}_{n}");
            *n += 1;
        }
        name
    }
}

/// Turns `name` into a valid C identifier.
///
/// It does not begin with `lf_` or `_`.
pub fn identifier(name: &str) -> String {
    let mut out: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let first = out.chars().next();
    if first.is_none_or(|c| !c.is_ascii_alphabetic()) || out.starts_with("lf_") {
        out.insert_str(0, "v_");
    }
    out
}
