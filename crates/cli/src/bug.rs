//! What is said when the program itself is wrong.

use std::io::Write as _;

/// From now on a panic prints a short report with what to send; the caller of the panicking code gives exit 70.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let what = match (panic.payload().downcast_ref::<&str>(), panic.payload().downcast_ref::<String>()) {
            (Some(text), _) => text,
            (None, Some(text)) => text.as_str(),
            (None, None) => "no words",
        };
        let place = panic.location().map(|place| format!("{}:{}", place.file(), place.line())).unwrap_or_default();
        let command = std::env::args().nth(1).filter(|word| !word.starts_with('-')).unwrap_or_default();
        // Nobody is left to tell if this cannot be written.
        let _ = writeln!(
            std::io::stderr(),
            "cyan has a bug, and has stopped. The state is as of the last step that was recorded; run the same command again to go on.\n\
             Please send these lines and, if you can, the document:\n\
             \n  cyan {} ({}, {})\n  command: {command}\n  at: {place}\n  said: {what}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH,
        );
    }));
}
