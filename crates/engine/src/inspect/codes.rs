//! All diagnostic codes, and lookup of a code by name.

use diag::Code;
use dialect::Dialects;

use crate::error::Error;

/// The codes of the phases and of this crate.
fn of_engine() -> impl Iterator<Item = &'static Code> {
    let phases = [
        understand::codes::CODES,
        evaluate::codes::CODES,
        ::plan::codes::CODES,
        ::apply::codes::CODES,
        run::codes::CODES,
        document_tests::CODES,
    ];
    understand::check::codes::CODES
        .iter()
        .chain(phases.into_iter().flatten())
        .chain(crate::codes::CODES)
        .copied()
}

/// All diagnostic codes with these dialects, and further ones, sorted by name.
pub fn diagnostic_codes(dialects: &Dialects, further: &[&'static Code]) -> Vec<&'static Code> {
    let below = [syntax::CODES, expr::codes::CODES, provider::codes::CODES];
    let below = below.into_iter().flatten().copied();
    let mut all: Vec<&'static Code> = below
        .chain(dialects.codes())
        .chain(of_engine())
        .chain(further.iter().copied())
        .collect();
    all.sort_by_key(|code| code.name);
    all
}

/// Returns the diagnostic code with a name. The error for an unknown name proposes a similar one.
pub fn diagnostic_code(
    name: &str,
    dialects: &Dialects,
    further: &[&'static Code],
) -> Result<&'static Code, Error> {
    let all = diagnostic_codes(dialects, further);
    all.iter()
        .find(|code| code.name == name)
        .copied()
        .ok_or_else(|| Error::Usage {
            message: format!("there is no diagnostic `{name}`"),
            help: diag::nearest(name, all.iter().map(|code| code.name))
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("`cyan explain` lists them all".to_owned())),
        })
}
