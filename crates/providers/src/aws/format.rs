//! The compact form of a catalogue: many types in little space, each readable on its own.
//!
//! `CATALOG.md` in this folder describes every byte. Opening reads only the index. A block is
//! unpacked when one of its types is first used. An invalid file gives [`MalformedCatalog`], never
//! a panic, because all reads check their bounds.
//!
//! Not here: the conversion to types ([`types`](super::types)), and writing the form (the example
//! `aws_catalog`, which `cargo xtask catalog aws` runs).

use std::borrow::Cow;
use std::io::Read as _;
use std::ops::Range;

/// The first bytes of a file.
pub const MAGIC: &[u8; 8] = b"cyantyp1";

/// Size of the header after the magic: four numbers of 32 bits.
pub const HEAD: usize = 8 + 4 * 4;

/// Size of a row in the table of types.
pub const TYPE_ROW: usize = 4 + 2 + 2 + 2;

/// The bit of a type's position that marks types whose resources can be listed.
pub const LISTED: u16 = 1 << 15;

/// Size of a row in the table of blocks.
pub const BLOCK_ROW: usize = 4 + 4 + 4;

/// The kind of a shape: the lowest four bits of its first number.
pub mod kind {
    /// Anything.
    pub const ANY: u64 = 0;
    /// Text.
    pub const STRING: u64 = 1;
    /// A 64-bit integer.
    pub const INTEGER: u64 = 2;
    /// A float.
    pub const FLOAT: u64 = 3;
    /// True or false.
    pub const BOOLEAN: u64 = 4;
    /// Items of one shape.
    pub const ARRAY: u64 = 5;
    /// Any keys, values of one shape.
    pub const MAP: u64 = 6;
    /// Known keys.
    pub const OBJECT: u64 = 7;
    /// The first shape that fits.
    pub const UNION: u64 = 8;
}

/// Marks of a shape: bits of its first number, from the fifth on. Values follow for the marks from
/// `ALLOWED` on.
pub mod mark {
    /// Null is allowed.
    pub const NULLABLE: u64 = 1 << 4;
    /// A set: order and repetition have no meaning.
    pub const SET: u64 = 1 << 5;
    /// A list of the allowed values.
    pub const ALLOWED: u64 = 1 << 6;
    /// Minimum.
    pub const MIN: u64 = 1 << 7;
    /// Maximum.
    pub const MAX: u64 = 1 << 8;
    /// Minimum number of characters.
    pub const MIN_LENGTH: u64 = 1 << 9;
    /// Maximum number of characters.
    pub const MAX_LENGTH: u64 = 1 << 10;
    /// Minimum number of items.
    pub const MIN_ITEMS: u64 = 1 << 11;
    /// Maximum number of items.
    pub const MAX_ITEMS: u64 = 1 << 12;
    /// A regular expression.
    pub const PATTERN: u64 = 1 << 13;
    /// The field that identifies an item.
    pub const KEYED_BY: u64 = 1 << 14;
}

/// Marks of a field of an object.
pub mod flag {
    /// Required.
    pub const REQUIRED: u64 = 1;
    /// Set by the provider.
    pub const COMPUTED: u64 = 1 << 1;
    /// Computed if the document does not set the field.
    pub const OPTIONAL: u64 = 1 << 2;
    /// Sensitive.
    pub const SENSITIVE: u64 = 1 << 3;
    /// Unique among all resources of the type.
    pub const UNIQUE: u64 = 1 << 4;
    /// A change replaces the resource.
    pub const MUST_RECREATE: u64 = 1 << 5;
    /// An update may change the value.
    pub const CHANGES_ON_UPDATE: u64 = 1 << 6;
    /// The value cannot be read back.
    pub const WRITE_ONLY: u64 = 1 << 7;
}

/// Abilities of a type: its handlers, and how it is replaced.
pub mod ability {
    /// Resources can be created.
    pub const CREATE: u64 = 1;
    /// Resources can be read.
    pub const READ: u64 = 1 << 1;
    /// Resources can be updated.
    pub const UPDATE: u64 = 1 << 2;
    /// Resources can be deleted.
    pub const DELETE: u64 = 1 << 3;
    /// Resources can be listed.
    pub const LIST: u64 = 1 << 4;
    /// A replacement creates the new resource before it deletes the old one.
    pub const CREATE_FIRST: u64 = 1 << 5;
}

/// The error for a file that is not a catalogue in compact form, or is truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no catalogue in compact form, or a damaged one")]
pub struct MalformedCatalog;

/// A file in compact form.
#[derive(Debug)]
pub struct Packed {
    bytes: Cow<'static, [u8]>,
    types: usize,
    blocks: usize,
    about: Range<usize>,
    names: Range<usize>,
}

/// The position of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeEntry {
    /// The number of the block.
    pub block: usize,
    /// The number of the type in the block.
    pub position: usize,
    /// Whether the resources of the type can be listed.
    pub is_listed: bool,
}

impl Packed {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// [`MalformedCatalog`] for another form or a truncated file.
    pub fn open(bytes: Cow<'static, [u8]>) -> Result<Packed, MalformedCatalog> {
        if bytes.get(..8) != Some(MAGIC) {
            return Err(MalformedCatalog);
        }
        let number = |at: usize| u32_at(&bytes, 8 + 4 * at).ok_or(MalformedCatalog);
        let (types, blocks, about, names) = (number(0)?, number(1)?, number(2)?, number(3)?);
        let names_at = HEAD + about;
        let end = names_at + names + types * TYPE_ROW + blocks * BLOCK_ROW;
        if end > bytes.len() || std::str::from_utf8(&bytes[HEAD..names_at + names]).is_err() {
            return Err(MalformedCatalog);
        }
        Ok(Packed {
            types,
            blocks,
            about: HEAD..names_at,
            names: names_at..names_at + names,
            bytes,
        })
    }

    /// The origin of the facts: the package, its version, and the date of the facts.
    pub fn about(&self) -> &str {
        self.text(self.about.clone())
    }

    /// The number of types.
    pub fn len(&self) -> usize {
        self.types
    }

    /// Whether the file has no type.
    pub fn is_empty(&self) -> bool {
        self.types == 0
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// The names of all types, in the order of the index.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.types).map(|at| self.name(at))
    }

    /// The name of the type at a position of the index; empty if there is none.
    pub fn name(&self, at: usize) -> &str {
        let Some(row) = self.type_row(at) else {
            return "";
        };
        let start = self.names.start + u32_at(row, 0).unwrap_or_default();
        self.text(start..start + u16_at(row, 4))
    }

    /// The entry of the type at a position of the index.
    pub fn entry(&self, at: usize) -> Option<TypeEntry> {
        let row = self.type_row(at)?;
        let position = u16_at(row, 8);
        let listed = usize::from(LISTED);
        Some(TypeEntry {
            block: u16_at(row, 6),
            position: position & !listed,
            is_listed: position & listed != 0,
        })
    }

    /// The position in the index of the type with this name, in lower case and without hyphens.
    pub fn find(&self, plain: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.types);
        while low < high {
            let middle = low + (high - low) / 2;
            match self
                .name(middle)
                .bytes()
                .filter(|byte| *byte != b'-')
                .cmp(plain.bytes())
            {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// Unpacks a block.
    ///
    /// # Errors
    /// [`MalformedCatalog`] if the block is damaged.
    pub fn block(&self, at: usize) -> Result<UnpackedBlock, MalformedCatalog> {
        let row = self.names.end + self.types * TYPE_ROW + at * BLOCK_ROW;
        let number = |place: usize| u32_at(&self.bytes, row + 4 * place).ok_or(MalformedCatalog);
        let (offset, packed, unpacked) = (number(0)?, number(1)?, number(2)?);
        if at >= self.blocks {
            return Err(MalformedCatalog);
        }
        let start = self.names.end + self.types * TYPE_ROW + self.blocks * BLOCK_ROW + offset;
        let packed = self
            .bytes
            .get(start..start + packed)
            .ok_or(MalformedCatalog)?;
        let mut bytes = Vec::with_capacity(unpacked);
        // Reads one byte more than expected, so that a block with a wrong length is detected.
        let read = flate2::read::DeflateDecoder::new(packed)
            .take(unpacked as u64 + 1)
            .read_to_end(&mut bytes);
        if read.is_err() || bytes.len() != unpacked {
            return Err(MalformedCatalog);
        }
        UnpackedBlock::open(bytes)
    }

    fn type_row(&self, at: usize) -> Option<&[u8]> {
        let start = self.names.end + at * TYPE_ROW;
        (at < self.types).then(|| self.bytes.get(start..start + TYPE_ROW))?
    }

    fn text(&self, range: Range<usize>) -> &str {
        self.bytes
            .get(range)
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or_default()
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(bytes) as usize)
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    bytes
        .get(at..at + 2)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, |bytes| u16::from_le_bytes(bytes) as usize)
}

/// An unpacked block: texts, shapes, types.
#[derive(Debug)]
pub struct UnpackedBlock {
    bytes: Vec<u8>,
    /// The range of each text.
    texts: Vec<Range<u32>>,
    /// The start of each shape.
    shapes: Vec<u32>,
    /// The start of each type.
    types: Vec<u32>,
}

/// A shape as written in the file: the form of a field's value.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldShape<'b> {
    /// The kind of the shape.
    pub kind: ShapeKind<'b>,
    /// The marks without values: [`mark::NULLABLE`], [`mark::SET`].
    pub marks: u64,
    /// The allowed values; JSON texts if the kind is not text.
    pub allowed: Vec<&'b str>,
    /// Minimum and maximum, as decimal texts.
    pub range: (Option<&'b str>, Option<&'b str>),
    /// Minimum and maximum number of characters.
    pub length: (Option<u64>, Option<u64>),
    /// Minimum and maximum number of items.
    pub items: (Option<u64>, Option<u64>),
    /// A regular expression.
    pub pattern: Option<&'b str>,
    /// The field that identifies an item.
    pub keyed_by: Option<&'b str>,
}

/// The kind of a shape. Inner shapes are referenced by number, and may be recursive.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeKind<'b> {
    /// Anything.
    Any,
    /// Text.
    String,
    /// A 64-bit integer.
    Integer,
    /// A float.
    Float,
    /// True or false.
    Boolean,
    /// Items of one shape.
    Array(usize),
    /// Any keys, values of one shape.
    Map(usize),
    /// Known keys.
    Object(Vec<StructureMember<'b>>),
    /// The first shape that fits.
    Union(Vec<usize>),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct StructureMember<'b> {
    /// The name in documents.
    pub name: Cow<'b, str>,
    /// The name in CloudFormation.
    pub original: &'b str,
    /// The marks of the field: [`flag`].
    pub flags: u64,
    /// The number of its shape.
    pub shape: usize,
}

/// A type as written in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedType<'b> {
    /// The name in CloudFormation: `AWS::S3::Bucket`.
    pub original: &'b str,
    /// The number of the shape of the spec, which is an object.
    pub shape: usize,
    /// The abilities of the type: [`ability`].
    pub abilities: u64,
    /// The field that identifies the resource as a whole.
    pub id_field: Option<&'b str>,
    /// The paths that together identify a resource, in CloudFormation's names, with `/` as
    /// separator: `RestApiId`, `Device/DeviceName`.
    pub identifier: Vec<&'b str>,
}

impl UnpackedBlock {
    /// Reads the offsets of all parts of a block.
    ///
    /// # Errors
    /// [`MalformedCatalog`] if a part is out of bounds.
    pub fn open(bytes: Vec<u8>) -> Result<UnpackedBlock, MalformedCatalog> {
        let mut block = UnpackedBlock {
            texts: Vec::new(),
            shapes: Vec::new(),
            types: Vec::new(),
            bytes,
        };
        let (texts, shapes, types) = {
            let mut reader = ByteReader {
                bytes: &block.bytes,
                at: 0,
            };
            let count = reader.count()?;
            let mut lengths = Vec::with_capacity(count);
            for _ in 0..count {
                lengths.push(reader.count()?);
            }
            let mut texts = Vec::with_capacity(count);
            for length in lengths {
                let start = reader.at;
                let text = reader.skip(length)?;
                std::str::from_utf8(text).map_err(|_| MalformedCatalog)?;
                texts.push(start as u32..reader.at as u32);
            }
            (texts, reader.parts()?, reader.parts()?)
        };
        (block.texts, block.shapes, block.types) = (texts, shapes, types);
        Ok(block)
    }

    /// The number of shapes.
    pub fn shapes(&self) -> usize {
        self.shapes.len()
    }

    /// The number of types.
    pub fn types(&self) -> usize {
        self.types.len()
    }

    /// The type at a position.
    pub fn ty(&self, position: usize) -> Result<PackedType<'_>, MalformedCatalog> {
        let mut reader = self.reader(&self.types, position)?;
        let original = self.text(reader.count()?)?;
        let shape = self.shape_number(reader.count()?)?;
        let abilities = reader.number()?;
        let id_field = reader.number()?;
        let id_field = if id_field == 0 {
            None
        } else {
            Some(self.text(id_field as usize - 1)?)
        };
        let mut identifier = Vec::new();
        for _ in 0..reader.count()? {
            identifier.push(self.text(reader.count()?)?);
        }
        Ok(PackedType {
            original,
            shape,
            abilities,
            id_field,
            identifier,
        })
    }

    /// The shape with a number.
    pub fn shape(&self, number: usize) -> Result<FieldShape<'_>, MalformedCatalog> {
        let mut reader = self.reader(&self.shapes, number)?;
        let head = reader.number()?;
        let has = |mark: u64| head & mark != 0;
        let mut allowed = Vec::new();
        if has(mark::ALLOWED) {
            for _ in 0..reader.count()? {
                allowed.push(self.text(reader.count()?)?);
            }
        }
        let mut text = |mark: u64| {
            if has(mark) {
                self.text(reader.count()?).map(Some)
            } else {
                Ok(None)
            }
        };
        let range = (text(mark::MIN)?, text(mark::MAX)?);
        let mut number = |mark: u64| {
            if has(mark) {
                reader.number().map(Some)
            } else {
                Ok(None)
            }
        };
        let length = (number(mark::MIN_LENGTH)?, number(mark::MAX_LENGTH)?);
        let items = (number(mark::MIN_ITEMS)?, number(mark::MAX_ITEMS)?);
        let mut text = |mark: u64| {
            if has(mark) {
                self.text(reader.count()?).map(Some)
            } else {
                Ok(None)
            }
        };
        let pattern = text(mark::PATTERN)?;
        let keyed_by = text(mark::KEYED_BY)?;
        let kind = match head & 0xf {
            kind::ANY => ShapeKind::Any,
            kind::STRING => ShapeKind::String,
            kind::INTEGER => ShapeKind::Integer,
            kind::FLOAT => ShapeKind::Float,
            kind::BOOLEAN => ShapeKind::Boolean,
            kind::ARRAY => ShapeKind::Array(self.shape_number(reader.count()?)?),
            kind::MAP => ShapeKind::Map(self.shape_number(reader.count()?)?),
            kind::OBJECT => {
                let count = reader.count()?;
                let mut members = Vec::with_capacity(count.min(self.bytes.len()));
                for _ in 0..count {
                    members.push(self.member(&mut reader)?);
                }
                ShapeKind::Object(members)
            }
            kind::UNION => {
                let mut branches = Vec::new();
                for _ in 0..reader.count()? {
                    branches.push(self.shape_number(reader.count()?)?);
                }
                ShapeKind::Union(branches)
            }
            _ => return Err(MalformedCatalog),
        };
        let marks = head & (mark::NULLABLE | mark::SET);
        Ok(FieldShape {
            kind,
            marks,
            allowed,
            range,
            length,
            items,
            pattern,
            keyed_by,
        })
    }

    fn member<'b>(
        &'b self,
        reader: &mut ByteReader<'b>,
    ) -> Result<StructureMember<'b>, MalformedCatalog> {
        let name = reader.count()?;
        let original = self.text(name >> 1)?;
        let name = if name & 1 == 1 {
            Cow::Borrowed(self.text(reader.count()?)?)
        } else {
            usual_name(original)
        };
        let shape = reader.count()?;
        let flags = if shape & 1 == 1 { reader.number()? } else { 0 };
        Ok(StructureMember {
            name,
            original,
            flags,
            shape: self.shape_number(shape >> 1)?,
        })
    }

    fn reader(&self, starts: &[u32], number: usize) -> Result<ByteReader<'_>, MalformedCatalog> {
        let at = *starts.get(number).ok_or(MalformedCatalog)? as usize;
        Ok(ByteReader {
            bytes: &self.bytes,
            at,
        })
    }

    fn shape_number(&self, number: usize) -> Result<usize, MalformedCatalog> {
        if number < self.shapes.len() {
            Ok(number)
        } else {
            Err(MalformedCatalog)
        }
    }

    fn text(&self, number: usize) -> Result<&str, MalformedCatalog> {
        let range = self.texts.get(number).ok_or(MalformedCatalog)?;
        let bytes = self
            .bytes
            .get(range.start as usize..range.end as usize)
            .ok_or(MalformedCatalog)?;
        std::str::from_utf8(bytes).map_err(|_| MalformedCatalog)
    }
}

/// The default name of a field in documents: CloudFormation's name with a lower-case first letter.
pub fn usual_name(original: &str) -> Cow<'_, str> {
    match original.bytes().next() {
        Some(first) if first.is_ascii_uppercase() => {
            let mut name = original.to_owned();
            name[..1].make_ascii_lowercase();
            Cow::Owned(name)
        }
        _ => Cow::Borrowed(original),
    }
}

struct ByteReader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> ByteReader<'b> {
    /// Reads a number: seven bits per byte, the lowest first; the highest bit marks that more bytes
    /// follow.
    fn number(&mut self) -> Result<u64, MalformedCatalog> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(MalformedCatalog)?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(MalformedCatalog)
    }

    /// Reads a count or a position. Refuses numbers above the number of bytes, so that a wrong
    /// count does not allocate memory.
    fn count(&mut self) -> Result<usize, MalformedCatalog> {
        let number = self.number()? as usize;
        // Numbers of shapes and texts carry an additional bit.
        if number <= 2 * self.bytes.len() + 1 {
            Ok(number)
        } else {
            Err(MalformedCatalog)
        }
    }

    fn skip(&mut self, length: usize) -> Result<&'b [u8], MalformedCatalog> {
        let bytes = self
            .bytes
            .get(self.at..self.at + length)
            .ok_or(MalformedCatalog)?;
        self.at += length;
        Ok(bytes)
    }

    /// The starts of consecutive parts, each of which begins with its length.
    fn parts(&mut self) -> Result<Vec<u32>, MalformedCatalog> {
        let count = self.count()?;
        let mut starts = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.count()?;
            starts.push(self.at as u32);
            self.skip(length)?;
        }
        Ok(starts)
    }
}
