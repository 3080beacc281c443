//! Asks providers about the values of inputs: whether the cloud has the flavor that a parameter names,
//! for example.
//!
//! A value that the provider refuses is an error at the default, at the expression that passes it to
//! a child, or else at the declaration. If the provider cannot be asked, the note stays that the
//! value was not checked: what needs the cloud reports why.
//!
//! A spec that reads such an input is not reported as well.
//!
//! Not here: which questions a value raises (the dialects).

use blueprint::{ExprKind, Input, Name, ReferenceHead, TypeId, Value};
use diag::{Diagnostic, Diagnostics, Span};
use dialect::codes::VALUE_CONSTRAINT;
use dialect::rules::InputQuestion;
use evaluate::resolve::inputs::Given;
use evaluate::resolve::{Evaluation, Slot};
use evaluate::world::World;
use expr::{Arguments, CallConfiguration, Purity};
use futures::future::join_all;
use provider::{Catalogs, ErrorKind, InvokeRequest, TypeRef};
use understand::check::codes::REJECTED_BY_PROVIDER;

/// An input whose value is known.
struct AskedInput<'a> {
    unit: u32,
    /// The unit with the place of an error.
    placed_in: u32,
    name: &'a Name,
    input: &'a Input,
    value: &'a Value,
    /// The place of an error.
    place: Span,
    /// The place of the note that the value was not checked.
    noted: Span,
}

/// The answer to a question.
enum InputAnswer {
    Fits,
    /// The value does not fit, for this reason.
    Refused(String),
    /// The provider cannot tell.
    Open,
}

/// Asks about all known inputs of a root and its children. A note that a value was not checked goes
/// when it was. The evaluation has come to its end.
pub(crate) async fn ask_about_inputs(
    evaluation: &Evaluation,
    given: &Given,
    catalogs: &Catalogs,
    world: &dyn World,
    found: &mut Diagnostics,
) {
    let all = root_inputs(evaluation, given).chain(child_inputs(evaluation));
    let all = all.map(|asked| async move {
        let rules = &evaluation.documents.unit(asked.unit).checked.rules;
        let questions = rules.inputs.questions(asked.name, asked.input, asked.value);
        let note = questions.first().map(|question| question.note);
        let answers = questions.iter();
        let unit = asked.unit;
        let answers = answers.map(|it| answer(evaluation, unit, it, catalogs, world));
        let answers = join_all(answers).await;
        (asked, note, answers)
    });
    for (asked, note, answers) in join_all(all).await {
        let is_open = answers.iter().any(|it| matches!(it, InputAnswer::Open));
        if let Some(note) = note.filter(|_| !is_open) {
            found.retain(|one| one.code.name != note.name || one.span() != asked.noted);
        }
        for answer in answers {
            if let InputAnswer::Refused(why) = answer {
                let readers = readers(evaluation, &asked);
                found.retain(|one| !is_repeated(one, &readers, &why));
                found.append(refused(evaluation, &asked, &why));
            }
        }
    }
}

fn root_inputs<'a>(
    evaluation: &'a Evaluation,
    given: &'a Given,
) -> impl Iterator<Item = AskedInput<'a>> {
    let inputs = evaluation.documents.root().blueprint().inputs.iter();
    let known = inputs.zip(&evaluation.inputs);
    let known = known.filter(|(_, value)| !value.has_unknown());
    known.map(|((name, input), value)| {
        let typed = given.typed.get(name).is_some_and(|value| !value.is_null());
        let default = input.default.as_ref();
        let default = default.filter(|_| !typed && !given.text.contains_key(name));
        AskedInput {
            unit: 0,
            placed_in: 0,
            name,
            input,
            value,
            place: default.map_or(input.span, |default| default.span),
            noted: input.span,
        }
    })
}

fn child_inputs(evaluation: &Evaluation) -> impl Iterator<Item = AskedInput<'_>> {
    let settled = (0_u32..).zip(&evaluation.passed_inputs);
    settled.filter_map(|(number, slot)| {
        let Slot::Value(value) = slot else {
            return None;
        };
        let passed = evaluation.documents.passed_input(number)?;
        let given = passed.given.map(|given| given.span);
        let default = passed.input.default.as_ref().map(|default| default.span);
        Some(AskedInput {
            unit: passed.unit,
            placed_in: match given.or(default) {
                Some(_) if given.is_none() => passed.unit,
                _ => passed.above,
            },
            name: passed.name,
            input: passed.input,
            value,
            place: given.or(default).unwrap_or(passed.include),
            noted: given.unwrap_or(passed.include),
        })
    })
}

/// The provider's answer to a question.
async fn answer(
    evaluation: &Evaluation,
    unit: u32,
    question: &InputQuestion,
    catalogs: &Catalogs,
    world: &dyn World,
) -> InputAnswer {
    let id = TypeId::parse(question.function);
    let TypeRef::Known(declared) = catalogs.package_function(&id) else {
        return InputAnswer::Open;
    };
    let Purity::Provider { namespace, name } = &declared.purity else {
        return InputAnswer::Open;
    };
    let Ok(instance) = evaluation.instance_of_call(unit, namespace, &CallConfiguration::Inherited)
    else {
        return InputAnswer::Open;
    };
    let folder = evaluation.documents.folder_seen_from_root(unit);
    let request = InvokeRequest {
        function: name,
        arguments: &Arguments::Positional(question.arguments.clone()),
        preview: true,
    };
    let answer = world.invoke(namespace, instance.as_ref(), &folder, request);
    match answer.await {
        Ok(_) => InputAnswer::Fits,
        Err(error) if error.kind == ErrorKind::Document => InputAnswer::Refused(error.message),
        Err(_) => InputAnswer::Open,
    }
}

/// The places in specs that are the value of an input.
fn readers(evaluation: &Evaluation, asked: &AskedInput<'_>) -> Vec<Span> {
    let mut places = Vec::new();
    let resources = evaluation.documents.unit(asked.unit).blueprint();
    for resource in resources.resources.values() {
        resource.spec.walk(&mut |expr| {
            if let ExprKind::Ref(reference) = &expr.kind
                && reference.head == ReferenceHead::Input(asked.name.clone())
            {
                places.push(expr.span);
            }
        });
    }
    places
}

/// Whether a diagnostic says of a spec what is said of the input that the spec reads.
fn is_repeated(one: &Diagnostic, readers: &[Span], why: &str) -> bool {
    one.code.name == REJECTED_BY_PROVIDER.name
        && readers.contains(&one.span())
        && one.labels.iter().any(|label| label.text == why)
}

/// The diagnostic for a value that a provider refuses.
fn refused(evaluation: &Evaluation, asked: &AskedInput<'_>, why: &str) -> Diagnostics {
    let name = asked.name;
    let message = format!("the value of `{name}` does not fit");
    // The reason shows the value.
    let is_secret = asked.input.secret || asked.value.has_secret();
    let diagnostic = VALUE_CONSTRAINT.new(match is_secret {
        true => message,
        false => format!("{message}: {why}"),
    });
    let mut found = Diagnostics::new();
    found.push(match asked.place.is_some() {
        true => diagnostic.label(asked.place, "this names no object"),
        false => diagnostic,
    });
    let documents = &evaluation.documents;
    documents.add_trails(asked.placed_in, &mut found);
    found
}
