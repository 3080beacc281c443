//! What a program for Linux needs of the system: its processor, libraries, and version of glibc.

use std::collections::BTreeSet;

use object::elf::{DT_NEEDED, EM_AARCH64, EM_X86_64, FileHeader64};
use object::endian::Endianness;
use object::read::StringTable;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

/// The processor of a program, with its name for each kind of package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Processor {
    X86_64,
    Aarch64,
}

impl Processor {
    /// The name in tags of wheels.
    pub(crate) fn of_python(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// The name in packages of npm.
    pub(crate) fn of_npm(self) -> &'static str {
        match self {
            Self::X86_64 => "x64",
            Self::Aarch64 => "arm64",
        }
    }

    /// The name in packages of Debian.
    pub(crate) fn of_debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }
}

/// What a program needs.
pub(crate) struct Needs {
    pub(crate) processor: Processor,
    /// The names of shared libraries. A static program has none.
    pub(crate) libraries: BTreeSet<String>,
    /// The highest version of glibc with a symbol that the program uses.
    pub(crate) glibc: Option<(u32, u32)>,
    /// The program that loads this one with its libraries.
    pub(crate) loader: Option<String>,
}

impl Needs {
    /// Reads what a program needs from its headers.
    ///
    /// # Errors
    /// If the bytes are no 64-bit ELF program for a known processor.
    pub(crate) fn read(data: &[u8]) -> Result<Self, String> {
        Self::parse(data)
            .map_err(|error| format!("this is no program for 64-bit Linux: {error}"))?
            .ok_or_else(|| "this program is for an unknown processor".to_owned())
    }

    fn parse(data: &[u8]) -> object::read::Result<Option<Self>> {
        let header = FileHeader64::<Endianness>::parse(data)?;
        let endian = header.endian()?;
        let processor = match header.e_machine(endian) {
            EM_X86_64 => Processor::X86_64,
            EM_AARCH64 => Processor::Aarch64,
            _ => return Ok(None),
        };
        let sections = header.sections(endian, data)?;
        let mut libraries = BTreeSet::new();
        if let Some((entries, strings)) = sections.dynamic(endian, data)? {
            let strings = sections.strings(endian, data, strings)?;
            for entry in entries {
                if entry.tag(endian) == DT_NEEDED {
                    let name = entry.string(endian, strings)?;
                    libraries.insert(String::from_utf8_lossy(name).into_owned());
                }
            }
        }
        let mut glibc = None;
        if let Some((mut needed, strings)) = sections.gnu_verneed(endian, data)? {
            let strings: StringTable<'_> = sections.strings(endian, data, strings)?;
            while let Some((_, mut versions)) = needed.next()? {
                while let Some(version) = versions.next()? {
                    let name = String::from_utf8_lossy(version.name(endian, strings)?);
                    glibc = glibc.max(glibc_version(&name));
                }
            }
        }
        let mut loader = None;
        for segment in header.program_headers(endian, data)? {
            if let Some(path) = segment.interpreter(endian, data)? {
                loader = Some(String::from_utf8_lossy(path).into_owned());
            }
        }
        Ok(Some(Self {
            processor,
            libraries,
            glibc,
            loader,
        }))
    }
}

/// Reads a name of a version such as `GLIBC_2.34`.
fn glibc_version(name: &str) -> Option<(u32, u32)> {
    let mut parts = name.strip_prefix("GLIBC_")?.split('.');
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next()?.parse().ok()?;
    Some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::{Needs, glibc_version};

    #[test]
    fn versions_of_glibc_are_ordered_by_number() {
        assert_eq!(glibc_version("GLIBC_2.9"), Some((2, 9)));
        assert_eq!(glibc_version("GLIBC_2.2.5"), Some((2, 2)));
        assert!(glibc_version("GLIBC_2.34") > glibc_version("GLIBC_2.9"));
        assert_eq!(glibc_version("GLIBC_ABI_DT_RELR"), None);
        assert_eq!(glibc_version("GCC_3.0"), None);
    }

    #[test]
    fn a_file_of_another_kind_is_an_error() {
        let error = Needs::read(b"#!/bin/sh\n").err().unwrap();
        assert!(
            error.starts_with("this is no program for 64-bit Linux"),
            "{error}"
        );
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn this_program_needs_glibc() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let needs = Needs::read(&program).unwrap();
        assert!(
            needs.libraries.contains("libc.so.6"),
            "{:?}",
            needs.libraries
        );
        assert!(needs.glibc > Some((2, 2)), "{:?}", needs.glibc);
        assert!(needs.loader.unwrap().contains("ld-linux"));
    }
}
