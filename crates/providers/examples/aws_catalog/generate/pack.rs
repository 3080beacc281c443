//! Writes types in the compact form that `providers::aws::format` reads.

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use indexmap::IndexSet;
use providers::aws::format::{LISTED, MAGIC, ability, kind, mark, usual_name};

use super::shapes::{Kind, Shape, Type};

/// The size in bytes of an uncompressed block above which the next type begins a new block.
const FULL: usize = 48 << 10;

/// The bytes of the file. Types of one service are stored together, because their texts are
/// similar.
pub(crate) fn pack(types: &[Type], about: &str) -> Vec<u8> {
    let mut services: BTreeMap<&str, Vec<&Type>> = BTreeMap::new();
    for ty in types {
        services
            .entry(
                ty.original
                    .rsplit_once("::")
                    .map_or("", |(service, _)| service),
            )
            .or_default()
            .push(ty);
    }
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    // The index by plain name: the name, the block, the position.
    let mut index: BTreeMap<String, (&str, u16, u16)> = BTreeMap::new();
    let mut block = Block::default();
    for types in services.values_mut() {
        types.sort_by(|one, other| one.original.cmp(&other.original));
        for ty in types.iter() {
            if block.size > FULL {
                blocks.push(std::mem::take(&mut block).bytes());
            }
            let listed = if ty.abilities & (ability::LIST | ability::READ)
                == ability::LIST | ability::READ
            {
                LISTED
            } else {
                0
            };
            let at = (blocks.len() as u16, block.types.len() as u16 | listed);
            index.insert(ty.name.replace('-', ""), (&ty.name, at.0, at.1));
            block.add(ty);
        }
    }
    if !block.types.is_empty() {
        blocks.push(block.bytes());
    }

    let mut names = Vec::new();
    let mut rows = Vec::new();
    for (name, block, position) in index.values() {
        rows.extend((names.len() as u32).to_le_bytes());
        for number in [name.len() as u16, *block, *position] {
            rows.extend(number.to_le_bytes());
        }
        names.extend(name.bytes());
    }
    let mut table = Vec::new();
    let mut packed = Vec::new();
    for block in &blocks {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(block).expect("there is room in memory");
        let bytes = encoder.finish().expect("there is room in memory");
        for number in [packed.len(), bytes.len(), block.len()] {
            table.extend((number as u32).to_le_bytes());
        }
        packed.extend(bytes);
    }
    let mut file = MAGIC.to_vec();
    for number in [index.len(), blocks.len(), about.len(), names.len()] {
        file.extend((number as u32).to_le_bytes());
    }
    for part in [about.as_bytes(), &names, &rows, &table, &packed] {
        file.extend(part);
    }
    file
}

#[derive(Default)]
struct Block {
    texts: IndexSet<String>,
    /// The written shapes; `None` for a recursive shape that is being written.
    shapes: Vec<Option<Vec<u8>>>,
    known: HashMap<Vec<u8>, usize>,
    types: Vec<Vec<u8>>,
    size: usize,
}

/// The place of the shape of a type in the block.
#[derive(Clone, Copy)]
enum Place {
    /// Being written, with its number if it is recursive.
    Begun(Option<usize>),
    Done(usize),
}

impl Block {
    fn text(&mut self, text: &str) -> u64 {
        if let Some(at) = self.texts.get_index_of(text) {
            return at as u64;
        }
        self.size += text.len() + 1;
        self.texts.insert_full(text.to_owned()).0 as u64
    }

    fn add(&mut self, ty: &Type) {
        let mut places = vec![None; ty.shapes.len()];
        let shape = self.shape(ty, ty.shape, &mut places);
        let mut out = Vec::new();
        number(&mut out, self.text(&ty.original));
        number(&mut out, shape as u64);
        number(&mut out, ty.abilities);
        let id = ty.id_field.as_ref().map_or(0, |field| self.text(field) + 1);
        number(&mut out, id);
        number(&mut out, ty.identifier.len() as u64);
        for path in &ty.identifier {
            number(&mut out, self.text(path));
        }
        self.size += out.len() + 1;
        self.types.push(out);
    }

    fn shape(&mut self, ty: &Type, at: usize, places: &mut [Option<Place>]) -> usize {
        match places[at] {
            Some(Place::Done(number)) | Some(Place::Begun(Some(number))) => return number,
            // The shape is recursive: it gets its number before it is written.
            Some(Place::Begun(None)) => {
                self.shapes.push(None);
                let number = self.shapes.len() - 1;
                places[at] = Some(Place::Begun(Some(number)));
                return number;
            }
            None => places[at] = Some(Place::Begun(None)),
        }
        let bytes = self.written(ty, &ty.shapes[at], places);
        let number = match places[at] {
            Some(Place::Begun(Some(number))) => {
                self.size += bytes.len() + 2;
                self.shapes[number] = Some(bytes);
                number
            }
            _ => match self.known.get(&bytes) {
                Some(number) => *number,
                None => {
                    self.size += bytes.len() + 2;
                    self.shapes.push(Some(bytes.clone()));
                    self.known.insert(bytes, self.shapes.len() - 1);
                    self.shapes.len() - 1
                }
            },
        };
        places[at] = Some(Place::Done(number));
        number
    }

    fn written(&mut self, ty: &Type, shape: &Shape, places: &mut [Option<Place>]) -> Vec<u8> {
        let mut head = match &shape.kind {
            Kind::Any => kind::ANY,
            Kind::String => kind::STRING,
            Kind::Integer => kind::INTEGER,
            Kind::Float => kind::FLOAT,
            Kind::Boolean => kind::BOOLEAN,
            Kind::Array(_) => kind::ARRAY,
            Kind::Map(_) => kind::MAP,
            Kind::Object(_) => kind::OBJECT,
            Kind::Union(_) => kind::UNION,
        };
        let marks = [
            (mark::NULLABLE, shape.nullable),
            (mark::SET, shape.set),
            (mark::ALLOWED, !shape.allowed.is_empty()),
            (mark::MIN, shape.min.is_some()),
            (mark::MAX, shape.max.is_some()),
            (mark::MIN_LENGTH, shape.min_length.is_some()),
            (mark::MAX_LENGTH, shape.max_length.is_some()),
            (mark::MIN_ITEMS, shape.min_items.is_some()),
            (mark::MAX_ITEMS, shape.max_items.is_some()),
            (mark::PATTERN, shape.pattern.is_some()),
            (mark::KEYED_BY, shape.keyed_by.is_some()),
        ];
        head |= marks
            .iter()
            .filter(|(_, is)| *is)
            .map(|(mark, _)| mark)
            .sum::<u64>();
        let mut out = Vec::new();
        number(&mut out, head);
        if !shape.allowed.is_empty() {
            number(&mut out, shape.allowed.len() as u64);
            for value in &shape.allowed {
                number(&mut out, self.text(value));
            }
        }
        for text in [&shape.min, &shape.max].into_iter().flatten() {
            number(&mut out, self.text(text));
        }
        for limit in [
            shape.min_length,
            shape.max_length,
            shape.min_items,
            shape.max_items,
        ]
        .into_iter()
        .flatten()
        {
            number(&mut out, limit);
        }
        for text in [&shape.pattern, &shape.keyed_by].into_iter().flatten() {
            number(&mut out, self.text(text));
        }
        match &shape.kind {
            Kind::Array(inside) | Kind::Map(inside) => {
                let inside = self.shape(ty, *inside, places);
                number(&mut out, inside as u64);
            }
            Kind::Object(members) => {
                number(&mut out, members.len() as u64);
                for member in members {
                    let unusual = usual_name(&member.original) != member.name;
                    number(
                        &mut out,
                        self.text(&member.original) << 1 | u64::from(unusual),
                    );
                    if unusual {
                        number(&mut out, self.text(&member.name));
                    }
                    let shape = self.shape(ty, member.shape, places) as u64;
                    number(&mut out, shape << 1 | u64::from(member.flags != 0));
                    if member.flags != 0 {
                        number(&mut out, member.flags);
                    }
                }
            }
            Kind::Union(branches) => {
                number(&mut out, branches.len() as u64);
                for branch in branches {
                    let branch = self.shape(ty, *branch, places);
                    number(&mut out, branch as u64);
                }
            }
            _ => {}
        }
        out
    }

    fn bytes(self) -> Vec<u8> {
        let mut out = Vec::new();
        number(&mut out, self.texts.len() as u64);
        for text in &self.texts {
            number(&mut out, text.len() as u64);
        }
        for text in &self.texts {
            out.extend(text.bytes());
        }
        let shapes: Vec<Vec<u8>> = self
            .shapes
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect();
        for parts in [&shapes, &self.types] {
            number(&mut out, parts.len() as u64);
            for part in parts {
                number(&mut out, part.len() as u64);
                out.extend(part);
            }
        }
        out
    }
}

/// Writes a number with seven bits a byte, the lowest first. The highest bit shows that more bytes
/// follow.
fn number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 & 0x7f | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
