//! The golden loops through the C backend.
use livefusion_backend::{Arg, Backend, Frame, Pass, View};
use livefusion_c::CBackend;

#[test]
fn smoke() {
    for name in ["map", "dot", "filter_sum", "gather_trap"] {
        let path = format!("{}/tests/loops/{name}.loop", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let mut program = loop_lang::parse::parse(&text).unwrap();
        loop_lang::gotos::derive_gotos(&mut program);
        match CBackend::new().compile(&program) {
            Ok(k) => {
                std::fs::write(format!("/tmp/{name}.c"), k.source().unwrap()).unwrap();
            }
            Err(e) => println!("{name}: {e}"),
        }
    }
}
