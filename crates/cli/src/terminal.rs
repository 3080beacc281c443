//! The output streams: results go to stdout, everything else to stderr. Also colours, and whether
//! questions are possible.
//!
//! All text for people passes [`escape`], which escapes all control characters apart from the
//! styles of [`Paint`]. A closed pipe is no error: the command writes nothing more and continues to
//! its end, because an operation must not stop half-way if its reader leaves.

use std::borrow::Cow;
use std::fmt::Display;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::LazyLock;

use anstyle::{AnsiColor, Style};

use crate::exit::CommandError;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal.
    #[default]
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

impl From<engine::config::ColorChoice> for ColorChoice {
    fn from(color: engine::config::ColorChoice) -> ColorChoice {
        match color {
            engine::config::ColorChoice::Auto => ColorChoice::Auto,
            engine::config::ColorChoice::Always => ColorChoice::Always,
            engine::config::ColorChoice::Never => ColorChoice::Never,
        }
    }
}

/// Adds colours to text, if they are on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    fn with(self, style: Style, text: impl Display) -> String {
        if self.on {
            format!("{}{style}{text}{}{style:#}", *OWN, *OWN)
        } else {
            text.to_string()
        }
    }

    /// The same without colours.
    pub(crate) fn without_colors(self) -> Paint {
        Paint { on: false }
    }

    /// The colours of diagnostics.
    pub(crate) fn colors(self) -> diag::Colors {
        if self.on {
            diag::Colors::On
        } else {
            diag::Colors::Off
        }
    }

    /// For emphasis.
    pub(crate) fn bold(self, text: impl Display) -> String {
        self.with(Style::new().bold(), text)
    }

    /// For secondary text.
    pub(crate) fn dim(self, text: impl Display) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// For additions and success.
    pub(crate) fn green(self, text: impl Display) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    /// For changes and warnings.
    pub(crate) fn yellow(self, text: impl Display) -> String {
        self.with(AnsiColor::Yellow.on_default(), text)
    }

    /// For deletions and failures.
    pub(crate) fn red(self, text: impl Display) -> String {
        self.with(AnsiColor::Red.on_default(), text)
    }

    /// For replacements.
    pub(crate) fn magenta(self, text: impl Display) -> String {
        self.with(AnsiColor::Magenta.on_default(), text)
    }

    /// For places and names.
    pub(crate) fn cyan(self, text: impl Display) -> String {
        self.with(AnsiColor::Cyan.on_default(), text)
    }
}

/// The prefix of each style that this program adds to a text. It is random for each process, so
/// that no document can contain it.
static OWN: LazyLock<String> =
    LazyLock::new(|| format!("\u{1b}{:016x}", RandomState::new().hash_one(0)));

/// Escapes a text for people: all control characters except the styles of this program.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return diag::visible(text);
    }
    let mut parts = text.split(OWN.as_str());
    let mut clean = diag::visible(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        // A style ends with the first `m`.
        let (style, rest) = part.split_at(part.find('m').map_or(0, |end| end + 1));
        clean.push_str(style);
        clean.push_str(&diag::visible(rest));
    }
    Cow::Owned(clean)
}

/// The output streams and their settings.
pub(crate) struct Terminal {
    /// Colours of stdout.
    pub(crate) out: Paint,
    /// Colours of stderr.
    pub(crate) err: Paint,
    /// Whether machine output was requested.
    pub(crate) json: bool,
    /// Whether only results and errors are written.
    pub(crate) quiet: bool,
    /// Whether notes and all fields are written too.
    pub(crate) verbose: bool,
    color: ColorChoice,
    failed: Option<io::Error>,
}

impl Terminal {
    /// Creates a terminal with the settings of the command line.
    pub(crate) fn new(color: ColorChoice, json: bool, quiet: bool, verbose: bool) -> Terminal {
        let mut terminal = Terminal {
            out: Paint { on: false },
            err: Paint { on: false },
            json,
            quiet,
            verbose,
            color,
            failed: None,
        };
        terminal.set_color(color);
        terminal
    }

    /// Sets the colours of all later output.
    pub(crate) fn set_color(&mut self, color: ColorChoice) {
        self.color = color;
        self.out = Paint {
            on: !self.json && colors(color, io::stdout().is_terminal()),
        };
        self.err = Paint {
            on: colors(color, io::stderr().is_terminal()),
        };
    }

    /// Writes a result for people to stdout.
    pub(crate) fn write_result(&mut self, text: &str) {
        self.write(&escape(text));
    }

    /// Writes a value or a file for other programs to stdout, unescaped unless stdout is a
    /// terminal.
    pub(crate) fn write_value(&mut self, text: &str) {
        match io::stdout().is_terminal() {
            true => self.write(&diag::visible(text)),
            false => self.write(text),
        }
    }

    /// Writes JSON to stdout.
    pub(crate) fn json(&mut self, text: &str) {
        self.write(&diag::visible_json(text));
    }

    fn write(&mut self, text: &str) {
        if self.failed.is_some() {
            return;
        }
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            self.failed = Some(error);
        }
    }

    /// Writes a result for people to stdout and ends the line.
    pub(crate) fn line(&mut self, text: impl Display) {
        self.write_result(&format!("{text}\n"));
    }

    /// Writes to stderr. A failed write is ignored, because it cannot be reported anywhere.
    pub(crate) fn write_stderr(&self, text: &str) {
        let _ = io::stderr().write_all(escape(text).as_bytes());
    }

    /// Writes diagnostics to stderr. [`diag::draw`] has already escaped them.
    pub(crate) fn write_diagnostics(&self, text: &str) {
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// Writes a message to stderr, unless `--quiet` is set.
    pub(crate) fn write_message(&self, text: impl Display) {
        if !self.quiet {
            self.write_stderr(&format!("{text}\n"));
        }
    }

    /// Whether stderr is a terminal and stdin can answer.
    pub(crate) fn can_ask(&self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Whether stderr is a terminal that can redraw lines.
    pub(crate) fn is_watched(&self) -> bool {
        io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    /// Asks a yes-or-no question. Any answer but yes is no.
    pub(crate) fn confirm(&self, question: &str) -> bool {
        self.write_stderr(&format!("{} [y/N] ", self.err.bold(question)));
        let mut answer = String::new();
        let read = crate::signals::while_blocked(|| io::stdin().read_line(&mut answer));
        if !answer.ends_with('\n') {
            self.write_stderr("\n");
        }
        read.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
    }

    /// Returns an error if a write failed; a closed pipe is no error.
    pub(crate) fn finish(&mut self) -> Result<(), CommandError> {
        match self.failed.take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(CommandError::Machine {
                    what: "the output cannot be written",
                    source: error,
                })
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
            if std::env::var_os("CLICOLOR_FORCE")
                .is_some_and(|value| !value.is_empty() && value != "0") =>
        {
            true
        }
        ColorChoice::Auto => terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

/// The width of stderr in characters; 80 if it is unknown.
pub(crate) fn width() -> usize {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(io::stderr())
        && size.ws_col > 0
    {
        return usize::from(size.ws_col);
    }
    80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_styles_of_this_program_reach_a_terminal() {
        let paint = Paint { on: true };
        let text = format!(
            "{} \u{1b}[31mred\u{1b}[0m\u{9b}2J {}\n\tz",
            paint.red("a\u{1b}]0;t\u{7}"),
            paint.bold("b\u{202e}")
        );
        assert_eq!(
            escape(&text),
            "\u{1b}[31ma\\u{1b}]0;t\\u{7}\u{1b}[0m \\u{1b}[31mred\\u{1b}[0m\\u{9b}2J \u{1b}[1mb\\u{202e}\u{1b}[0m\n\tz"
        );
        assert_eq!(escape(&Paint { on: false }.red("plain")), "plain");
        assert_eq!(
            escape(&paint.red(paint.bold("error"))),
            "\u{1b}[31m\u{1b}[1merror\u{1b}[0m\u{1b}[0m"
        );
    }
}
