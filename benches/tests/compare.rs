//! The comparison program: what it prints, what its JSON holds, and whether all contenders of all cases
//! give the same results.

use livefusion_bench::backends::BACKENDS;
use livefusion_bench::cases::CASES;
use livefusion_bench::compare::{Options, chart, compare, json};
use livefusion_bench::kernels::Kernels;
use livefusion_bench::measure::Effort;
use serde_json::Value;
use std::collections::HashSet;
use std::process::Command;
use std::time::Duration;

/// Every contender runs, none is measured for long.
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
    for key in ["machine", "roof_bytes_per_s", "latency", "rows"] {
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
            "bytes_per_s",
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

/// At a size that is no multiple of anything, so that all remainders are walked through.
#[test]
fn all_contenders_of_all_cases_agree() {
    let options = Options {
        n: Some(3001),
        effort: BRIEF,
        ..Options::default()
    };
    let mut kernels = Kernels::new().unwrap();
    for case in CASES {
        let one = Options {
            case: Some(case.name.to_string()),
            ..options.clone()
        };
        let report = compare(&one).unwrap();
        let wrong = report.notes.iter().filter(|n| n.contains(case.name));
        assert_eq!(wrong.collect::<Vec<_>>(), Vec::<&String>::new());
        for cell in &report.cells {
            assert!(cell.rows.iter().all(|r| r.checked));
            assert_eq!(cell.rows.len(), BACKENDS.len(), "{}", case.name);
            let variants = kernels.variants(case.file, case.name).unwrap();
            let allowed = variants
                .iter()
                .filter(|v| cell.threads > 1 || !v.parallel)
                .count();
            let fresh_and_rust = cell.others.iter().filter(|o| o.fresh || o.rust).count();
            assert_eq!(cell.others.len(), allowed + fresh_and_rust, "{}", case.name);
        }
        assert!(!chart::charts(&report).is_empty());
        assert!(
            json::json(&report)["rows"]
                .as_array()
                .is_some_and(|r| !r.is_empty())
        );
    }
}
