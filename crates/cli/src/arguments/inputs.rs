//! The flags for inputs. They are not derived, because derived arguments lose the relative order of
//! two flags.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use engine::{InputSource, NamedFile};

use super::path::path;

/// Values for the inputs of a document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs(pub(crate) engine::Inputs);

fn one(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("a value is written as NAME=VALUE".to_owned()),
    }
}

impl Args for Inputs {
    fn augment_args(command: Command) -> Command {
        let var = Arg::new("var")
            .long("var")
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
            .value_parser(one)
            .help("Set an input, over `CYAN_VAR_NAME`; repeatable, the last one wins");
        let vars = Arg::new("vars")
            .long("vars")
            .value_name("FILE")
            .action(ArgAction::Append)
            .value_parser(path())
            .help("Read inputs from this YAML or JSON file; repeatable, the last one wins");
        let environment = Arg::new("environment")
            .long("environment")
            .short('e')
            .value_name("FILE")
            .action(ArgAction::Append)
            .value_parser(path())
            .help("Read a Heat environment file, for a template; repeatable, the last one wins");
        command.arg(var).arg(vars).arg(environment)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Inputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Inputs, clap::Error> {
        let mut written: Vec<(usize, InputSource)> = Vec::new();
        if let (Some(values), Some(places)) = (
            matches.get_many::<(String, String)>("var"),
            matches.indices_of("var"),
        ) {
            let texts = values.map(|(name, value)| {
                InputSource::Text(name.as_str().into(), value.as_str().into())
            });
            written.extend(places.zip(texts));
        }
        if let (Some(values), Some(places)) = (
            matches.get_many::<PathBuf>("vars"),
            matches.indices_of("vars"),
        ) {
            written.extend(places.zip(values.map(|file| InputSource::File(NamedFile::new(file)))));
        }
        written.sort_by_key(|(place, _)| *place);
        let environments = matches
            .get_many::<PathBuf>("environment")
            .unwrap_or_default()
            .map(NamedFile::new)
            .collect();
        let written = written.into_iter().map(|(_, written)| written).collect();
        Ok(Inputs(engine::Inputs {
            written,
            environments,
            ..engine::Inputs::default()
        }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Inputs::from_arg_matches(matches)?;
        Ok(())
    }
}
