//! The blueprint dialect.

use blueprint::Wanted;
use expr::FunctionTable;

use crate::{Dialect, Document, Lowered, Shape};

/// The Blueprint Specification, versions 2023-04-20 and 2025-11-02.
pub struct BlueprintDialect;

static SHAPE: Shape = Shape { sections: &[] };

impl Dialect for BlueprintDialect {
    fn name(&self) -> &'static str {
        "blueprint"
    }

    fn recognise(&self, _document: &Document<'_>) -> u8 {
        50
    }

    fn shape(&self) -> &'static Shape {
        &SHAPE
    }

    fn wants(&self, _document: &Document<'_>) -> Vec<Wanted> {
        Vec::new()
    }

    fn lower(&self, _document: &Document<'_>, _functions: &FunctionTable) -> Lowered {
        Lowered { blueprint: Default::default(), diagnostics: Default::default() }
    }
}
