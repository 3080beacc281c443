//! `cyan man`.

use std::path::Path;

use clap::CommandFactory as _;
use serde_json::json;

use crate::arguments::{Arguments, Man};
use crate::exit::{CommandError, Exit};
use crate::view::report::Report;

/// A manual page.
struct Page {
    /// The name of the page, such as `cyan-stage`.
    name: String,
    text: String,
}

pub(crate) fn run(arguments: Man, report: &mut Report) -> Result<Exit, CommandError> {
    let mut pages = pages();
    if let Some(folder) = &arguments.out {
        let files = write(&pages, folder)?;
        report.set_result(json!({"files": files}));
        if !report.is_json() {
            files.iter().for_each(|file| report.terminal.line(file));
        }
        return Ok(Exit::Done);
    }
    let name = match &arguments.command {
        None => "cyan".to_owned(),
        Some(command) => format!("cyan-{}", command.join("-")),
    };
    let Some(at) = pages.iter().position(|page| page.name == name) else {
        let known = pages
            .iter()
            .filter_map(|page| page.name.strip_prefix("cyan-"));
        let near = diag::nearest(name.strip_prefix("cyan-").unwrap_or(&name), known);
        return Err(CommandError::Usage {
            message: format!(
                "there is no command `{}`",
                arguments.command.unwrap_or_default().join(" ")
            ),
            help: near
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| Some("`cyan help` lists them".into())),
        });
    };
    let page = pages.swap_remove(at);
    report.set_result(json!({"page": page.name, "text": page.text}));
    if !report.is_json() {
        report.terminal.write_value(&page.text);
    }
    Ok(Exit::Done)
}

/// Returns a page for the program, and one for each visible command.
fn pages() -> Vec<Page> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    let mut open = vec![command];
    while let Some(command) = open.pop() {
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        open.extend(shown.cloned().collect::<Vec<_>>().into_iter().rev());
        let name = command
            .get_display_name()
            .unwrap_or(command.get_name())
            .to_owned();
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        let _ = clap_mangen::Man::new(command)
            .manual("Cyanotype")
            .render(&mut text);
        pages.push(Page {
            name,
            text: String::from_utf8_lossy(&text).into_owned(),
        });
    }
    pages
}

fn write(pages: &[Page], folder: &Path) -> Result<Vec<String>, CommandError> {
    let unwritable = |path: &Path, source| CommandError::Unwritable {
        name: path.display().to_string(),
        source,
    };
    std::fs::create_dir_all(folder).map_err(|source| unwritable(folder, source))?;
    let mut files = Vec::new();
    for page in pages {
        let path = folder.join(format!("{}.1", page.name));
        std::fs::write(&path, &page.text).map_err(|source| unwritable(&path, source))?;
        files.push(path.display().to_string());
    }
    Ok(files)
}
