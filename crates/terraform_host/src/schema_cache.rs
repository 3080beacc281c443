//! A cache on disk for the schemas of providers, one file for each program and version of the
//! protocol.
//!
//! A file is written atomically and is verified when it is read. A missing or damaged file only
//! costs time: the provider is asked again. The caller chooses the folder and removes old files.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use plugins::grpc::prost::Message as _;
use sha2::{Digest as _, Sha256};

use crate::schemas::SchemaAnswers;
use crate::{ProtocolVersion, Schemas};

/// The beginning of each file. It changes when the format of the files changes.
const MAGIC: &[u8] = b"cyan terraform schemas 1\n";

/// The length of a digest in bytes.
const DIGEST: usize = 32;

/// The maximum size of a file that is read, in bytes.
const LARGEST: u64 = 512 << 20;

/// The number of bytes of a program that are read at once.
const CHUNK: usize = 256 << 10;

/// The SHA-256 digest of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProgramDigest([u8; DIGEST]);

/// The reason why a program has no digest.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be read", path.display())]
pub struct CacheError {
    /// The file.
    pub path: PathBuf,
    /// The error of the system.
    pub source: io::Error,
}

impl ProgramDigest {
    /// Returns the digest of some bytes.
    pub fn of(bytes: &[u8]) -> ProgramDigest {
        ProgramDigest(Sha256::digest(bytes).into())
    }

    /// Returns the digest of a file. Reads the whole file and blocks meanwhile.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of_file(path: &Path) -> Result<ProgramDigest, CacheError> {
        let read = || {
            let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
            let mut buffer = vec![0; CHUNK];
            loop {
                match file.read(&mut buffer)? {
                    0 => return Ok(ProgramDigest(hasher.finalize().into())),
                    length => hasher.update(buffer.get(..length).unwrap_or_default()),
                }
            }
        };
        read().map_err(|source| CacheError {
            path: path.to_owned(),
            source,
        })
    }

    /// Parses a digest in hexadecimal digits.
    pub(crate) fn of_hex(text: &str) -> Option<ProgramDigest> {
        HEXLOWER
            .decode(text.as_bytes())
            .ok()?
            .try_into()
            .ok()
            .map(ProgramDigest)
    }

    /// Returns the digest in hexadecimal digits.
    pub fn to_hex(&self) -> String {
        HEXLOWER.encode(&self.0)
    }
}

/// A folder with the schemas of providers.
#[derive(Clone, Debug)]
pub struct SchemaCache {
    folder: PathBuf,
}

impl SchemaCache {
    /// Returns a cache in a folder. The folder is created with the first file.
    pub fn new(folder: impl Into<PathBuf>) -> SchemaCache {
        SchemaCache {
            folder: folder.into(),
        }
    }

    /// The schemas of a program, if they are cached.
    pub fn load(&self, program: &ProgramDigest, version: ProtocolVersion) -> Option<Schemas> {
        let mut bytes = Vec::new();
        File::open(self.path(program, version))
            .ok()?
            .take(LARGEST)
            .read_to_end(&mut bytes)
            .ok()?;
        let (stated, payload) = bytes.strip_prefix(MAGIC)?.split_at_checked(DIGEST)?;
        if ProgramDigest::of(payload).0 != stated {
            return None;
        }
        Schemas::of(SchemaAnswers::decode(payload).ok()?).ok()
    }

    /// Stores the answers of a provider. If the folder cannot be written, the provider is asked
    /// again next time.
    pub(crate) fn store(
        &self,
        program: &ProgramDigest,
        version: ProtocolVersion,
        answers: &SchemaAnswers,
    ) {
        let payload = answers.encode_to_vec();
        // An error only means that nothing is cached.
        let _ = self.write(&self.path(program, version), &payload);
    }

    fn write(&self, path: &Path, payload: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&ProgramDigest::of(payload).0)?;
        file.write_all(payload)?;
        file.persist(path)?;
        Ok(())
    }

    fn path(&self, program: &ProgramDigest, version: ProtocolVersion) -> PathBuf {
        self.folder
            .join(format!("{}-{version}.schema", program.to_hex()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages6::{BlockMessage, SchemaAnswer, SchemaMessage};

    fn answers(version: i64) -> SchemaAnswers {
        let schema = SchemaMessage {
            version,
            block: Some(BlockMessage::default()),
        };
        let resources = [("t".to_owned(), schema)].into();
        SchemaAnswers {
            schemas: Some(SchemaAnswer {
                resources,
                ..SchemaAnswer::default()
            }),
            identities: None,
        }
    }

    #[test]
    fn schemas_are_found_by_program_and_version() {
        let folder = tempfile::tempdir().unwrap();
        let cache = SchemaCache::new(folder.path().join("deep/er"));
        let (one, other) = (ProgramDigest::of(b"one"), ProgramDigest::of(b"other"));
        assert_eq!(cache.load(&one, ProtocolVersion::Five), None);
        cache.store(&one, ProtocolVersion::Five, &answers(3));
        let found = cache.load(&one, ProtocolVersion::Five).unwrap();
        assert_eq!(found.provider.resources["t"].version, 3);
        assert_eq!(cache.load(&one, ProtocolVersion::Six), None);
        assert_eq!(cache.load(&other, ProtocolVersion::Five), None);
        cache.store(&one, ProtocolVersion::Five, &answers(4));
        assert_eq!(
            cache
                .load(&one, ProtocolVersion::Five)
                .unwrap()
                .provider
                .resources["t"]
                .version,
            4
        );
    }

    #[test]
    fn a_damaged_file_is_no_schema() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, program) = (SchemaCache::new(folder.path()), ProgramDigest::of(b"one"));
        cache.store(&program, ProtocolVersion::Six, &answers(3));
        let path = cache.path(&program, ProtocolVersion::Six);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(
                cache.load(&program, ProtocolVersion::Six),
                None,
                "byte {at}"
            );
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(
                cache.load(&program, ProtocolVersion::Six),
                None,
                "{at} bytes"
            );
        }
    }

    #[test]
    fn the_digest_of_a_file_is_that_of_its_bytes() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"abc").unwrap();
        assert_eq!(
            ProgramDigest::of_file(file.path()).unwrap(),
            ProgramDigest::of(b"abc")
        );
        assert!(ProgramDigest::of(b"abc").to_hex().starts_with("ba7816bf"));
        let error = ProgramDigest::of_file(Path::new("/nothing/here")).unwrap_err();
        assert_eq!(error.to_string(), "/nothing/here cannot be read");
    }
}
