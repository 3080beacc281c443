//! Selection of blueprints and options (decisions/cartographer#selection). All requirements of a
//! selector must hold; the selector with most requirements wins, and equal ones win together.

use blueprint::{Name, Value};

use crate::compat::Compat;
use crate::fields;
use crate::kinds::CartoKind;
use crate::validation::{label_key_mistake, label_value_mistake};
use crate::views::OwnerView;

/// What was selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selected {
    /// No selector matches.
    None,
    /// One matches best.
    One(usize),
    /// Several match equally well, in the order in which they are given.
    Several(Vec<usize>),
}

/// The result of a selection. Positions are those of the candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// What was selected, without the selectors that cannot be evaluated.
    pub selected: Selected,
    /// The selectors that cannot be evaluated.
    pub refused: Vec<RefusedSelector>,
}

/// A selector that cannot be evaluated for an owner. Upstream selects nothing then.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedSelector {
    /// The position of its candidate.
    pub candidate: usize,
    /// What is wrong, as a lower-case phrase.
    pub message: String,
}

impl Selection {
    /// The positions of all that match best.
    pub fn matches(&self) -> &[usize] {
        match &self.selected {
            Selected::None => &[],
            Selected::One(at) => std::slice::from_ref(at),
            Selected::Several(all) => all,
        }
    }
}

/// Selects among blueprints, given as whole manifests. Blueprints for other kinds of owners never
/// match.
pub fn select_blueprint(owner: &Value, blueprints: &[&Value], compat: Compat) -> Selection {
    let kind = CartoKind::of(owner);
    let selectors = blueprints.iter().map(|blueprint| {
        let of_owner = CartoKind::of(blueprint).and_then(CartoKind::owner);
        let spec = blueprint.get("spec").unwrap_or(&Value::Null);
        (of_owner == kind).then(|| Requirements {
            labels: spec.get("selector"),
            expressions: spec.get("selectorMatchExpressions"),
            fields: spec.get("selectorMatchFields"),
        })
    });
    best(&Candidate::new(owner, compat), selectors)
}

/// What a resource is made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateChoice {
    /// The template with this name.
    Template(Name),
    /// No template: the input with this name is passed through.
    PassThrough(Name),
}

/// Why a resource has no template.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionFailure {
    /// The reason of the condition.
    pub class: OptionFailureClass,
    /// What is wrong, as a lower-case phrase.
    pub message: String,
    /// The options that it is about: those that match equally well, or those that cannot be
    /// evaluated.
    pub options: Vec<usize>,
}

/// The reasons why a resource has no template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionFailureClass {
    /// A selector cannot be evaluated.
    ResolveTemplateOptionsError,
    /// No option matches, or several do.
    TemplateOptionsMatchError,
}

impl OptionFailureClass {
    /// The reason as conditions state it.
    pub fn as_str(self) -> &'static str {
        match self {
            OptionFailureClass::ResolveTemplateOptionsError => "ResolveTemplateOptionsError",
            OptionFailureClass::TemplateOptionsMatchError => "TemplateOptionsMatchError",
        }
    }
}

/// Chooses the template of a resource, an entry of `resources` of a blueprint, for an owner. If the
/// resource has options, its own template name does not count.
pub fn choose_template(
    owner: &Value,
    resource: &Value,
    compat: Compat,
) -> Result<TemplateChoice, OptionFailure> {
    let reference = resource.get("templateRef").unwrap_or(&Value::Null);
    let options = reference.get("options").and_then(Value::as_list);
    let Some(options) = options.filter(|options| !options.is_empty()) else {
        return Ok(TemplateChoice::Template(name_of(reference, "name")));
    };
    let selectors = options.iter().map(|option| {
        let selector = option.get("selector").unwrap_or(&Value::Null);
        Some(Requirements {
            labels: selector.get("matchLabels"),
            expressions: selector.get("matchExpressions"),
            fields: selector.get("matchFields"),
        })
    });
    let selection = best(&Candidate::new(owner, compat), selectors);
    if let Some(refused) = selection.refused.first() {
        return Err(OptionFailure {
            class: OptionFailureClass::ResolveTemplateOptionsError,
            message: refused.message.clone(),
            options: selection
                .refused
                .iter()
                .map(|refused| refused.candidate)
                .collect(),
        });
    }
    let matches = selection.matches();
    match matches {
        [at] => {
            let option = options.get(*at).unwrap_or(&Value::Null);
            let passed = name_of(option, "passThrough");
            Ok(if passed.is_empty() {
                TemplateChoice::Template(name_of(option, "name"))
            } else {
                TemplateChoice::PassThrough(passed)
            })
        }
        _ => Err(OptionFailure {
            class: OptionFailureClass::TemplateOptionsMatchError,
            message: no_choice(matches, options),
            options: matches.to_vec(),
        }),
    }
}

fn no_choice(matches: &[usize], options: &[Value]) -> String {
    if matches.is_empty() {
        return "no option matches".to_owned();
    }
    let names: Vec<String> = matches
        .iter()
        .filter_map(|at| options.get(*at))
        .map(|option| match name_of(option, "name") {
            name if name.is_empty() => format!("`{}`", name_of(option, "passThrough")),
            name => format!("`{name}`"),
        })
        .collect();
    format!("the options {} match equally well", names.join(", "))
}

fn name_of(object: &Value, key: &str) -> Name {
    match object.get(key).map(Value::unmarked) {
        Some(Value::Text(name)) => name.clone(),
        _ => Name::from(""),
    }
}

/// The parts of a selector.
struct Requirements<'a> {
    labels: Option<&'a Value>,
    expressions: Option<&'a Value>,
    fields: Option<&'a Value>,
}

impl<'a> Requirements<'a> {
    fn labels(&self) -> impl Iterator<Item = (&'a Name, &'a Value)> {
        let entries = self.labels.and_then(Value::as_map);
        entries.into_iter().flat_map(|entries| entries.iter())
    }

    fn expressions(&self) -> &'a [Value] {
        self.expressions
            .and_then(Value::as_list)
            .unwrap_or_default()
    }

    fn fields(&self) -> &'a [Value] {
        self.fields.and_then(Value::as_list).unwrap_or_default()
    }

    fn count(&self) -> usize {
        self.labels().count() + self.expressions().len() + self.fields().len()
    }
}

/// An owner that selectors are tried on.
struct Candidate {
    labels: Value,
    view: OwnerView,
    compat: Compat,
}

/// The best of the selectors, `None` for a candidate that does not take part.
fn best<'a>(
    owner: &Candidate,
    selectors: impl Iterator<Item = Option<Requirements<'a>>>,
) -> Selection {
    let mut best = Vec::new();
    let mut most = 1;
    let mut refused = Vec::new();
    for (at, selector) in selectors.enumerate() {
        let Some(selector) = selector else {
            continue;
        };
        match owner.satisfies(&selector) {
            Ok(false) => {}
            Ok(true) => {
                let count = selector.count();
                if count > most {
                    most = count;
                    best.clear();
                }
                if count == most {
                    best.push(at);
                }
            }
            Err(message) => refused.push(RefusedSelector {
                candidate: at,
                message,
            }),
        }
    }
    let selected = match best.as_slice() {
        [] => Selected::None,
        [one] => Selected::One(*one),
        _ => Selected::Several(best),
    };
    Selection { selected, refused }
}

impl Candidate {
    fn new(owner: &Value, compat: Compat) -> Candidate {
        let labels = owner
            .get("metadata")
            .and_then(|metadata| metadata.get("labels"));
        Candidate {
            labels: labels.cloned().unwrap_or_default(),
            view: OwnerView::new(owner),
            compat,
        }
    }

    /// Whether the owner satisfies all requirements; an error says why nobody can tell. Fields are
    /// looked at only if the labels fit.
    fn satisfies(&self, selector: &Requirements<'_>) -> Result<bool, String> {
        let mut fits = true;
        for (key, value) in selector.labels() {
            let value = text(value).ok_or("the value of a label is not a text")?;
            check_key(key)?;
            check_value(value)?;
            fits &= self.label(key)? == Some(value);
        }
        for expression in selector.expressions() {
            fits &= self.satisfies_expression(expression)?;
        }
        if !fits {
            return Ok(false);
        }
        for requirement in selector.fields() {
            if !self.satisfies_field(requirement)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn label(&self, key: &str) -> Result<Option<&str>, String> {
        match self.labels.get(key) {
            None if self.labels.is_unknown() => Err("the labels are not known yet".to_owned()),
            Some(value) if value.is_unknown() => Err(format!("the label `{key}` is not known yet")),
            other => Ok(other.and_then(Value::as_text)),
        }
    }

    fn satisfies_expression(&self, expression: &Value) -> Result<bool, String> {
        let key = expression.get("key").and_then(text).unwrap_or_default();
        let operator = expression
            .get("operator")
            .and_then(text)
            .unwrap_or_default();
        let values = expression
            .get("values")
            .and_then(Value::as_list)
            .unwrap_or_default();
        check_key(key)?;
        for value in values {
            check_value(text(value).unwrap_or_default())?;
        }
        let takes_values = matches!(operator, "In" | "NotIn");
        if takes_values == values.is_empty() {
            return Err(match takes_values {
                true => format!("the operator `{operator}` needs values"),
                false => format!("the operator `{operator}` takes no values"),
            });
        }
        let label = self.label(key)?;
        let is_listed = || values.iter().any(|value| label == text(value));
        match operator {
            "In" => Ok(label.is_some() && is_listed()),
            "NotIn" => Ok(label.is_none() || !is_listed()),
            "Exists" => Ok(label.is_some()),
            "DoesNotExist" => Ok(label.is_none()),
            _ => Err(format!("`{operator}` is not an operator")),
        }
    }

    fn satisfies_field(&self, requirement: &Value) -> Result<bool, String> {
        let key = requirement.get("key").and_then(text).unwrap_or_default();
        fields::satisfies(requirement, self.without_owner(key), |path| {
            self.view.find(path)
        })
    }

    /// A key may start with the name of the owner, as the specification has it; upstream reads that
    /// as a field of the owner.
    fn without_owner<'a>(&self, key: &'a str) -> &'a str {
        if self.compat.is_upstream() {
            return key;
        }
        ["workload.", "deliverable."]
            .iter()
            .find_map(|prefix| key.strip_prefix(prefix))
            .unwrap_or(key)
    }
}

fn text(value: &Value) -> Option<&str> {
    value.as_text()
}

fn check_key(key: &str) -> Result<(), String> {
    match label_key_mistake(key) {
        Some(why) => Err(format!("`{key}` is not a valid key of a label: {why}")),
        None => Ok(()),
    }
}

fn check_value(value: &str) -> Result<(), String> {
    match label_value_mistake(value) {
        Some(why) => Err(format!("`{value}` is not a valid value of a label: {why}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
