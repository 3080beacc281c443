//! The parsed form of a template.

use blueprint::Name;

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TemplatePart {
    /// Text outside of braces.
    Text(Name),
    /// A query in braces.
    Query(Vec<QueryStep>),
}

/// A step of a query: it maps values to values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum QueryStep {
    /// The text itself, whatever the values are.
    Text(Name),
    /// An integer for each value.
    Int(i64),
    /// A float for each value.
    Float(f64),
    /// A boolean for each value.
    Flag(bool),
    /// The field with this name. The name can be empty.
    Field(Name),
    /// Elements of a list.
    Slice(SliceBounds),
    /// Elements of a list for which a condition holds.
    Filter(Box<FilterStep>),
    /// All children.
    Wildcard,
    /// The values and everything below them, without those that have no children.
    Recursive,
    /// The results of each of these queries, one after the other.
    Union(Vec<Vec<QueryStep>>),
    /// A bare word: `range` and `end` are known.
    Word(Name),
}

/// The bounds of a slice as they are written; an index `i` is the slice `i:i+1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SliceBounds {
    /// The first element; the first one of the list if it is absent.
    pub(crate) start: Option<i64>,
    /// The element after the last one.
    pub(crate) end: SliceEnd,
    /// The distance of the elements; 1 if it is absent.
    pub(crate) step: Option<i64>,
}

/// Where a slice ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SliceEnd {
    /// At the end of the list.
    Open,
    /// Before this element.
    Before(i64),
    /// After the only element: the text is an index. This is the index plus one.
    Derived(i64),
}

/// A condition on elements.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FilterStep {
    /// The left side.
    pub(crate) left: Vec<QueryStep>,
    /// The comparison with the right side; `None` asks whether the left side has a result.
    pub(crate) comparison: Option<(Name, Vec<QueryStep>)>,
}
