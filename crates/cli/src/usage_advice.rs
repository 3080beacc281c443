//! Advice for a command or flag that does not exist: what does the same here, or a similar name.
//!
//! Not here: the report of the error (`usage`).

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory as _};
use diag::{Counterpart, FOREIGN_COMMANDS, FOREIGN_FLAGS, foreign_word, nearest};

use crate::arguments::Arguments;

/// The error with advice in place of the suggestions of `clap`, which compares names so loosely that
/// it suggests commands that do something else.
pub(crate) fn advised(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => advise_on_command(&mut error),
        ErrorKind::UnknownArgument => advise_on_argument(&mut error, words),
        _ => {}
    }
    error
}

fn advise_on_command(error: &mut clap::Error) {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let word = word.clone();
    let path = path_of(error);
    let parent = command_at(&path);
    let full = [path.as_slice(), std::slice::from_ref(&word)]
        .concat()
        .join(" ");
    let names: Vec<String> = parent
        .get_subcommands()
        .flat_map(|command| {
            std::iter::once(command.get_name()).chain(command.get_visible_aliases())
        })
        .map(str::to_owned)
        .collect();
    let help = foreign_word(FOREIGN_COMMANDS, &full)
        .map(diag::ForeignWord::help)
        .or_else(|| {
            let near = nearest(&word, names.iter().map(String::as_str))?;
            Some(format!("did you mean `{near}`?"))
        })
        .unwrap_or_else(|| format!("`{} --help` lists the commands", invocation(&path)));
    error.remove(ContextKind::SuggestedSubcommand);
    suggest(error, help);
}

fn advise_on_argument(error: &mut clap::Error, words: &[OsString]) {
    let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    let found = found.clone();
    if !found.starts_with('-') || found.chars().nth(1).is_some_and(|c| c.is_ascii_digit()) {
        return;
    }
    let path = path_of(error);
    let command = command_at(&path);
    let written = as_written(&found, words);
    let name = written.trim_start_matches('-');
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    let longs: Vec<String> = command
        .get_arguments()
        .filter_map(|argument| argument.get_long().map(str::to_owned))
        .collect();
    let offers = |flag: &str| match flag.strip_prefix("--") {
        Some(long) => {
            let long = long.split(' ').next().unwrap_or(long);
            longs.iter().any(|known| known == long)
        }
        None => true,
    };
    let foreign = foreign_word(FOREIGN_FLAGS, name).filter(|known| match known.here {
        Counterpart::Word(flag) => offers(flag),
        Counterpart::Advice(_) => true,
    });
    let help = match foreign {
        Some(known) => known.help(),
        None if name.len() > 1 && longs.iter().any(|long| long == name) => {
            format!("write it with two dashes: `--{name}`")
        }
        None => match nearest(name, longs.iter().map(String::as_str)).filter(|_| name.len() > 1) {
            Some(near) => format!("did you mean `--{near}`?"),
            None => format!("`{} --help` lists the flags", invocation(&path)),
        },
    };
    if written != found {
        error.insert(ContextKind::InvalidArg, ContextValue::String(written));
    }
    error.remove(ContextKind::SuggestedArg);
    suggest(error, help);
}

/// The word in which a letter was taken for a short flag: `-auto-approve` for `-a`. A flag of more
/// letters stays as it is.
fn as_written(found: &str, words: &[OsString]) -> String {
    let mut letters = found.chars().skip(1);
    let (Some(letter), None) = (letters.next(), letters.next()) else {
        return found.to_owned();
    };
    let written = words.iter().filter_map(|word| word.to_str()).find(|word| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|rest| rest.len() > 1 && rest.contains(letter))
    });
    match written {
        // The value may be secret.
        Some(word) => word
            .split_once('=')
            .map_or(word, |(name, _)| name)
            .to_owned(),
        None => found.to_owned(),
    }
}

/// The names of the command that the error is about, without the program.
fn path_of(error: &clap::Error) -> Vec<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return Vec::new();
    };
    let usage = usage.to_string();
    let words = usage.split_whitespace().skip_while(|word| *word != "cyan");
    words
        .skip(1)
        .take_while(|word| !word.starts_with(['[', '<', '-']))
        .map(str::to_owned)
        .collect()
}

/// The command at a path. Unknown names are skipped.
fn command_at(path: &[String]) -> Command {
    let mut command = Arguments::command();
    command.build();
    for name in path {
        let below = command.find_subcommand(name).cloned();
        command = below.unwrap_or(command);
    }
    command
}

fn invocation(path: &[String]) -> String {
    std::iter::once("cyan")
        .chain(path.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ")
}

fn suggest(error: &mut clap::Error, help: String) {
    let tips = ContextValue::StyledStrs(vec![StyledStr::from(help)]);
    error.insert(ContextKind::Suggested, tips);
}
