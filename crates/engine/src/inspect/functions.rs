//! The functions that expressions and dialects offer.

use dialect::Explained;
use expr::FunctionDef;

use crate::error::Error;
use crate::library::Library;

/// All functions, or the functions with one name.
#[derive(Clone, Debug)]
pub struct Functions<'l> {
    /// Functions of expressions.
    pub of_expressions: Vec<&'l FunctionDef>,
    /// Functions of dialects, each with its dialect.
    pub of_dialects: Vec<(&'static str, Explained)>,
}

impl Library {
    /// All functions.
    pub fn all_functions(&self) -> Functions<'_> {
        let of_dialects = self
            .dialects
            .iter()
            .flat_map(|dialect| {
                dialect
                    .functions()
                    .into_iter()
                    .map(|one| (dialect.name(), one))
            })
            .collect();
        Functions {
            of_expressions: self.functions.iter().collect(),
            of_dialects,
        }
    }

    /// Returns the functions with a name. The error for an unknown name proposes a similar one.
    pub fn functions_named(&self, name: &str) -> Result<Functions<'_>, Error> {
        let Functions {
            of_dialects: all, ..
        } = self.all_functions();
        let own = self.functions.get(name);
        if own.is_none() && all.iter().all(|(_, one)| one.name != name) {
            let names = self
                .functions
                .names()
                .chain(all.iter().map(|(_, one)| one.name));
            return Err(Error::Usage {
                message: format!("there is no function `{name}`"),
                help: diag::nearest(name, names)
                    .map(|near| format!("did you mean `{near}`?"))
                    .or_else(|| Some("`cyan functions` lists them all".to_owned())),
            });
        }
        let of_dialects = all
            .into_iter()
            .filter(|(_, one)| one.name == name)
            .collect();
        Ok(Functions {
            of_expressions: own.into_iter().collect(),
            of_dialects,
        })
    }
}
