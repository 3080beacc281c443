//! The files of a folder that are read as one document, in the order of their names.

use std::sync::Arc;

use blueprint::Name;
use diag::{Diagnostics, FileId, Span};
use dialect::{Answer, DialectSetting, Document, FolderEntry, SettingKind, Wanted};
use expr::codes::SOURCE_UNREADABLE;

use crate::recognition::{can_hold_manifests, rendered_folder};
use crate::shape::NAME;

/// The name of the setting that reads folders in a folder, too.
const RECURSIVE: &str = "recursive";

/// The settings of the dialect.
pub(crate) const SETTINGS: [DialectSetting; 1] = [(RECURSIVE, SettingKind::Switch)];

/// The greatest depth of folders that are read.
const DEEPEST: usize = 64;

/// The files of a document that is a folder; none for a text.
#[derive(Default)]
pub(crate) struct FolderFiles {
    /// What is needed to read them.
    pub(crate) wanted: Vec<Wanted>,
    /// The files whose texts are known.
    pub(crate) files: Vec<FolderFile>,
    /// The files that cannot be read.
    pub(crate) found: Diagnostics,
}

/// A file of a folder.
pub(crate) struct FolderFile {
    /// The path, relative to the folder.
    pub(crate) path: Name,
    /// The file.
    pub(crate) file: FileId,
    /// The text.
    pub(crate) text: Arc<str>,
}

/// Finds the files of a document. Nothing is read of a folder that needs rendering.
pub(crate) fn read(document: &Document<'_>) -> FolderFiles {
    let mut files = FolderFiles::default();
    if let Some(entries) = document.entries()
        && rendered_folder(entries).is_none()
    {
        let settings = document.context.settings.of(NAME);
        let reading = FolderReading {
            document,
            recursive: settings.switch(RECURSIVE).unwrap_or(false),
        };
        reading.folder("", entries, 0, &mut files);
    }
    files
}

/// Finds the files at paths of a setting: files, and folders of files.
pub(crate) fn read_paths(document: &Document<'_>, paths: &[Name]) -> FolderFiles {
    let mut files = FolderFiles::default();
    let settings = document.context.settings.of(NAME);
    let reading = FolderReading {
        document,
        recursive: settings.switch(RECURSIVE).unwrap_or(false),
    };
    for path in paths {
        if can_hold_manifests(path) {
            reading.file(path.clone(), &mut files);
        } else {
            reading.folder_at(path, 0, &mut files);
        }
    }
    files
}

struct FolderReading<'d> {
    document: &'d Document<'d>,
    recursive: bool,
}

impl FolderReading<'_> {
    fn folder(&self, above: &str, entries: &[FolderEntry], depth: usize, into: &mut FolderFiles) {
        for entry in entries {
            let path: Name = format!("{above}{}", entry.name).into();
            if !entry.is_folder {
                if can_hold_manifests(&entry.name) {
                    self.file(path, into);
                }
                continue;
            }
            if self.recursive && depth < DEEPEST {
                self.folder_at(&path, depth + 1, into);
            }
        }
    }

    fn folder_at(&self, path: &Name, depth: usize, into: &mut FolderFiles) {
        let wanted = Wanted::Folder(path.clone());
        match self.document.context.answers.get(&wanted) {
            Some(Answer::Folder(entries)) => {
                self.folder(&format!("{path}/"), entries, depth, into);
            }
            answer => self.report_missing(path, answer, &mut into.found),
        }
        into.wanted.push(wanted);
    }

    fn file(&self, path: Name, into: &mut FolderFiles) {
        let wanted = Wanted::Text(path.clone());
        match self.document.context.answers.get(&wanted) {
            Some(Answer::Text(file, text)) => into.files.push(FolderFile {
                path,
                file: *file,
                text: text.clone(),
            }),
            answer => self.report_missing(&path, answer, &mut into.found),
        }
        into.wanted.push(wanted);
    }

    fn report_missing(&self, path: &str, answer: Option<&Answer>, found: &mut Diagnostics) {
        let Some(Answer::Missing(why)) = answer else {
            return;
        };
        found.push(
            SOURCE_UNREADABLE
                .new(format!("`{path}` cannot be read"))
                .label(self.listed(path), why.to_string()),
        );
    }

    /// The line of a path in the listing of the folder.
    fn listed(&self, path: &str) -> Span {
        let first = path.split('/').next().unwrap_or(path);
        let mut start = 0;
        for line in self.document.text.split_inclusive('\n') {
            let name = line.trim_end_matches('\n');
            let end = start + name.len();
            if name.trim_end_matches('/') == first {
                let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                return Span::new(self.document.file, offset(start), offset(end));
            }
            start += line.len();
        }
        Span::new(self.document.file, 0, 0)
    }
}
