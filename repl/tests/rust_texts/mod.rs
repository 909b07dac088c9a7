//! Texts for `:rust`: each help example, and more.

use livefusion_repl::combinators;
use livefusion_repl::session::Session;
use std::path::{Path, PathBuf};

/// Texts besides the examples. `:rust` gets the last line.
const TEXTS: &[&str] = &[
    "let xs = [1.5, 2.5]\nlet total = xs.sum()\nxs |> map(|x| x / total)",
    "let xs = [3, 1, 2]\nlet xs = xs + 1\nlet unused = xs.max()\nxs * xs - 2",
    "def square(x) = x * x\n[1, 2, 3].map(square).zip([0.5, 1.5, 2.5]).filter(|(n, x)| n > 2 && !(x < 1)).map(|(n, x)| n as f64 + x)",
    "let n = 3\nlet ys = [10, 20, 30]\n[0, 2].map(|i| ys[i] * n + ys[0])",
    "let (a, b) = [(1, 2.5), (3, 4.5)]\n(a.sum(), b / 2)",
    "[4.0, 9.0].map(|x| if x > 5 then sqrt(x) else -x)",
    "([1, 2, 3] > 1, sqrt([4.0]), [1.5] as i64)",
    "[[1, 2, 3], [4, 5, 6]][.., 1..]",
    "((0..5) * 2, (1..=3).sum())",
    "let xs = [5, 6, 7]\n(xs[0], xs[-1], xs[1..], xs[..-1], xs[1..=1])",
    "let m = generate((2, 3), |(i, j)| i * 10 + j)\n(m[1, 2], m[-1, 0], m[0, ..], m[.., -1], m.map(_ + 1).along(0).sum())",
    "def norm(xs) = sqrt((xs * xs).sum())\nlet ys = [6.0, 8.0]\n[norm([3.0, 4.0])].append([norm(ys), 0])",
    "let xs = [2.0, 4.0]\nlet mean = xs.mean()\nlet spread = (xs - mean) * (xs - mean) |> sum |> sqrt\n(xs - mean) / spread",
    "let f = |x| x * 2\nlet fn = [1, 2]\nfn.map(f)",
    "let r = ragged [[1.5], [2.5, 3.5], []]\n(r * 2.0, r.sum(), r.map_segments(|s| s.sum()))",
    "let xs = [3, 1, 2]\nxs.zip(iota(3)).filter(|(x, i)| x > 1 || i == 0).map(|(x, i)| (x, i as i64 - x, 1))",
    "def f(r) = r.sum()\n([1.5, -2.5].map(|x| if x > 0 then 1 else x), [1.5, -2.5].map(|x| if x > 0 then x else 1), f(0_u8..3))",
    "let xs = 1..10\n(xs, xs * 2, xs.zip(xs), xs |> filter(_ > 3) |> sum)",
    "let n = [1, 2, 3].len()\n(iota(n), replicate(n, 0), (1..9).take(n))",
    "[1.0, 2.0].map(|x| 2 < x && x <= 3 || f64::consts::PI * x > 4)",
    "[[1, 2], [3, 4]].map_rows(|row| row.sum() * row.max())",
    "iterate_while(([1.0, 9.0], 0), |(xs, n)| xs.max() > 2.0, |(xs, n)| (xs / 2, n + 1))",
    "let xs = [3, 1, 2]\nif xs.sum() > 5 then xs.sort() else xs.filter(_ > 1)",
    "let xs = [3.0, 1.0]\nif xs.max() > 5 then (xs, xs.sum()) else (xs.reverse(), 0.5)",
    "let r = ragged [[1, 2], []]\nif r.data().sum() > 2 then r.map(_ * 2) else r",
    "[(1, true), (2, false)].map(|p| if p.1 then p.0 else 0)",
    "[true, false].map(|b| !b)",
    "[1i8, -128i8].map(|x| (abs(x), x.max(0), clamp(x, -1, 1), powi(2.0, 3) + x as f64))",
    "[1u8, 200].map(|x| (x as u64 << 1, x & 1 == 0)).map(|(a, even)| if even then a else 0)",
    "let t = load \"examples/data/airports.csv\"\nt.latitude.take(2)",
    "let t = load \"examples/data/airports.csv\"\n(t.latitude.pack(t.state == \"WA\").max(), (t.state < t.city).count(_))",
    "let t = load \"examples/data/airports.csv\"\nt.latitude.pack(t.iata >= \"ZZ\")",
    "let zs = [(1.0, 2.0), (3.0, 5.0)]\nlet n = zs.len()\n(zs.fft(), zs.irfft(n), zs.chunks(1).fft())",
    "(ragged [[(1.0, 2.0)], []]).map_segments(|s| s.fft().ifft())",
    "1 + 2.5",
    "(iota(4) - 1, [7, -7, 8] // 2, [7, -7, 8] % 3, [1, 2] / 2, 7 / 2)",
    "let ds = [2, -3, 5]\n([7, -7, -8] // ds, [7, -7, -8] % ds, [7.5, -7.5] // 2, [7.5, -7.5] % -2.0)",
    "([1, 2, 3] ** 5, [1.5, 2.0] ** 2, [4.0, 9.0] ** 0.5, [2, 4] ** -1)",
    "let m = arange(6).reshape(2, 3)\n(m @ m.T, m[0], m[:, 1], m[1:, ::-1], m.shape, m.sum(axis = 0))",
    "let xs = [10, 3, 0, 4]\n(xs[1:3], xs[::-1], xs[-2:], xs[::2], xs[xs > 3], xs[[0, 2]])",
    "([1, 2] * 1.5, [1, 2] + [0.5, 0.25], [true, false] + 1, [1u8, 2] + [300, 4], [1, 4].sqrt())",
    "(where([1, 5] > 2, 1, 0), xor([6, 1], 3), [1.5, 0.0].astype(bool), [2, 3].astype(float), log([1.0, 2.0]))",
    "(iota(5).fold(0, |a, b| a - b), iota(4).diff(), [true, false, true].sum(), [1].append([0.5]), [1, 2].map(lambda x: x + 1))",
    "[3, 1, 4, 5].group_by(_ % 2)",
    "[3, 1, 4].sort_by(_ % 2)",
    "let xs = [3, 1, 4]\nxs.sort_by(-_)",
    "[3.5, 1.0, 4.5].group_by(_ > 2).agg(n = _.len(), mean = _.mean(), |g| (\"top\", g.map(_ * 2).max()))",
    "[3, 1, 4].zip([1, 2, 1]).group_by(_.1).agg(n = _.map(_.0).max())",
    "let g = [1, 2, 3, 4].group_by(|x| (x % 2, x > 3)).agg(n = _.len())\ng.sort_by(-_.n).take(2)",
    "let s = load \"examples/data/stocks.csv\"\ns.group_by(_.symbol).agg(n = _.len(), low = _.price.min(), high = _.price.max())",
    "let s = load \"examples/data/stocks.csv\"\nlet g = s.group_by(_.symbol).agg(n = _.len(), low = _.price.min())\ng.sort_by(_.low)",
    "let s = load \"examples/data/stocks.csv\"\nlet g = s.group_by(_.symbol).agg(n = _.len(), low = _.price.min())\n(g.n.max(), g.filter(_.low < 20).low)",
    "let s = load \"examples/data/stocks.csv\"\n(s.len(), s.filter(_.price > 500).len(), s.map(|r| r.price * 2).max())",
    "let s = load \"examples/data/stocks.csv\"\ns.filter(_.price > 650).symbol",
    "let s = load \"examples/data/stocks.csv\"\ns.sort_by(_.price).take(3).map(|r| r.price)",
    "let s = load \"examples/data/stocks.csv\"\ns.sort_by(_.symbol).price.head()",
    "let t = load \"examples/data/airports.csv\"\nt.group_by(_.state).agg(n = _.len(), north = _.latitude.max()).sort_by(-_.n).take(3)",
    "let t = load \"examples/data/airports.csv\"\nt.filter(_.latitude > 60).map(|r| (r.longitude, r.latitude)).head()",
    "let s = load \"examples/data/stocks.csv\"\ns.map(_.symbol)",
    "let s = load \"examples/data/stocks.csv\"\n(s[s.symbol == \"IBM\"].price.max(), s[s.price > 500].len())",
    "let s = load \"examples/data/stocks.csv\"\ns[s.price > 500].group_by(_.symbol).agg(n = _.len(), top = _.price.max())",
    "let u = load \"examples/data/states.csv\"\nu.square_miles.sort().take(2)",
    "let s = load \"examples/data/stocks.csv\"\nlet rows = 2.0\ns.sort_by(_.price * rows).take(2).price * rows",
    "let s = load \"examples/data/stocks.csv\"\ns.group_by(|r| (r.symbol, r.price > 100)).agg(n = _.len())",
    "[[1, 2], [3, 4]].map_rows(|r| (r.sum(), r.max()))",
    "[[3.0, 1.0], [2.0, 4.0]].map_rows(|r| r.sort() / r.max())",
    "[[1, 2, 3], [4, 5, 6]].map_rows(|r| r.map(_ * 2).filter(_ > 4).len())",
    "[[1, 2, 3], [4, 5, 6]].along(0).map(|c| c.scan(0, |a, b| a + b))",
    "[1, 2, 3, 4].map(|x| { let y = x + 1; y * y }).filter(_ % 2 == 0).map(_ as f64).scan(0.0, |a, b| a + b).map(sqrt(_)).sum()",
    "let m = [[1, 2], [3, 4]]\n(m.along(0).sum(), m.along(1).product(), m.along(0).min(), m.along(1).max(), m.along(1).mean(), m.along(0).var(), m.along(1).std())",
    "let m = [[1, 2], [3, 0]]\n(m.along(1).min_index(), m.along(1).max_index(), m.along(1).any(_ > 2), m.along(1).all(_ > 0), m.along(0).count(_ > 1))",
    "let m = [[1, 2], [3, 4]]\n(m.along(1).fold(0, |a, b| a + b), m.along(1).fold_seq(0, |s, x| s * 10 + x), m.along(0).fold1(|a, b| a.max(b)), m.along(1).aggregate(0.0, |s, x| s + x as f64, |a, b| a + b))",
    "let m = [[1, 2], [3, 4]].along(1)\n(m.scan(0, |a, b| a + b), m.scan_exclusive(0, |a, b| a + b), m.scan_right(0, |a, b| a + b), m.scan1(|a, b| a.max(b)), m.cumsum(), m.cumprod())",
    "let r = ragged [[1, 2], [3]]\n(r.sum(), r.product(), r.min(), r.max(), r.mean(), r.var(), r.min_index(), r.max_index(), r.any(_ > 2), r.all(_ > 1), r.count(_ > 1))",
    "let r = ragged [[4, 0, 7], [1, 2]]\n(r.fold(0, |a, b| a + b), r.fold1(|a, b| a.max(b)), r.fold_seq(0, |n, d| n * 10 + d), r.aggregate(0.0, |s, x| s + x as f64, |a, b| a + b))",
    "let r = ragged [[1, 2], [3]]\n(r.scan(0, |a, b| a + b), r.scan_exclusive(0, |a, b| a + b), r.scan_seq(0, |s, x| s * 10 + x), r.scan_right(0, |a, b| a + b), r.cummax())",
    "let m = generate((2, 3, 2), |(i, j, k)| i * j + k)\n(m.along((0, 2)).sum(), m.sum(axis = (1, 2)), [[true, false], [true, true]].along(0).sum(), [[true, false]].sum(axis = 1))",
];

/// Combinators that `:rust` rejects: those of dates.
const REFUSED: &[&str] = &["date", "days", "hours", "minutes", "seconds"];

fn session(folder: &Path) -> Session {
    let mut session = Session::new();
    session.folder = folder.into();
    session
}

/// Returns the folder in which programs find the examples' files.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns all texts, whose last line is the expression.
pub fn texts() -> Vec<String> {
    let all = combinators::all().filter(|c| !REFUSED.contains(&c.name));
    let examples = all.map(|c| c.example.to_string());
    examples
        .chain(TEXTS.iter().map(|t| t.to_string()))
        .collect()
}

/// Returns the output of `:rust` for the last line, and its value.
pub fn asked(text: &str) -> (Result<String, String>, String) {
    let saved = tempfile::tempdir().expect("a folder");
    let mut session = match text.contains("save") {
        true => session(saved.path()),
        false => session(&folder()),
    };
    session.settings.show = livefusion_repl::display::Limit(1000);
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let named = session.submit("before", before);
    assert_eq!(named.err, "", "{text}");
    let said = session.submit("text", &format!(":rust {last}"));
    let said = match said.err.is_empty() {
        true => Ok(said.out),
        false => Err(said.err),
    };
    let shown = match last.contains("save") {
        true => String::new(),
        false => session.submit("text", last).out,
    };
    (said, shown)
}
