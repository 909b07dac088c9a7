//! Detection of loops whose bits depend on join order or device functions.

use crate::support::{golden, parse};
use livefusion_backend::Backend as _;
use livefusion_cuda::CudaBackend;
use livefusion_cuda::device::session::Session;
use livefusion_cuda::exact::check;
use livefusion_cuda_shim::{Cxx, Shim, can_compile};
use livefusion_interp::InterpBackend;
use std::sync::Arc;

/// Writes a loop that maps by an operator.
fn map(op: &str, ty: &str) -> String {
    format!(
        "loop map\ncomb 0 manifest at r0\ncomb 1 map at r0\nparam arr_0: [{ty}] stream r0\nrate r0 root ix_0 < len_0 {{ stage 0 }}\n\
         init_0, init_1:\n  let len_0 = arrayLength arr_0\n  let out_1 = newArray {ty} len_0\n  carry ix_0 = 0\n  goto guard_0\n\
         guard_0, guard_1:\n  let more_0 = lt ix_0 len_0\n  unless more_0 | done_0\n  goto body_0\n\
         body_0, body_1:\n  let elt_0 = readArray arr_0 ix_0\n  let elt_1 = {op} elt_0\n  goto yield_0\n\
         yield_0, yield_1:\n  writeArray out_1 ix_0 elt_1\n  goto bottom_0\n\
         bottom_0, bottom_1:\n  let nix_0 = add ix_0 1\n  ix_0 := nix_0\n  goto guard_0\ndone_0, done_1:\n  return out_1\n"
    )
}

#[test]
fn sums_of_integers_are_exact_and_sums_of_floats_are_not() {
    let said = |name: &str| check(&golden(name)).map_err(|why| why.to_string());
    assert_eq!(said("filter_max"), Ok(()));
    assert_eq!(said("map_map"), Ok(()));
    let floats = "the bits of acc_3 hang on the order of joins".to_string();
    assert_eq!(said("dot_product"), Err(floats));
}

#[test]
fn functions_of_the_device_are_not_exact() {
    let said = |op, ty| check(&parse(&map(op, ty))).map_err(|why| why.to_string());
    assert_eq!(said("exp", "f64"), Ok(()));
    assert_eq!(said("sqrt", "f32"), Ok(()));
    let own = |op: &str| Err(format!("the bits of {op} are the device's own"));
    assert_eq!(said("sin", "f64"), own("sin"));
    assert_eq!(said("tan", "f32"), own("tan"));
}

/// An exact backend runs exact loops on the device. It runs other loops on the host, and reports
/// the reason.
#[test]
fn exact_engine_runs_inexact_loops_on_the_host() {
    if !can_compile() {
        return;
    }
    let cxx = Cxx::new().expect("the shim compiles");
    let session = Session::new(Shim::default().driver(), Box::new(cxx));
    let backend = CudaBackend::on(session, Arc::new(InterpBackend::new())).exact();
    let tier = |name: &str| {
        let kernel = backend.compile(&golden(name)).expect("it compiles");
        (
            kernel.takes_far(),
            kernel.tier().unwrap_or_default().into_owned(),
        )
    };
    let (on_device, said) = tier("filter_max");
    assert!(on_device && said.starts_with("on sm_90, "), "{said}");
    let why = "on the host, by interp: the bits of acc_3 hang on the order of joins";
    assert_eq!(tier("dot_product"), (false, why.to_string()));
}
