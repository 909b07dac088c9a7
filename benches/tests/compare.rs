//! Tests of the comparison: output, JSON, and the agreement of all contenders.

use livefusion_bench::backends::BACKENDS;
use livefusion_bench::cases::CASES;
use livefusion_bench::compare::{Options, compare, compare_cases};
use livefusion_bench::kernels::Kernels;
use livefusion_bench::measure::Effort;
use serde_json::Value;
use std::collections::HashSet;
use std::process::Command;
use std::time::Duration;

/// Every contender runs, but only briefly.
const BRIEF: Effort = Effort {
    rounds: (1, 1),
    budget: Duration::ZERO,
    sample: Duration::ZERO,
};

#[test]
fn the_program_writes_rows_for_machines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let done = Command::new(env!("CARGO_BIN_EXE_livefusion-bench"))
        .args([
            "compare",
            "--quick",
            "--case",
            "dotProduct",
            "--n",
            "1000",
            "--json",
        ])
        .arg(&file)
        .arg("--svg")
        .arg(folder.path())
        // OpenMP's spinning threads show whether their library stays loaded to the end.
        .env("OMP_WAIT_POLICY", "active")
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(text.contains("| dotProduct"), "{text}");
    let report: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for key in ["machine", "inputs", "roof_bytes_per_s", "latency", "rows"] {
        assert!(report.get(key).is_some(), "no {key}");
    }
    assert!(report["roof_bytes_per_s"]["1"].as_f64().unwrap() > 1e6);
    let rows = report["rows"].as_array().unwrap();
    let backends: HashSet<&str> = rows.iter().filter_map(|r| r["backend"].as_str()).collect();
    assert_eq!(backends, BACKENDS.iter().map(|b| b.name).collect());
    for row in rows {
        let keys: Vec<&str> = row
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let wanted = [
            "case",
            "backend",
            "n",
            "threads",
            "ns_per_element",
            "best_c_ns_per_element",
            "ratio",
            "kernel_ns_per_element",
            "fresh_ns_per_element",
            "bytes_per_s",
            "peak_bytes",
            "result_bytes",
            "rounds",
            "checked",
        ];
        assert_eq!(keys, wanted);
        assert_eq!(
            (row["case"].as_str(), row["n"].as_u64()),
            (Some("dotProduct"), Some(1000))
        );
        let number = |key: &str| row[key].as_f64().unwrap();
        let ratio = number("ns_per_element") / number("best_c_ns_per_element");
        assert!((number("ratio") / ratio - 1.0).abs() < 1e-9 && ratio > 0.0);
        assert_eq!(row["checked"], true);
    }
    let svg = std::fs::read_to_string(folder.path().join("small-1.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("dotProduct"));
}

#[test]
fn nothing_of_that_name() {
    let options = Options {
        case: Some("nonesuch".to_string()),
        ..Options::default()
    };
    assert!(compare(&options).unwrap_err().contains("dotProduct"));
}

/// Uses more than one chunk, and a size with remainders everywhere.
#[test]
fn all_contenders_of_all_cases_agree() {
    let options = Options {
        n: Some(20_011),
        effort: BRIEF,
        ..Options::default()
    };
    let mut kernels = Kernels::new().unwrap();
    let (cells, notes) = compare_cases(&options, &mut kernels).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    for case in CASES {
        let variants = kernels.variants(case.file, case.name).unwrap();
        // If Rust has threads, C has them, too.
        let in_rust = case.rust.iter().any(|r| r.parallel);
        let in_c = variants.iter().any(|v| v.parallel);
        assert!(in_c || !in_rust, "{}", case.name);
        for cell in cells.iter().filter(|c| c.case == case.name) {
            let on: Vec<&str> = cell.rows.iter().map(|r| r.backend).collect();
            let all = BACKENDS.iter().filter(|b| cell.n <= b.largest);
            assert_eq!(on, all.map(|b| b.name).collect::<Vec<_>>(), "{}", case.name);
            assert!(cell.rows.iter().all(|r| r.checked));
            let allowed = |parallel: bool| cell.threads > 1 || !parallel;
            let c = variants.iter().filter(|v| allowed(v.parallel)).count();
            let rust = case.rust.iter().filter(|r| allowed(r.parallel)).count();
            assert_eq!(cell.others.len(), c + 1 + rust, "{}", case.name);
        }
    }
}
