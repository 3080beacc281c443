//! `cyan test`: runs the cases of test files.

mod cases;
mod junit;
mod workers;

use std::path::PathBuf;
use std::sync::Arc;

use diag::Files;
use engine::testing::{document_of_test, read, test_files};
use engine::{Readers, json, read_text, write_whole};

use self::cases::{FinishedCase, LoadedTests};
use crate::arguments::{Global, Test};
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::out_file;
use crate::view::report::Report;

pub(crate) async fn run(
    arguments: Test,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    let named = match arguments.files.as_slice() {
        [] => vec![PathBuf::from(".")],
        files => files.to_vec(),
    };
    let paths = test_files(&named, &open::dialects())?;
    let (mut loaded, mut is_usable) = (Vec::new(), true);
    for path in &paths {
        match load(path, global, report) {
            Ok(Some(tests)) => loaded.push(Arc::new(tests)),
            Ok(None) => is_usable = false,
            Err(error) if paths.len() == 1 => return Err(error),
            Err(error) => {
                is_usable = false;
                report.error(&error);
            }
        }
    }
    let cases = selected(&loaded, &arguments.only)?;
    if let Some(path) = &arguments.junit {
        out_file::may_be_replaced(path, "report", |text| text.contains("<testsuites"))?;
    }
    let mut finished = Vec::new();
    for outcome in workers::run_all(cases, &report.installed).await? {
        match outcome {
            Ok(case) => finished.push(case),
            Err(error) => {
                is_usable = false;
                report.error(&error);
            }
        }
    }
    if let Some(path) = &arguments.junit {
        write_whole(path, &junit::xml(&finished), Readers::Kept)?;
    }
    let failed = finished
        .iter()
        .filter(|case| !case.failures.is_empty())
        .count();
    if is_usable || !finished.is_empty() || report.is_json() {
        show(&finished, failed, report);
    }
    Ok(match (is_usable, failed) {
        (false, _) => Exit::Unusable,
        (true, 0) => Exit::Done,
        (true, _) => Exit::Failed,
    })
}

/// Reads a test file and its document. Returns `None` if the file has mistakes, which are reported.
fn load(
    path: &std::path::Path,
    global: &Global,
    report: &mut Report,
) -> Result<Option<LoadedTests>, CommandError> {
    let text = read_text(path)?;
    let mut files = Files::new();
    let id = files.add(path.display().to_string(), text.clone());
    let (file, found) = read(id, &text);
    report.diagnostics(&found, &files);
    if found.has_errors() {
        return Ok(None);
    }
    let document = file.document.as_ref().map(|path| &*path.item);
    let source = document_of_test(path, document, &open::dialects())?;
    let config = open::configuration(global, &source.project_folder())?;
    report.configure(global, &config);
    Ok(Some(LoadedTests {
        path: path.to_owned(),
        files,
        file,
        source,
        config,
        options: open::options_of_case(global),
    }))
}

/// The cases to run, each as its file and its position.
///
/// # Errors
/// If no case has one of the texts in its name.
fn selected(
    loaded: &[Arc<LoadedTests>],
    only: &[String],
) -> Result<Vec<(Arc<LoadedTests>, usize)>, CommandError> {
    let mut all = Vec::new();
    for tests in loaded {
        for (at, case) in tests.file.cases.iter().enumerate() {
            let name = &case.name.item;
            if only.is_empty() || only.iter().any(|text| name.contains(text.as_str())) {
                all.push((tests.clone(), at));
            }
        }
    }
    if all.is_empty() && !only.is_empty() && !loaded.is_empty() {
        return Err(CommandError::Usage {
            message: format!("no case has `{}` in its name", only.join("` or `")),
            help: Some("name a part of the name of a case".to_owned()),
        });
    }
    Ok(all)
}

fn show(finished: &[FinishedCase], failed: usize, report: &mut Report) {
    let passed = finished.len() - failed;
    if report.is_json() {
        let cases = finished.iter().map(|case| json::TestedCase {
            file: case.file(),
            name: case.name(),
            took: case.took,
            failures: &case.failures,
            files: &case.tests.files,
        });
        report.set_result(json::tests(cases));
        return;
    }
    let paint = report.terminal.out;
    let mut text = String::new();
    for case in finished {
        for failure in &case.failures {
            let help = failure.help.iter().map(|help| format!(" ({help})"));
            text.push_str(&format!(
                "{} {} {}: {}{}\n",
                paint.red("failed"),
                case.place(failure),
                paint.bold(case.name()),
                diag::visible_line(&failure.message),
                help.collect::<String>(),
            ));
        }
    }
    if report.terminal.verbose {
        for case in finished {
            let failures = case.failures.iter().cloned().collect();
            report.diagnostics(&failures, &case.tests.files);
        }
    }
    text.push_str(&format!("{passed} passed, {failed} failed\n"));
    report.terminal.write_result(&text);
}
