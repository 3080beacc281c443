//! JSON to a tree.

use diag::{Diagnostics, FileId};

use crate::{Format, Tree, yaml};

pub(crate) fn parse(file: FileId, text: &str, format: Format, found: &mut Diagnostics) -> Tree {
    Tree { format, ..yaml::parse(file, text, found) }
}
