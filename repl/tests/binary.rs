//! `lf` as called by scripts: output streams and exit codes.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn lf(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lf"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("lf");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A process that reads no input may have ended already.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("an output")
}

fn check(args: &[&str], input: &str, code: i32, out: &str, err: &str) {
    let got = lf(args, input);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(got.status.code(), Some(code), "{args:?} {input:?}");
    assert_eq!(text(&got.stdout), out, "{args:?}");
    let written = text(&got.stderr);
    assert!(written.starts_with(err), "{args:?}: {written}");
    assert!(!written.contains('\x1b'), "no colours: {written}");
}

#[test]
fn texts() {
    check(&["eval", "(1..=100) |> sum"], "", 0, "5050\n", "");
    check(&["eval", "-1 + 2"], "", 0, "1\n", "");
    check(
        &["eval", "sum(xs)"],
        "",
        1,
        "",
        "error: there is no `xs`\n --> <eval>:1:5\n",
    );
    check(&["--backend", "jit", "eval", "sum(1..4)"], "", 0, "6\n", "");
    check(
        &[],
        "let xs = iota(4)\nxs\n:type xs\nxs.max()\n",
        0,
        "[0, 1, 2, 3]\ni64[4]\n3\n",
        "",
    );
    // Statements before the first error run, also if later text does not parse.
    check(
        &[],
        "1 + 1\nlet y = 3\ny * 2\nx = 3\n5\n",
        1,
        "2\n6\n",
        "error: `x` gets a value with `let`\n --> <stdin>:4:3\n",
    );
    check(
        &[],
        "1 + 1\n[1].map(_ + 1)\n_ + 1\n",
        1,
        "2\n[2]\n",
        "error: `_` is the element of nothing here\n",
    );
    // The first error ends a script.
    check(
        &[],
        "1\nnope\n:type 2\n",
        1,
        "1\n",
        "error: there is no `nope`\n --> <stdin>:2:1\n",
    );
}

#[test]
fn files() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("squares.lf");
    let text = "def square(x) = x * x\n:set show 4\n\niota(9).map(square)\niota(3)[5]\n";
    std::fs::write(&script, text).expect("a file");
    let name = script.display().to_string();
    let shown = "show = 4\ntypes = off\nmemory = 8192 MiB\n[0, 1, …, 49, 64]\n";
    let wrong = "error: `at`: expected an index below 3, got 5\n";
    check(&["run", &name], "", 1, shown, wrong);
    let at = lf(&["run", &name], "").stderr;
    assert!(String::from_utf8_lossy(&at).contains("squares.lf:5:1\n"));
    check(&["run", "none.lf"], "", 2, "", "lf: none.lf: ");
}

#[test]
fn usage() {
    for wrong in [&["evil"][..], &["run"], &["eval"], &["--fast"]] {
        check(wrong, "", 2, "", "lf: ");
    }
    let extra = "lf: unexpected argument `b`\n";
    check(&["run", "a", "b"], "", 2, "", extra);
    check(
        &["--backend", "fpga", "eval", "1"],
        "",
        2,
        "",
        "error: there is no backend `fpga`; there are interp, ",
    );
    assert_eq!(lf(&["--help"], "").status.code(), Some(0));
}
