//! The digest of an archive that is no file: the SHA-256 of a tar stream as Go writes it
//! (decisions/pulumi#assets).

use std::collections::HashSet;
use std::io::{self, Read};

use blueprint::Name;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};

const BLOCK: usize = 512;

/// The place of the checksum in a header.
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// A tar stream that is digested while it is made. The first entry of a name counts.
#[derive(Default)]
pub struct ArchiveDigest {
    sha: Sha256,
    names: HashSet<String>,
}

impl ArchiveDigest {
    /// Adds an entry with these bytes. `None` if the name does not fit a header.
    pub fn add(&mut self, name: &str, content: &[u8]) -> Option<()> {
        self.add_from(name, content.len() as u64, content).ok()
    }

    /// Adds an entry of this size.
    ///
    /// # Errors
    /// If the content cannot be read or has another size, or if the name does not fit a header.
    pub fn add_from(&mut self, name: &str, size: u64, content: impl Read) -> io::Result<()> {
        if !self.names.insert(name.to_owned()) {
            return Ok(());
        }
        self.sha.update(header(name, size)?);
        let read = update_from(&mut self.sha, content.take(size))?;
        if read != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let rest = usize::try_from(size % BLOCK as u64).unwrap_or_default();
        if rest > 0 {
            self.sha.update(&[0; BLOCK][rest..]);
        }
        Ok(())
    }

    /// The digest of the whole stream, in hexadecimal.
    pub fn finish(mut self) -> Name {
        self.sha.update([0; 2 * BLOCK]);
        HEXLOWER.encode(&self.sha.finalize()).into()
    }
}

/// The hexadecimal SHA-256 digest of the bytes of a reader.
///
/// # Errors
/// Those of the reader.
pub fn content_digest(content: impl Read) -> io::Result<Name> {
    let mut sha = Sha256::new();
    update_from(&mut sha, content)?;
    Ok(HEXLOWER.encode(&sha.finalize()).into())
}

/// Digests all bytes of a reader. Returns their number.
fn update_from(sha: &mut Sha256, mut content: impl Read) -> io::Result<u64> {
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(count) => {
                sha.update(&buffer[..count]);
                total += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The header of a regular file without owner and time.
fn header(name: &str, size: u64) -> io::Result<[u8; BLOCK]> {
    if !name.is_ascii() {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_mode(0o600);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size);
    header.set_mtime(0);
    header.set_entry_type(EntryType::Regular);
    header.set_device_major(0)?;
    header.set_device_minor(0)?;
    let mut bytes = *header.as_bytes();
    // Go ends the checksum with a zero and a blank. It counts as blanks itself.
    bytes[CHECKSUM].fill(b' ');
    let sum: u32 = bytes.iter().map(|byte| u32::from(*byte)).sum();
    let checksum = format!("{sum:06o}\0 ");
    bytes[CHECKSUM].copy_from_slice(checksum.as_bytes());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(entries: &[(&str, &str)]) -> Name {
        let mut digest = ArchiveDigest::default();
        for (name, content) in entries {
            digest.add(name, content.as_bytes()).unwrap();
        }
        digest.finish()
    }

    /// The digests are those of Go's `archive/tar`.
    #[test]
    fn digests_are_those_of_gos_tar_streams() {
        assert_eq!(
            &*digest(&[]),
            "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
        );
        assert_eq!(
            &*digest(&[("a.txt", "A"), ("d/b.txt", "file content\n")]),
            "dfa7fa0fd1bdd3f3123ed352d0781fe78f5319184123a56a74d017fbbd29f2db"
        );
        let long = format!("{}/{}", "d".repeat(90), "f".repeat(60));
        assert_eq!(
            &*digest(&[(&long, &"x".repeat(512))]),
            "011f84cc020df8db543998b430ac2f9a86be955fa19b6cb4e2a04f2ee933291c"
        );
    }

    #[test]
    fn the_first_entry_of_a_name_counts() {
        assert_eq!(digest(&[("a", "1"), ("a", "2")]), digest(&[("a", "1")]));
    }
}
