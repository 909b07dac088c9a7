//! Faults in callers of zip tiles, and in dry runs over segments.

use super::Fault;

/// Faults by file path from the workspace root.
pub(super) const PRINTED: &[Fault] = &[
    Fault {
        what: "Cranelift: nothing has a dry run",
        file: "backends/jit/src/emit/tile/nest.rs",
        sound: "self.stmts(&dry_run); for (v, was) in before { self.set_scalar(v, was); } self.set_dry_run_passed(true);",
        faulty: "let _ = (dry_run, before); self.set_dry_run_passed(false);",
    },
    Fault {
        what: "Cranelift: what a dry run has set stays",
        file: "backends/jit/src/emit/tile/nest.rs",
        sound: "for (v, was) in before { self.set_scalar(v, was); }",
        faulty: "let _ = before;",
    },
    Fault {
        what: "the evaluator goes on with what a dry run has set",
        file: "tile/src/eval/mod.rs",
        sound: "self.values = before.0;",
        faulty: "let _ = before.0;",
    },
    Fault {
        what: "Cranelift: a side of a zip has delivered what it packed first",
        file: "backends/jit/src/emit/tile/zip.rs",
        sound: "let last = emit.builder.ins().iadd_imm_s(first, -1);",
        faulty: "let last = emit.u64(0);",
    },
    Fault {
        what: "Cranelift: what a side of a zip carries is behind all that it packed",
        file: "backends/jit/src/emit/tile/zip.rs",
        sound: "self.set(*v, self.seen(*v), used);",
        faulty: "let _ = (v, used);",
    },
    Fault {
        what: "Cranelift: buffers are seen from their first element on",
        file: "backends/jit/src/emit/tile/zip.rs",
        sound: "let before = self.builder.ins().isub(first, at);",
        faulty: "let _ = first; let before = self.builder.ins().ineg(at);",
    },
    Fault {
        what: "C: a side of a zip has delivered what it packed first",
        file: "backends/c/src/emit/tile/zip.rs",
        sound: ".line(format!(\"{name} = {buffer}[lf_first_{k} - 1];\"));",
        faulty: ".line(format!(\"{name} = {buffer}[0];\"));",
    },
    Fault {
        what: "C: buffers are seen from their first element on",
        file: "backends/c/src/emit/tile/zip.rs",
        sound: "\"({ty} *)((u64){name} + (lf_first_{k} - lf_at) * {size})\"",
        faulty: "\"({ty} *)((u64){name} - lf_at * {size} + 0 * lf_first_{k})\"",
    },
];
