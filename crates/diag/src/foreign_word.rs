//! Words of other tools, and what does the same in this program: for help in diagnostics.
//!
//! The tables here have words of the command line. The words of documents are tables beside their
//! checks.

/// A word of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignWord {
    /// The word, as it is written there.
    pub word: &'static str,
    /// What to use here.
    pub here: Counterpart,
}

/// What does the same as a foreign word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counterpart {
    /// A command, flag or name that does the same.
    Word(&'static str),
    /// Advice in the imperative, if no single word does the same.
    Advice(&'static str),
}

impl ForeignWord {
    /// The advice, in the imperative.
    pub fn help(&self) -> String {
        match self.here {
            Counterpart::Word(word) => format!("use `{word}`"),
            Counterpart::Advice(advice) => advice.to_owned(),
        }
    }
}

/// Finds a word in a table. Case does not matter.
pub fn foreign_word<'t>(table: &'t [ForeignWord], word: &str) -> Option<&'t ForeignWord> {
    table
        .iter()
        .find(|known| known.word.eq_ignore_ascii_case(word))
}

const fn word(word: &'static str, here: &'static str) -> ForeignWord {
    ForeignWord {
        word,
        here: Counterpart::Word(here),
    }
}

const fn advice(word: &'static str, here: &'static str) -> ForeignWord {
    ForeignWord {
        word,
        here: Counterpart::Advice(here),
    }
}

const INSTANCES: &str =
    "select an instance with `--instance NAME`; `cyan list` shows the instances";

const REMOVALS: &str = "`cyan destroy` deletes resources, `cyan state remove` only forgets them";

/// Commands of Terraform, Pulumi, Heat and kubectl. A command below another one is written with
/// it: `state list`.
pub const FOREIGN_COMMANDS: &[ForeignWord] = &[
    word("cancel", "cyan unlock"),
    word("check", "cyan validate"),
    word("create", "cyan deploy"),
    word("delete", "cyan destroy"),
    word("describe", "cyan show"),
    word("diff", "cyan stage"),
    word("down", "cyan destroy"),
    word("events", "cyan history"),
    word("export", "cyan state export"),
    word("force-unlock", "cyan unlock"),
    word("format", "cyan fmt"),
    word("get", "cyan show"),
    word("lint", "cyan validate"),
    word("log", "cyan history"),
    word("logs", "cyan history"),
    word("ls", "cyan list"),
    word("new", "cyan init"),
    word("outputs", "cyan exports"),
    word("providers", "cyan types"),
    word("ps", "cyan list"),
    advice("remove", REMOVALS),
    word("repl", "cyan console"),
    word("replace", "cyan deploy --replace ADDRESS"),
    word("resource", "cyan show"),
    word("resources", "cyan show"),
    advice("rm", REMOVALS),
    word("stacks", "cyan list"),
    word("status", "cyan show"),
    word("taint", "cyan deploy --replace ADDRESS"),
    advice(
        "untaint",
        "leave `--replace` out: a resource is replaced only in the deploy that asks for it",
    ),
    word("update", "cyan deploy"),
    word("version", "cyan --version"),
    advice("workspace", INSTANCES),
    advice("workspaces", INSTANCES),
    advice(
        "login",
        "name the place of the state with `--state`; there is nothing to sign in to",
    ),
    advice(
        "logout",
        "name the place of the state with `--state`; there is nothing to sign in to",
    ),
    word("stack create", "cyan deploy"),
    word("stack delete", "cyan destroy"),
    word("stack export", "cyan state export"),
    word("stack history", "cyan history"),
    word("stack import", "cyan state import"),
    word("stack new", "cyan stack init"),
    word("stack output", "cyan exports"),
    word("stack show", "cyan show"),
    word("stack update", "cyan deploy"),
    word("state delete", "cyan state remove"),
    word("state list", "cyan show"),
    word("state ls", "cyan show"),
    word("state mv", "cyan state move"),
    word("state pull", "cyan state export"),
    word("state push", "cyan state import"),
    word("state rename", "cyan state move"),
    word("state rm", "cyan state remove"),
    word("state show", "cyan show ADDRESS"),
];

/// Flags of the same tools, without the leading dashes.
pub const FOREIGN_FLAGS: &[ForeignWord] = &[
    word("approve", "--yes"),
    word("assume-yes", "--yes"),
    word("auto-approve", "--yes"),
    word("backend-config", "--state"),
    word("chdir", "-C"),
    word("config-file", "--config"),
    word("cwd", "-C"),
    word("debug", "--verbose"),
    word("destroy", "cyan destroy"),
    word("detailed-exitcode", "--exit-code"),
    word("dry-run", "cyan stage"),
    word("env-file", "--environment"),
    word("environment-file", "--environment"),
    word("expect-no-change", "--expect-no-changes"),
    word("existing", "--keep-vars"),
    word("lock-timeout", "--lock-wait"),
    word("no-color", "--color never"),
    word("non-interactive", "--yes"),
    word("parameter", "--var"),
    word("parameter-file", "--vars"),
    word("parameters", "--var"),
    word("preview-only", "cyan stage"),
    word("refresh-only", "cyan refresh"),
    word("set", "--var"),
    word("show-secrets", "--reveal"),
    word("skip-preview", "--yes"),
    word("stack", "--instance"),
    word("state-out", "--state"),
    word("values", "--vars"),
    word("var-file", "--vars"),
    word("workspace", "--instance"),
    word("workspace-dir", "-C"),
];

#[cfg(test)]
mod tests {
    use super::{FOREIGN_COMMANDS, FOREIGN_FLAGS, foreign_word};

    #[test]
    fn a_foreign_word_has_one_counterpart() {
        for table in [FOREIGN_COMMANDS, FOREIGN_FLAGS] {
            for known in table {
                assert_eq!(foreign_word(table, known.word), Some(known));
            }
        }
        let help = |word| foreign_word(FOREIGN_COMMANDS, word).map(super::ForeignWord::help);
        assert_eq!(
            help("taint").as_deref(),
            Some("use `cyan deploy --replace ADDRESS`")
        );
        assert_eq!(help("Version").as_deref(), Some("use `cyan --version`"));
        assert_eq!(help("deploy"), None);
    }
}
