//! Where output goes: results to stdout, everything else to stderr; colours; whether somebody is there to be asked.
//!
//! A reader that has gone away (a closed pipe) is no error: nothing more is written, and the command goes on to its
//! end, because an operation must not stop half-way for want of a reader.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anstyle::{AnsiColor, Style};
use engine::shell::Waits;

use crate::exit::CommandError;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ColorChoice {
    /// On a terminal.
    #[default]
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

/// Gives text a colour, or leaves it as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    fn with(self, style: Style, text: impl Display) -> String {
        if self.on { format!("{style}{text}{style:#}") } else { text.to_string() }
    }

    /// For diagnostics.
    pub(crate) fn colors(self) -> diag::Colors {
        if self.on { diag::Colors::On } else { diag::Colors::Off }
    }

    /// Stands out.
    pub(crate) fn bold(self, text: impl Display) -> String {
        self.with(Style::new().bold(), text)
    }

    /// Steps back.
    pub(crate) fn dim(self, text: impl Display) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// Comes, or is well.
    pub(crate) fn green(self, text: impl Display) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    /// Changes, or needs care.
    pub(crate) fn yellow(self, text: impl Display) -> String {
        self.with(AnsiColor::Yellow.on_default(), text)
    }

    /// Goes, or has failed.
    pub(crate) fn red(self, text: impl Display) -> String {
        self.with(AnsiColor::Red.on_default(), text)
    }

    /// Is made anew.
    pub(crate) fn magenta(self, text: impl Display) -> String {
        self.with(AnsiColor::Magenta.on_default(), text)
    }

    /// A place or a name.
    pub(crate) fn cyan(self, text: impl Display) -> String {
        self.with(AnsiColor::Cyan.on_default(), text)
    }
}

/// Of so many pauses a person is told.
const MANY: usize = 5;

/// Says that a provider is asked again while a plan is made, the first few times.
pub(crate) fn says_waits() -> Waits {
    let said = AtomicUsize::new(0);
    Arc::new(move |what, pause, why| {
        let text = match said.fetch_add(1, Ordering::Relaxed) {
            told if told < MANY => format!("{what}: asked again in {}, {why}\n", blueprint::format_duration(pause)),
            MANY => "(and more that is asked again)\n".to_owned(),
            _ => return,
        };
        // Nobody is there to be told that nobody can be told.
        let _ = io::stderr().write_all(text.as_bytes());
    })
}

/// What is said, and how much of it.
pub(crate) struct Terminal {
    /// Colours of stdout.
    pub(crate) out: Paint,
    /// Colours of stderr.
    pub(crate) err: Paint,
    /// Whether machine output was asked for.
    pub(crate) json: bool,
    /// Only errors and results.
    pub(crate) quiet: bool,
    /// Notes and fields too.
    pub(crate) verbose: bool,
    color: ColorChoice,
    failed: Option<io::Error>,
}

impl Terminal {
    /// As asked for on the command line.
    pub(crate) fn new(color: ColorChoice, json: bool, quiet: bool, verbose: bool) -> Terminal {
        let mut terminal =
            Terminal { out: Paint { on: false }, err: Paint { on: false }, json, quiet, verbose, color, failed: None };
        terminal.set_color(color);
        terminal
    }

    /// Colours from now on.
    pub(crate) fn set_color(&mut self, color: ColorChoice) {
        self.color = color;
        self.out = Paint { on: !self.json && colors(color, io::stdout().is_terminal()) };
        self.err = Paint { on: colors(color, io::stderr().is_terminal()) };
    }

    /// Writes a result to stdout, as it is.
    pub(crate) fn data(&mut self, text: &str) {
        if self.failed.is_some() {
            return;
        }
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            self.failed = Some(error);
        }
    }

    /// Writes a result to stdout and ends the line.
    pub(crate) fn line(&mut self, text: impl Display) {
        self.data(&format!("{text}\n"));
    }

    /// Writes to stderr, as it is. What cannot be written there is lost, for there is nowhere to say so.
    pub(crate) fn aside(&self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Says something by the way, unless nobody wants to hear it.
    pub(crate) fn say(&self, text: impl Display) {
        if !self.quiet {
            self.aside(&format!("{text}\n"));
        }
    }

    /// Whether a person sees stderr and can answer on stdin.
    pub(crate) fn can_ask(&self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Whether a person sees stderr.
    pub(crate) fn is_watched(&self) -> bool {
        io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    /// Asks a yes-or-no question; anything but yes is no.
    pub(crate) fn confirm(&self, question: &str) -> bool {
        self.aside(&format!("{} [y/N] ", self.err.bold(question)));
        let mut answer = String::new();
        let read = crate::signals::interruptible(|| io::stdin().read_line(&mut answer));
        if !answer.ends_with('\n') {
            self.aside("\n");
        }
        read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
    }

    /// Whether everything could be written; a reader that went away is fine.
    pub(crate) fn finish(&mut self) -> Result<(), CommandError> {
        match self.failed.take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CommandError::Machine { what: "the output cannot be written", source: error })
            }
            _ => Ok(()),
        }
    }
}

fn colors(choice: ColorChoice, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") => false,
        ColorChoice::Auto
            if std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") =>
        {
            true
        }
        ColorChoice::Auto => terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// How many characters fit into a line of stderr; 80 where nobody can tell.
pub(crate) fn width() -> usize {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stderr())
        && size.ws_col > 0
    {
        return usize::from(size.ws_col);
    }
    80
}
