//! Lazy sequences: each item is computed when it is requested.

use std::cell::RefCell;
use std::rc::Rc;

use crate::failure::{Evaluated, Halt};
use crate::model::{
    Cursor, Datum, DatumList, Extent, Lambda, Machine, Ordering, ReplayableSequence, SequenceStore,
    Sorting, Stream, StreamSource, View,
};
use crate::sorting;

impl Stream {
    /// Creates a sequence with items from a function; `depth` is the depth of the values that the
    /// function holds.
    pub(crate) fn new(
        depth: u32,
        next: impl FnMut(&mut Machine<'_>) -> Evaluated<Option<Datum>> + 'static,
    ) -> Stream {
        Stream(Rc::new(StreamSource {
            depth: depth + 1,
            limited: false,
            next: RefCell::new(Some(Box::new(next))),
        }))
    }

    /// Creates a sequence of the items of a value that fails after `most` items.
    pub(crate) fn limited(value: Datum, most: usize) -> Stream {
        if let Datum::Stream(stream) = &value
            && stream.0.limited
        {
            return stream.clone();
        }
        let depth = value.depth();
        let mut items = Cursor::of(value);
        let mut taken = 0;
        let next = move |machine: &mut Machine<'_>| {
            let item = items.next(machine)?;
            if item.is_some() && taken >= most {
                return Err(Halt::limit(format!(
                    "Collection length exceeds {most} elements"
                )));
            }
            taken += 1;
            Ok(item)
        };
        Stream(Rc::new(StreamSource {
            depth,
            limited: true,
            next: RefCell::new(Some(Box::new(next))),
        }))
    }

    /// Returns the next item.
    pub(crate) fn next(&self, machine: &mut Machine<'_>) -> Evaluated<Option<Datum>> {
        let Ok(mut slot) = self.0.next.try_borrow_mut() else {
            return Err(Halt::failed("generator already executing"));
        };
        let Some(next) = slot.as_mut() else {
            return Ok(None);
        };
        machine.budget.enter_item()?;
        let item = next(machine);
        machine.budget.leave_item();
        if !matches!(item, Ok(Some(_))) {
            *slot = None;
        }
        item
    }

    pub(crate) fn depth(&self) -> u32 {
        self.0.depth
    }

    /// The address of the sequence, which identifies it.
    pub(crate) fn address(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}

impl ReplayableSequence {
    pub(crate) fn new(source: Datum, machine: &mut Machine<'_>) -> ReplayableSequence {
        let depth = source.depth() + 1;
        ReplayableSequence {
            source: RefCell::new(Cursor::of(source)),
            depth,
            slot: machine.sequences.new_memory(),
        }
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the item at an index, taken from the source if it is not stored yet.
    fn item(&self, at: usize, machine: &mut Machine<'_>) -> Evaluated<Option<Datum>> {
        if let Some(item) = machine.sequences.memory(self.slot).get(at) {
            return Ok(Some(item.clone()));
        }
        let Ok(mut source) = self.source.try_borrow_mut() else {
            return Err(Halt::failed("generator already executing"));
        };
        let item = source.next(machine)?;
        if let Some(item) = &item {
            let items = machine.sequences.memory(self.slot);
            items.push(item.clone());
            let size = 56 + 8 * items.len();
            machine.weigh(size)?;
        }
        Ok(item)
    }
}

impl Ordering {
    pub(crate) fn new(collection: Datum, machine: &mut Machine<'_>) -> Ordering {
        let depth = collection.depth() + 1;
        Ordering {
            collection,
            depth,
            slot: machine.sequences.new_sorting(),
        }
    }

    /// Adds a sort key.
    pub(crate) fn then(&self, selector: Rc<Lambda>, ascending: bool, machine: &mut Machine<'_>) {
        machine
            .sequences
            .sorting(self.slot)
            .fields
            .push((selector, ascending));
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    fn items(&self, machine: &mut Machine<'_>) -> Evaluated<Rc<DatumList>> {
        if let Some(sorted) = &machine.sequences.sorting(self.slot).sorted {
            return Ok(sorted.clone());
        }
        let fields = machine.sequences.sorting(self.slot).fields.clone();
        let items = machine.collect(self.collection.clone())?;
        let items = sorting::sort(items, &fields, machine)?;
        let extent = Extent::around(&items);
        let sorted = Rc::new(DatumList {
            items,
            tuple: false,
            extent,
        });
        machine.sequences.sorting(self.slot).sorted = Some(sorted.clone());
        Ok(sorted)
    }
}

impl SequenceStore {
    fn new_memory(&mut self) -> usize {
        self.memories.push(Vec::new());
        self.memories.len() - 1
    }

    fn memory(&mut self, slot: usize) -> &mut Vec<Datum> {
        &mut self.memories[slot]
    }

    fn new_sorting(&mut self) -> usize {
        self.sortings.push(Sorting::default());
        self.sortings.len() - 1
    }

    fn sorting(&mut self, slot: usize) -> &mut Sorting {
        &mut self.sortings[slot]
    }
}

impl Cursor {
    /// Creates a cursor over a list, set, sequence, the keys of a map, or the characters of a text.
    /// For other values `next` fails.
    pub(crate) fn of(value: Datum) -> Cursor {
        match value {
            Datum::List(list) => Cursor::List(list, 0),
            Datum::Set(set) => Cursor::Set(set, 0),
            Datum::View(view, map) => Cursor::View(view, map, 0),
            Datum::Map(map) => Cursor::View(View::Keys, map, 0),
            Datum::Stream(stream) => Cursor::Stream(stream),
            Datum::Memory(memory) => Cursor::Memory(memory, 0),
            Datum::Ordering(ordering) => Cursor::Ordering(ordering),
            Datum::Text(text) => Cursor::Text(
                text.chars()
                    .rev()
                    .map(|one| Datum::text(one.to_string()))
                    .collect(),
            ),
            other => Cursor::NotIterable(other.type_name()),
        }
    }

    /// Returns the next item.
    pub(crate) fn next(&mut self, machine: &mut Machine<'_>) -> Evaluated<Option<Datum>> {
        machine.step(1)?;
        Ok(match self {
            Cursor::List(list, at) => {
                *at += 1;
                list.items.get(*at - 1).cloned()
            }
            Cursor::Set(set, at) => {
                *at += 1;
                set.items.get_index(*at - 1).map(|key| key.value.clone())
            }
            Cursor::View(view, map, at) => {
                *at += 1;
                map.entries
                    .get_index(*at - 1)
                    .map(|(key, value)| match view {
                        View::Keys => key.value.clone(),
                        View::Values => value.clone(),
                        View::Entries => Datum::tuple(vec![key.value.clone(), value.clone()]),
                    })
            }
            Cursor::Stream(stream) => stream.next(machine)?,
            Cursor::Memory(memory, at) => {
                *at += 1;
                memory.item(*at - 1, machine)?
            }
            Cursor::Ordering(ordering) => {
                let sorted = ordering.items(machine)?;
                let first = sorted.items.first().cloned();
                *self = Cursor::List(sorted, 1);
                first
            }
            Cursor::Text(rest) => rest.pop(),
            Cursor::NotIterable(name) => {
                return Err(Halt::failed(format!("'{name}' object is not iterable")));
            }
        })
    }
}
