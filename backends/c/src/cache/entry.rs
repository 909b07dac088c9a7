//! A cache entry as bytes: a header, the whole key, the compiled library.
//!
//! | bytes | content |
//! | --- | --- |
//! | 16 | [`MAGIC`], which names the format |
//! | 8, 8 | lengths of key and library, little endian |
//! | 32 | SHA-256 of key and library |
//! | | the key, the library |

use sha2::{Digest, Sha256};

/// The first bytes of every entry. A new format needs a new name.
const MAGIC: &[u8; 16] = b"livefusion so 1\n";

/// Bytes before the key.
const HEADER: usize = MAGIC.len() + 8 + 8 + 32;

/// Holds the largest size of an entry in bytes.
///
/// Larger ones are neither written nor read.
pub const MOST: usize = 64 << 20;

/// Encodes an entry.
pub fn encode(key: &[u8], library: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + key.len() + library.len());
    bytes.extend(MAGIC);
    bytes.extend((key.len() as u64).to_le_bytes());
    bytes.extend((library.len() as u64).to_le_bytes());
    bytes.extend(hash(key, library));
    bytes.extend(key);
    bytes.extend(library);
    bytes
}

/// Decodes the library of an entry.
///
/// Returns `None` if the entry is damaged or has another key.
pub fn decode<'b>(bytes: &'b [u8], key: &[u8]) -> Option<&'b [u8]> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (key_length, rest) = rest.split_first_chunk::<8>()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (digest, rest) = rest.split_first_chunk::<32>()?;
    let library = rest.strip_prefix(key)?;
    let sound = u64::from_le_bytes(*key_length) == key.len() as u64
        && u64::from_le_bytes(*length) == library.len() as u64
        && *digest == hash(key, library);
    sound.then_some(library)
}

fn hash(key: &[u8], library: &[u8]) -> [u8; 32] {
    Sha256::new()
        .chain_update(key)
        .chain_update(library)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_entry_written_is_read_back() {
        assert_eq!(decode(&encode(b"key", b"code"), b"key"), Some(&b"code"[..]));
        assert_eq!(decode(&encode(b"", b""), b""), Some(&b""[..]));
    }

    #[test]
    fn every_change_is_seen() {
        let sound = encode(b"key", b"code");
        for i in 0..sound.len() {
            assert_eq!(decode(&sound[..i], b"key"), None, "cut to {i} bytes");
            for bit in 0..8 {
                let mut bad = sound.clone();
                bad[i] ^= 1 << bit;
                assert_eq!(decode(&bad, b"key"), None, "bit {bit} of byte {i}");
            }
        }
        let long = [&sound[..], b"!"].concat();
        assert_eq!(decode(&long, b"key"), None);
    }

    #[test]
    fn another_key_is_another_entry() {
        let entry = encode(b"key", b"code");
        for key in [&b"kez"[..], b"ke", b"keyc", b""] {
            assert_eq!(decode(&entry, key), None);
        }
    }
}
