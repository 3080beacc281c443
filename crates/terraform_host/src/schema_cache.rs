//! A cache on disk for the schemas of providers, one file for each program and version of the
//! protocol.
//!
//! A file is written atomically and is verified when it is read. A missing or damaged file only
//! costs time: the provider is asked again. The caller chooses the folder and removes old files.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use plugin_host::{ProgramDigest, write_file};
use plugins::grpc::prost::Message as _;

use crate::schemas::SchemaAnswers;
use crate::{ProtocolVersion, Schemas};

/// The beginning of each file. It changes when the format of the files changes.
const MAGIC: &[u8] = b"cyan terraform schemas 1\n";

/// The maximum size of a file that is read, in bytes.
const LARGEST: u64 = 512 << 20;

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
        let (stated, payload) = bytes
            .strip_prefix(MAGIC)?
            .split_at_checked(ProgramDigest::LENGTH)?;
        if ProgramDigest::of(payload).as_bytes() != stated {
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
        let digest = ProgramDigest::of(&payload);
        let _ = write_file(
            &self.path(program, version),
            &[MAGIC, digest.as_bytes(), &payload],
        );
    }

    fn path(&self, program: &ProgramDigest, version: ProtocolVersion) -> PathBuf {
        self.folder
            .join(format!("{}-{version}.schema", program.to_hex()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
}
