//! The interpreter backend.

/// Temporary: replaced when the backend is complete.
#[derive(Debug, Default, Clone)]
pub struct InterpBackend;
impl InterpBackend {
    /// Temporary.
    pub fn new() -> Self { InterpBackend }
}
impl livefusion_backend::Backend for InterpBackend {
    fn name(&self) -> &'static str { "interp" }
    fn compile(&self, _: &livefusion_backend::Loop) -> Result<std::sync::Arc<dyn livefusion_backend::Kernel>, livefusion_backend::CompileError> {
        Err(livefusion_backend::CompileError::Unavailable { backend: "interp", why: "not there yet".into() })
    }
}
