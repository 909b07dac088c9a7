//! Files that grow by record batches, for any format.

use super::super::error::{ErrorKind, Result};
use super::super::output::OutputFile;
use super::{Table, batch};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Describes a format's writer of batches.
pub trait Format: Sized {
    /// The expected content, for messages.
    const EXPECTED: &'static str;
    /// Creates a file of batches of a schema.
    fn begin(to: OutputFile, schema: SchemaRef) -> Result<Self, ErrorKind>;
    /// Writes a batch of this schema.
    fn put(&mut self, batch: &RecordBatch) -> Result<(), ErrorKind>;
    /// Writes the end of the file. Returns the output that will replace the old file.
    fn end(self) -> Result<OutputFile, ErrorKind>;
}

/// Writes a file batch by batch.
pub struct Appending<F> {
    path: PathBuf,
    state: AppendState<F>,
}

enum AppendState<F> {
    /// No batch has defined the columns yet.
    Begun(OutputFile),
    /// Batches of this schema are being written.
    Some(F, SchemaRef),
}

impl<F: Format> Appending<F> {
    pub fn create(path: &Path) -> Result<Appending<F>> {
        Ok(Appending {
            path: path.to_path_buf(),
            state: AppendState::Begun(OutputFile::create(path)?),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a table.
    pub fn append(self, table: &Table) -> Result<Appending<F>> {
        let batch = batch(table)?;
        let Appending { path, state } = self;
        match put(state, &batch) {
            Ok((file, schema)) => Ok(Appending {
                path,
                state: AppendState::Some(file, schema),
            }),
            Err(kind) => Err(kind.of(&path)),
        }
    }

    /// Replaces the old file.
    ///
    /// Without any table, the file has no columns.
    pub fn finish(self) -> Result<()> {
        let none = || RecordBatch::new_empty(Arc::new(Schema::empty()));
        let file = match self.state {
            AppendState::Some(file, _) => Ok(file),
            begun => put(begun, &none()).map(|(file, _)| file),
        };
        let output = file.and_then(F::end);
        let finished = output.and_then(|output| output.finish().map_err(ErrorKind::from));
        finished.map_err(|kind| kind.of(&self.path))
    }
}

fn put<F: Format>(state: AppendState<F>, batch: &RecordBatch) -> Result<(F, SchemaRef), ErrorKind> {
    let (mut file, schema) = match state {
        AppendState::Begun(to) => (F::begin(to, batch.schema())?, batch.schema()),
        AppendState::Some(file, schema) => (file, schema),
    };
    if schema.fields() != batch.schema().fields() {
        let [expected, got] = [&schema, &batch.schema()].map(|schema| schema.to_string());
        let got = format!("{got} below {expected}");
        return Err(ErrorKind::malformed(F::EXPECTED, got));
    }
    file.put(batch)?;
    Ok((file, schema))
}
