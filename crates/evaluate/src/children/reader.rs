//! The reader of a root and its children: the documents read so far, and helpers of the steps.
//!
//! Not here: the steps (`follow`, `groups`, `searches`, `checking`).

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use blueprint::{Blueprint, Child, Name, Value};
use diag::{Diagnostic, Diagnostics, Span, Spanned, Trail};
use dialect::{DialectRules, LoadContext};
use expr::{Ask, AskFailure};
use source::{Location, Request};

use super::known::{DataSourceExports, IncludeContext};
use understand::check::passed_inputs::PassedInputs;
use understand::check::{CheckContext, Checked};
use understand::pinned::{Pinned, PinnedChild, PinnedRequest};

use super::include_errors;
use super::places::{Include, IncludePlace, Text, folder_of};
use super::reading::ReadingContext;

pub(super) struct DocumentReader<'a> {
    pub(super) reading: ReadingContext<'a>,
    pub(super) texts: Vec<Text>,
    pub(super) of_location: HashMap<(Location, usize), Option<u32>, foldhash::fast::FixedState>,
    pub(super) places: Vec<IncludePlace>,
    /// The number of expanded group members.
    pub(super) members: usize,
    /// The documents that members of empty groups would use: the include of the group, and the path
    /// of the document.
    pub(super) samples: Vec<(Include, Spanned<Name>)>,
    /// Whether the error about too many members is already reported.
    pub(super) reported_too_many_members: bool,
    /// The memory used so far by values that decide the locations of includes.
    pub(super) meter: Cell<expr::Meter>,
    pub(super) pinned: Pinned,
    /// Inputs of the root by position.
    pub(super) inputs: Vec<Value>,
    /// The exports of data sources that paths read.
    pub(super) data: DataSourceExports,
    pub(super) answers: Vec<(u32, Ask, Result<Value, AskFailure>)>,
    pub(super) working_directory: Option<Name>,
    /// Whether some includes cannot be followed yet.
    pub(super) has_open_includes: bool,
    /// Whether all includes depend on the documents alone.
    pub(super) is_fixed: bool,
    pub(super) reported_too_many_places: bool,
}

/// A checked document, shared by all places in which its children are the same.
pub(super) struct CheckResult {
    pub(super) checked: Arc<Checked>,
    /// The errors of the document that are visible without inputs.
    pub(super) found: Diagnostics,
    /// The inputs of the document's children.
    pub(super) passed: Arc<[Option<PassedInputs>]>,
}

/// The errors of documents in some of their places, by place.
pub(super) type PlacedMistakes = HashMap<u32, Diagnostics, foldhash::fast::FixedState>;

/// The next need of an include.
pub(super) enum IncludeNeed {
    /// The request for the document.
    Document(Request),
    /// The questions whose answers the path needs.
    Answers(Vec<Ask>),
    /// The data sources that the path reads, by place and position.
    Searches(Vec<(u32, u32)>),
    /// The include reads a child that is not read yet.
    NotYetRead,
    /// The include is a group, which must be expanded.
    Group,
    /// The location is known only with all inputs.
    InputsMissing,
    /// The include has an error and needs nothing.
    Nothing,
}

impl DocumentReader<'_> {
    /// The folder of a document, relative to that of the root document; empty for the root's own
    /// folder.
    pub(super) fn folder_seen_from_root(&self, place: u32) -> Name {
        let root = &self.reading.folder;
        match self.text_of(place).location.as_ref().and_then(folder_of) {
            Some(folder) if folder != *root => {
                Location::disk(folder).relative_to(root).identity().clone()
            }
            _ => Name::default(),
        }
    }

    pub(super) fn text_of(&self, place: u32) -> &Text {
        &self.texts[self.places[place as usize].text as usize]
    }

    /// The rules of the dialect of the document in a place.
    pub(super) fn rules_of(&self, place: u32) -> DialectRules {
        self.reading
            .dialects
            .rules(self.text_of(place).blueprint.dialect)
    }

    /// The context for checking the document in a place.
    pub(super) fn check_context<'c>(
        &'c self,
        place: u32,
        kinds: &'c [&'static source::SourceKind],
    ) -> CheckContext<'c> {
        let ReadingContext {
            catalogs,
            functions,
            ..
        } = self.reading;
        CheckContext {
            catalogs,
            functions,
            rules: self.rules_of(place),
            kinds: Some(kinds),
        }
    }

    pub(super) fn child(&self, place: u32, include: u32) -> Option<(Arc<Blueprint>, usize)> {
        let blueprint = &self.text_of(place).blueprint;
        (blueprint.children.len() > include as usize).then(|| (blueprint.clone(), include as usize))
    }

    /// Reports an error of an include, once for all places of its document.
    pub(super) fn report(&mut self, (place, include): Include, diagnostic: Diagnostic) {
        let text = self.places[place as usize].text as usize;
        let refused = &self.texts[text].refused;
        let known =
            |(at, it): &(u32, Diagnostic)| *at == include && it.code.name == diagnostic.code.name;
        if !refused.iter().any(known) {
            let worded = include_errors::with_dialect_message(
                self.child(place, include),
                &self.rules_of(place),
                diagnostic,
            );
            self.texts[text].refused.push((include, worded));
        }
    }

    pub(super) fn include_context<'s>(&'s self, inputs: &'s [Value]) -> IncludeContext<'s> {
        IncludeContext {
            texts: &self.texts,
            places: &self.places,
            inputs,
            functions: self.reading.functions,
            dialects: self.reading.dialects,
            working_directory: self.working_directory.as_ref(),
            data_sources: self.reading.complete.then_some(&self.data),
            answers: &self.answers,
            catalogs: self.reading.catalogs,
            locals: Default::default(),
            passed: Default::default(),
            under_evaluation: Default::default(),
            parts: Default::default(),
            meter: &self.meter,
        }
    }

    /// The load context of the document of an include; that of the root for `None`.
    pub(super) fn context(&self, above: Option<Include>) -> LoadContext {
        let Some((place, include)) = above else {
            return self.reading.context.clone();
        };
        let text = self.text_of(place);
        let blueprint = &text.blueprint;
        let Some((name, child)) = blueprint.children.get_index(include as usize) else {
            return text.context.clone();
        };
        let written = child
            .stands_for
            .as_ref()
            .map(|written| written.item.as_ref());
        let written = written
            .or_else(|| child.path.as_literal()?.as_text())
            .unwrap_or_default();
        let shares = self.rules_of(place).children.share_dialect();
        let dialect = shares.then_some(blueprint.dialect);
        let mut context = text.context.for_child(name, written);
        context.dialect = dialect;
        context
    }

    /// The names of the includes that lead to the elements of an included document, outermost
    /// first.
    pub(super) fn path_of(&self, place: u32, name: &Name) -> Vec<Name> {
        let mut path = vec![name.clone()];
        let mut at = place;
        while let Some((above, include)) = self.places[at as usize].parent {
            let children = &self.text_of(above).blueprint.children;
            path.extend(
                children
                    .get_index(include as usize)
                    .map(|(name, _)| name.clone()),
            );
            at = above;
        }
        path.reverse();
        path
    }

    /// The displayed path of a document. The path of a file is relative to the displayed path of
    /// the root.
    pub(super) fn display_path(&self, location: &Location) -> String {
        let relative = location.relative_to(&self.reading.folder);
        let root = self
            .reading
            .files
            .get(self.texts[0].file)
            .map_or("", |file| file.name());
        match root.rsplit_once('/') {
            Some((folder, _)) if relative.is_disk() && !folder.starts_with('<') => {
                let seen = format!("{folder}/{relative}");
                if relative.identity().starts_with('/') {
                    relative.to_string()
                } else {
                    seen
                }
            }
            _ => relative.to_string(),
        }
    }

    pub(super) fn pin_document(
        &mut self,
        key: Name,
        request: &Request,
        document: &source::FetchedDocument,
        text: &str,
    ) {
        let folder = &self.reading.folder;
        let mut key = key;
        let mut of_request = PinnedRequest::new(request, folder);
        // The path of the include leads to a folder.
        if document.location.is_folder() && !of_request.is_folder {
            of_request.is_folder = true;
            key = of_request.key();
        }
        let pinned = PinnedChild {
            request: of_request,
            location: document.location.relative_to(folder),
            digest: document.digest,
            text: text.into(),
        };
        self.pinned.documents.insert(key, pinned);
    }

    /// The includes that lead to a place, outermost first.
    pub(super) fn trail(&self, place: u32) -> Vec<Trail> {
        let mut trail = Vec::new();
        let mut at = place;
        while let Some((above, include)) = self.places[at as usize].parent {
            let children = &self.text_of(above).blueprint.children;
            if let Some((name, child)) = children.get_index(include as usize) {
                trail.push(Trail {
                    span: child.span,
                    text: format!("included as `{name}`"),
                });
            }
            at = above;
        }
        trail.reverse();
        trail
    }
}

/// Whether the check has reported an error at the location of a child.
pub(super) fn is_reported_by_check(found: &Diagnostics, child: &Child) -> bool {
    let mut places: Vec<Span> = vec![child.path.span];
    places.extend(child.source.iter().map(|source| source.span));
    let entries = child.source.iter().flat_map(|source| &source.entries);
    places.extend(entries.flat_map(|(key, value)| [key.span, value.span]));
    let within = |span: Span| {
        places
            .iter()
            .any(|place| place.file == span.file && (*place == span || place.contains(span.start)))
    };
    found.iter().any(|it| it.is_error() && within(it.span()))
}
