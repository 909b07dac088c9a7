//! Texts stored one after the other.

use super::super::column::{Lists, Text};
use super::super::csv::dictionary;
use super::super::error::ErrorKind;
use super::super::plain::Plain;
use std::sync::OnceLock;

/// Holds UTF-8 texts in place, and their codes after the first request.
pub struct TextsInPlace {
    pub lists: Lists,
    coded: OnceLock<Text>,
}

impl TextsInPlace {
    /// Creates texts from bytes that were checked.
    pub fn new(lists: Lists) -> TextsInPlace {
        let coded = OnceLock::new();
        TextsInPlace { lists, coded }
    }

    /// Returns the texts as codes.
    pub fn coded(&self) -> Result<&Text, ErrorKind> {
        if let Some(text) = self.coded.get() {
            return Ok(text);
        }
        let bytes = Plain::of(&self.lists.elements)?.elements;
        let bytes: &[u8] = bytes.as_slice().unwrap_or_default();
        let first = self.lists.offsets.get_word(0).unwrap_or(0);
        let at = |row| {
            self.lists
                .offsets
                .get_word(row)
                .unwrap_or(0)
                .wrapping_sub(first) as usize
        };
        let text = |row| {
            let text = bytes.get(at(row)..at(row + 1)).unwrap_or_default();
            std::str::from_utf8(text).unwrap_or_default()
        };
        let text = dictionary((0..self.lists.len()).map(text))?;
        Ok(self.coded.get_or_init(|| text))
    }
}
