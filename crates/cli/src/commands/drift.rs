//! `cyan drift`.

use engine::{Drift as How, Drifted};
use engine::{DriftReport, json};

use crate::arguments::{Drift, Global, LockArguments, Refresh};
use crate::commands::refresh;
use crate::exit::{CommandError, Exit};
use crate::open;
use crate::view::changes;
use crate::view::drawing::Drawing;
use crate::view::label::Margin;
use crate::view::report::Report;

pub(crate) async fn run(
    arguments: Drift,
    global: &Global,
    report: &mut Report,
) -> Result<Exit, CommandError> {
    if arguments.accept {
        let arguments = Refresh {
            selection: arguments.selection,
            target: arguments.target,
            consent: arguments.consent,
            lock: LockArguments::default(),
        };
        return refresh::run(arguments, global, report).await;
    }
    let selection = &arguments.selection;
    let (session, instance) =
        open::session_and_instance(selection.file.as_deref(), &selection.flag, global, report)
            .await?;
    let drift = session.drift(&instance, &arguments.target).await?;
    let DriftReport {
        scan,
        found,
        snapshot,
        is_held,
    } = &drift;
    report.diagnostics(&found.diagnostics, &found.files);
    let [drifted, vanished] = drift.counts();
    let all = &scan.drifted;
    if report.is_json() {
        report.set_result(json::drift(&instance, &drift));
    } else {
        let mut text = String::new();
        let drawing = Drawing::on(&report.terminal);
        for one in all {
            show(&mut text, one, drawing);
        }
        text.push_str(&changes::unread(
            &scan.unread,
            "whether it has drifted is not known",
        ));
        for address in snapshot.open.keys() {
            report.terminal.write_message(match is_held {
                true => format!("{address}: an operation is running and works on it"),
                false => format!(
                    "{address}: an earlier operation was cut off here; `cyan stage` reads the outcome"
                ),
            });
        }
        text.push_str(&format!("{drifted} drifted, {vanished} vanished\n"));
        report.terminal.write_result(&text);
    }
    Ok(
        match (
            found.diagnostics.has_errors(),
            arguments.exit_code && !all.is_empty(),
        ) {
            (true, _) => Exit::Unusable,
            (false, true) => Exit::Differences,
            (false, false) => Exit::Done,
        },
    )
}

fn show(text: &mut String, drifted: &Drifted, drawing: Drawing) {
    let paint = drawing.paint;
    let Drifted {
        address,
        type_name,
        drift: how,
    } = drifted;
    let (sign, word) = match how {
        How::Differs(_) => (paint.yellow("~"), "drifted".to_owned()),
        How::Expired(why) => (paint.yellow("~"), format!("drifted: {why}")),
        How::Vanished => (paint.red("-"), "vanished".to_owned()),
    };
    text.push_str(&format!(
        "{sign} {} {} {word}\n",
        paint.bold(address),
        paint.dim(type_name)
    ));
    if let How::Differs(list) = how {
        changes::write_all(text, list, &Margin::new("    "), drawing);
        text.push('\n');
    }
}
