//! `cyan drift`.

use blueprint::{Address, IndexMap, Name};
use diag::{Diagnostics, Files};
use engine::plan_file::hidden;
use engine::{Change, Drift as How, Drifted, Options, Surgery};
use serde_json::{Value as Json, json};

use crate::arguments::{Drift, Global};
use crate::commands::destroy::from_state;
use crate::commands::stage::{described, recorded_namespaces};
use crate::exit::{CommandError, Exit};
use crate::identity::chosen;
use crate::setup::raise_warnings;
use crate::terminal::Paint;
use crate::view::changes;
use crate::view::report::Report;

pub(crate) async fn run(arguments: Drift, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    if arguments.accept {
        return accept(arguments, global, report).await;
    }
    let (setup, instance) = chosen(arguments.meant.file.as_deref(), &arguments.meant.which, global, report).await?;
    let snapshot = setup.reading().load(&instance).await?;
    described(&setup, &snapshot)?;
    let recorded = recorded_namespaces(&setup.global.offer, &snapshot);
    let mut registry = setup.global.offer.registry(|namespace| recorded.iter().any(|recorded| recorded == namespace));
    registry.open_world(&setup.place)?;
    let shell = setup.shell(&registry, &instance, setup.root_of(&snapshot))?;
    let mut found = Diagnostics::new();
    let mut looked = engine::drift(&snapshot, &registry.catalogs, &shell, &mut found).await;
    engine::only(&mut looked, &arguments.target, &snapshot, &mut found);
    raise_warnings(setup.global.strict, &mut found);
    report.diagnostics(&found, &Files::new());
    let all = &looked.drifted;
    let vanished = all.iter().filter(|drifted| drifted.how == How::Vanished).count();
    let drifted = all.len() - vanished;
    if report.is_json() {
        let list: Vec<Json> = all.iter().map(to_json).collect();
        let unread = unread_json(&looked.unread);
        report.set_result(
            json!({"instance": instance, "drifted": drifted, "vanished": vanished, "things": list, "unread": unread}),
        );
    } else {
        let mut text = String::new();
        for one in all {
            show(&mut text, one, report.terminal.out);
        }
        text.push_str(&changes::unread(&looked.unread, "whether it has drifted is not known"));
        for address in snapshot.open.keys() {
            report
                .terminal
                .say(format!("{address}: an earlier operation was cut off here; `cyan stage` looks what became of it"));
        }
        text.push_str(&format!("{drifted} drifted, {vanished} vanished\n"));
        report.terminal.data(&text);
    }
    Ok(match (found.has_errors(), arguments.exit_code && !all.is_empty()) {
        (true, _) => Exit::Unusable,
        (false, true) => Exit::Differences,
        (false, false) => Exit::Done,
    })
}

/// Takes what was seen into the state: shown, asked for, recorded.
async fn accept(arguments: Drift, global: &Global, report: &mut Report) -> Result<Exit, CommandError> {
    let options = Options { surgery: Some(Surgery::AcceptDrift), targets: arguments.target, ..Options::default() };
    from_state(&arguments.meant, options, &arguments.consent.into(), global, report).await
}

fn show(text: &mut String, drifted: &Drifted, paint: Paint) {
    let Drifted { address, type_name, how } = drifted;
    let (sign, word) = match how {
        How::Differs(_) => (paint.yellow("~"), "drifted".to_owned()),
        How::Expired(why) => (paint.yellow("~"), format!("drifted: {why}")),
        How::Vanished => (paint.red("-"), "vanished".to_owned()),
    };
    text.push_str(&format!("{sign} {} {} {word}\n", paint.bold(address), paint.dim(type_name)));
    if let How::Differs(list) = how {
        for change in list {
            changes::change(text, change, "    ", paint);
        }
        text.push('\n');
    }
}

/// What could not be read, and why.
pub(crate) fn unread_json(unread: &IndexMap<Address, Name>) -> Json {
    unread.iter().map(|(address, why)| json!({"address": address, "why": why})).collect()
}

pub(crate) fn to_json(drifted: &Drifted) -> Json {
    let (how, changes, why) = match &drifted.how {
        How::Differs(list) => ("drifted", list.iter().map(change_json).collect(), None),
        How::Expired(why) => ("drifted", Vec::new(), Some(why)),
        How::Vanished => ("vanished", Vec::new(), None),
    };
    json!({"address": drifted.address, "type": drifted.type_name, "how": how, "why": why, "changes": changes})
}

fn change_json(change: &Change) -> Json {
    json!({"path": change.path, "before": change.before.as_ref().map(hidden), "after": change.after.as_ref().map(hidden)})
}
