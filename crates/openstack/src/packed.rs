//! Types in a compact form: an index of names, and compressed blocks of text that are unpacked on
//! first use. `openstack/CATALOG.md` describes the form.
//!
//! Not here: the format of the text (`provider::read_catalog`).

use std::io::Read as _;
use std::sync::{Arc, OnceLock};

use blueprint::{IndexMap, Name, TypeId};
use flate2::read::DeflateDecoder;
use provider::{Attributes, ResourceType, TypeSource, read_catalog};

/// The types of a compact catalogue, each parsed on first use and cached.
#[derive(Debug)]
pub struct PackedTypes {
    bytes: &'static [u8],
    index: IndexMap<Name, TypePosition>,
    blocks: Vec<PackedBlock>,
    /// Types with attributes of any name.
    open_attribute_types: &'static [&'static str],
}

/// The position of a type.
#[derive(Debug)]
struct TypePosition {
    block: usize,
    start: usize,
    length: usize,
    made: OnceLock<Option<Arc<ResourceType>>>,
}

/// The position of a block, and its text after unpacking.
#[derive(Debug)]
struct PackedBlock {
    start: usize,
    packed: usize,
    unpacked: usize,
    text: OnceLock<Option<String>>,
}

impl PackedTypes {
    /// Opens a file without unpacking any block. `None` if the file has another form.
    pub fn open(bytes: &'static [u8]) -> Option<PackedTypes> {
        let mut at = b"cyanost1".len();
        let number = |at: &mut usize| {
            let found = bytes.get(*at..*at + 4)?;
            *at += 4;
            usize::try_from(u32::from_le_bytes(found.try_into().ok()?)).ok()
        };
        if !bytes.starts_with(b"cyanost1") {
            return None;
        }
        let (length, count) = (number(&mut at)?, number(&mut at)?);
        let text = std::str::from_utf8(bytes.get(at..at.checked_add(length)?)?).ok()?;
        at += length;
        let mut blocks = Vec::with_capacity(count.min(bytes.len()));
        for _ in 0..count {
            let (packed, unpacked) = (number(&mut at)?, number(&mut at)?);
            blocks.push(PackedBlock {
                start: at,
                packed,
                unpacked,
                text: OnceLock::new(),
            });
            at = at.checked_add(packed)?;
        }
        let entry = |line: &str| {
            let mut words = line.split(' ');
            let name = Name::from(words.next()?);
            let mut number = || words.next()?.parse::<usize>().ok();
            let (block, start, length) = (number()?, number()?, number()?);
            Some((
                name,
                TypePosition {
                    block,
                    start,
                    length,
                    made: OnceLock::new(),
                },
            ))
        };
        let index: Option<IndexMap<Name, TypePosition>> = text.lines().map(entry).collect();
        (at == bytes.len()).then_some(PackedTypes {
            bytes,
            index: index?,
            blocks,
            open_attribute_types: &[],
        })
    }

    /// Marks types that have attributes of any name.
    pub fn with_open_attributes(mut self, types: &'static [&'static str]) -> PackedTypes {
        self.open_attribute_types = types;
        self
    }

    /// The names of all types.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.index.keys().map(|name| name.as_ref())
    }

    /// The type with a name. `None` if there is none, or if the file is damaged.
    pub fn get(&self, name: &str) -> Option<Arc<ResourceType>> {
        let entry = self.index.get(name)?;
        entry.made.get_or_init(|| self.made(name, entry)).clone()
    }

    fn made(&self, name: &str, entry: &TypePosition) -> Option<Arc<ResourceType>> {
        let block = self.blocks.get(entry.block)?;
        let text = block.text.get_or_init(|| {
            let packed = self
                .bytes
                .get(block.start..block.start.checked_add(block.packed)?)?;
            let mut text = String::with_capacity(block.unpacked.min(1 << 24));
            DeflateDecoder::new(packed).read_to_string(&mut text).ok()?;
            Some(text)
        });
        let own = text
            .as_ref()?
            .get(entry.start..entry.start.checked_add(entry.length)?)?;
        let id = TypeId::parse(name);
        let namespace = id.package_name();
        let whole = format!(
            r#"{{"format":1,"namespace":"{namespace}","resourceTypes":{{"{name}":{own}}}}}"#
        );
        let mut ty = read_catalog(&whole)
            .ok()?
            .resource_types
            .get(name)
            .cloned()?;
        if self.open_attribute_types.contains(&name)
            && let Attributes::Listed(listed) = &ty.attributes
        {
            let attributes = Attributes::Open(listed.clone());
            Arc::make_mut(&mut ty).attributes = attributes;
        }
        Some(ty)
    }
}

impl TypeSource for PackedTypes {
    fn resource_type(&self, name: &str) -> Option<Arc<ResourceType>> {
        self.get(name)
    }

    fn resource_type_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.names())
    }
}
