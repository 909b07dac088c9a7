//! NVIDIA's tools: a compiler from PyPI, a folder for machines with a GPU, instruction counts.

use crate::run::{Outcome, line, output, run};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of NVRTC that tests compile kernels with.
const NVRTC: &str = "13.0.88";

/// Its libraries within the package.
const LIBRARIES: &str = "nvidia/cu13/lib";

/// Fetches NVRTC from PyPI into the user's cache, and prints the folder. It needs no GPU and no CUDA.
pub fn nvrtc() -> Outcome {
    let folder = match env::var_os("LIVEFUSION_NVRTC") {
        Some(folder) => PathBuf::from(folder),
        None => cache()?.join(format!("livefusion/nvrtc-{NVRTC}")),
    };
    if !folder.join("libnvrtc.so.13").exists() {
        let parts = Path::new("target/nvrtc");
        fs::create_dir_all(parts)?;
        let mut pip = line("python3 -m pip download --quiet --no-deps --dest");
        run(pip
            .arg(parts)
            .arg(format!("nvidia-cuda-nvrtc=={NVRTC}"))
            .stdout(std::io::stderr()))?;
        for package in files(parts)?.iter().filter(|path| has_end(path, "whl")) {
            let mut unzip = line("python3 -m zipfile -e");
            run(unzip.arg(package).arg(parts.join("wheel")))?;
        }
        fs::create_dir_all(&folder)?;
        for library in files(&parts.join("wheel").join(LIBRARIES))? {
            let name = library.file_name().unwrap_or_default();
            if name.to_string_lossy().starts_with("libnvrtc") {
                fs::copy(&library, folder.join(name))?;
            }
        }
        fs::remove_dir_all(parts)?;
    }
    println!("{}", folder.display());
    Ok(())
}

/// Builds the programs that `run.sh` starts on a machine with a GPU and without Rust, into a folder to copy there.
pub fn pack(folder: &str) -> Outcome {
    let folder = Path::new(folder);
    fs::create_dir_all(folder)?;
    let build = "cargo build --release --features cuda -p";
    run(&mut line(&format!("{build} livefusion-bench")))?;
    run(&mut line(&format!("{build} livefusion-tests --bin hunt")))?;
    let mut packed = Vec::new();
    for name in ["livefusion-bench", "hunt"] {
        fs::copy(Path::new("target/release").join(name), folder.join(name))?;
        packed.push(folder.join(name));
    }
    let tests =
        "cargo test --release -p livefusion-cuda --no-run --test device --message-format json";
    let messages = output(&mut line(tests))?;
    let mut paths = messages.lines().filter_map(|message| {
        let (_, path) = message.split_once("\"executable\":\"")?;
        path.split('"').next()
    });
    let device = paths.next_back().ok_or("cargo names no test program")?;
    fs::copy(device, folder.join("device"))?;
    packed.push(folder.join("device"));
    for name in ["run.sh", "others.py"] {
        fs::copy(Path::new("benches/gpu").join(name), folder.join(name))?;
    }
    run(Command::new("strip").args(packed))?;
    Ok(())
}

/// Loops of the golden files whose kernels are counted.
const LOOPS: [&str; 6] = [
    "map_map",
    "dot_product",
    "min_index",
    "mirror_scan",
    "filter_sum",
    "filter_max",
];

/// Calls of CUB: a name, elements for each thread by its tables for `sm_90`, the call, the type.
const CUB: [(&str, &str, &str, &str); 5] = [
    (
        "sum_f64",
        "16",
        "DeviceReduce::Sum(room, bytes, in, out, n)",
        "double",
    ),
    (
        "scan_f64",
        "12",
        "DeviceScan::InclusiveSum(room, bytes, in, out, n)",
        "double",
    ),
    (
        "scan_f32",
        "24",
        "DeviceScan::InclusiveSum(room, bytes, in, out, n)",
        "float",
    ),
    (
        "filter_i32",
        "17",
        "DeviceSelect::If(room, bytes, in, out, count, n, Positive())",
        "int",
    ),
    (
        "filter_i64",
        "11",
        "DeviceSelect::If(room, bytes, in, out, count, n, Positive())",
        "long long",
    ),
];

/// Prints instruction counts of our kernels and of CUB's, compiled alike for `sm_90`.
///
/// It needs no GPU, but `nvcc` and `nvdisasm` in the PATH: of CUDA, or of the packages `nvidia-cuda-nvcc`, `-nvvm`,
/// `-crt`, `-runtime`, `-cccl` and `-nvdisasm` of PyPI.
pub fn sass() -> Outcome {
    for tool in ["nvcc", "nvdisasm"] {
        if Command::new(tool).arg("--version").output().is_err() {
            println!("SKIPPED: no {tool} in the PATH");
            return Ok(());
        }
    }
    let parts = Path::new("target/sass");
    fs::create_dir_all(parts)?;
    for name in LOOPS {
        let mut emit = line("cargo run --quiet -p livefusion-cuda --example kernel -- --whole");
        let text = output(emit.arg(format!("loop-lang/tests/files/golden/{name}.loop")))?;
        let (_, rest) = text
            .split_once("ELEMENTS = ")
            .ok_or("a kernel without elements")?;
        let elements = rest.split(',').next().unwrap_or_default().to_string();
        print!("{}", counts(&parts.join(name), &text, &elements)?);
    }
    for (name, elements, call, ty) in CUB {
        let text = format!(
            "#include <cub/cub.cuh>\nstruct Positive {{\n  template <class T> __device__ bool operator()(T x) const {{ \
             return x > T(0); }}\n}};\nvoid call({ty} *in, {ty} *out, unsigned long long *count, void *room, size_t bytes, \
             int n) {{ cub::{call}; }}\n"
        );
        let kernels = ["DeviceReduceKernel", "DeviceScanKernel", "SelectSweep"];
        for line in counts(&parts.join(name), &text, elements)?.lines() {
            if kernels.iter().any(|kernel| line.contains(kernel)) {
                let (_, figures) = line.split_once(':').unwrap_or_default();
                println!("CUB, {name}:{figures}");
            }
        }
    }
    Ok(())
}

/// Compiles and disassembles a text, and counts its instructions for each element.
fn counts(file: &Path, text: &str, elements: &str) -> Outcome<String> {
    let [source, cubin, sass] = ["cu", "cubin", "sass"].map(|end| file.with_extension(end));
    fs::write(&source, text)?;
    let mut nvcc = line("nvcc -std=c++17 -arch=sm_90 -O3 --fmad=false -w -cubin -o");
    run(nvcc.args([&cubin, &source]))?;
    fs::write(&sass, output(line("nvdisasm -c").arg(&cubin))?)?;
    output(line("python3 benches/gpu/sass.py").arg(&sass).arg(elements))
}

fn cache() -> Outcome<PathBuf> {
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cache"));
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    Ok(cache.or_else(home).ok_or("no HOME, so no cache")?)
}

fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?;
    Ok(entries
        .map(|entry| entry.map(|e| e.path()))
        .collect::<Result<_, _>>()?)
}

fn has_end(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|found| found == end)
}
