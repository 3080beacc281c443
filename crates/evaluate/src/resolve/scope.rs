//! Resolves names in the expressions of a document.

use std::borrow::Cow;
use std::sync::Arc;

use blueprint::{AccessorKind, Address, Expr, Map, Ref, ReferenceHead, Type, Value};
use diag::{Diagnostic, Diagnostics, Span};
use dialect::Absence;
use expr::{
    Ask, AskFailure, CallConfiguration, EvaluationStop, FunctionDef, Purity, ResolvedHead, Scope,
};
use provider::{Attribute, Attributes, ResourceType};
use state::Memoised;

use crate::codes;
use crate::question::ProviderInstance;
use understand::documents::{Documents, NumberedKind};
use understand::secret_marks::has_sensitive;

use super::{
    Evaluation, ExpressionSite, Halt, Member, Members, Need, NoProviderInstance, OfflineFile,
    Outputs, Slot, site_of, unknown_of,
};

/// An evaluation from the view of one expression.
pub(super) struct Frame<'a> {
    pub evaluation: &'a mut Evaluation,
    /// The context of the expression.
    pub site: ExpressionSite<'a>,
    /// The question that must be answered before the expression has a value.
    pub need: Option<Need>,
}

impl Evaluation {
    /// Returns the value of an expression.
    pub fn value(
        &mut self,
        site: ExpressionSite<'_>,
        expr: &Expr,
        found: &mut Diagnostics,
    ) -> Result<Value, Halt> {
        if self.meter.is_exceeded() {
            return Err(Halt::Failed);
        }
        let functions = self.functions.clone();
        let functions = functions.of(self.documents.unit(site.unit).blueprint().dialect);
        let mut frame = Frame {
            evaluation: self,
            site,
            need: None,
        };
        let outcome = expr::evaluate(expr, functions, &mut frame, found);
        let need = frame.need.take();
        match outcome {
            Ok(value) => Ok(value),
            Err(_) if need.is_some() => Err(need.map_or(Halt::Failed, Halt::Need)),
            Err(EvaluationStop::Ask(asks)) => {
                Err(Halt::Need(Need::Ask(site.unit, site.owner.into(), asks)))
            }
            Err(EvaluationStop::Failed(diagnostic)) => {
                found.push(*diagnostic);
                Err(Halt::Failed)
            }
            Err(EvaluationStop::Absent(diagnostic)) => Err(Halt::Absent(diagnostic)),
            Err(EvaluationStop::Reported) => Err(Halt::Failed),
        }
    }
}

fn whole(value: Value) -> ResolvedHead {
    ResolvedHead { value, used: 0 }
}

fn absent(span: Span, message: String, why: String) -> EvaluationStop {
    let diagnostic: Diagnostic = expr::codes::ABSENT_ELEMENT
        .new(message)
        .label(span, why)
        .help(
            "guard it with `coalesce(..)` or `if(..)`, or put the reader under the same condition",
        );
    EvaluationStop::Absent(Box::new(diagnostic))
}

impl Frame<'_> {
    /// A fact about the run or the document that only lowered expressions read.
    fn fact(&self, fact: &str, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let unit = self.evaluation.documents.unit(self.site.unit);
        match fact {
            "instance" => Ok(whole(Value::Text(self.evaluation.instance.clone()))),
            "urn" => {
                let of = reference.path.first().map(|step| &step.kind);
                let Some(AccessorKind::Name(name)) = of else {
                    return Err(EvaluationStop::Reported);
                };
                let resource = unit.blueprint().resources.get(name);
                let resource = resource.ok_or(EvaluationStop::Reported)?;
                let instance = &self.evaluation.instance;
                let documents = &self.evaluation.documents;
                let urn = documents.urn_of(unit, name, resource, instance);
                Ok(ResolvedHead {
                    value: Value::Text(urn),
                    used: 1,
                })
            }
            "unit" => Ok(whole(Value::list(
                unit.path.iter().map(|name| Value::Text(name.clone())),
            ))),
            "address" => {
                let above = [self.evaluation.instance.as_ref()].into_iter();
                let path: Vec<&str> = above
                    .chain(unit.path.iter().map(|name| name.as_ref()))
                    .collect();
                Ok(whole(Value::text(path.join("/"))))
            }
            "facade" => Ok(whole(Value::Null)),
            // The other heads belong to link kinds.
            _ => Err(EvaluationStop::Reported),
        }
    }
}

impl Scope for Frame<'_> {
    fn read(&mut self, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let documents = self.evaluation.documents.clone();
        let unit = documents.unit(self.site.unit);
        let blueprint = unit.blueprint();
        let span = reference.head_span;
        match &reference.head {
            ReferenceHead::Item => self
                .site
                .item
                .map(|(item, _)| whole(item.clone()))
                .ok_or(EvaluationStop::Reported),
            ReferenceHead::Position => self
                .site
                .item
                .map(|(_, at)| whole(Value::Int(i64::from(*at))))
                .ok_or(EvaluationStop::Reported),
            ReferenceHead::Input(name) => {
                let at = blueprint
                    .inputs
                    .get_index_of(name)
                    .ok_or(EvaluationStop::Reported)?;
                if unit.parent.is_some() {
                    return match &self.evaluation.passed_inputs
                        [unit.number(NumberedKind::Input, at) as usize]
                    {
                        Slot::Value(value) | Slot::Partial(value) => Ok(whole(value.clone())),
                        Slot::Open | Slot::Failed | Slot::Absent => Err(EvaluationStop::Reported),
                    };
                }
                self.evaluation
                    .inputs
                    .get(at)
                    .cloned()
                    .map(whole)
                    .ok_or(EvaluationStop::Reported)
            }
            ReferenceHead::Local(name) => {
                let at = blueprint
                    .locals
                    .get_index_of(name)
                    .ok_or(EvaluationStop::Reported)?;
                match &self.evaluation.locals[unit.local(at) as usize] {
                    Slot::Value(value) | Slot::Partial(value) => Ok(whole(value.clone())),
                    Slot::Absent => Err(EvaluationStop::Reported),
                    Slot::Open | Slot::Failed => Err(EvaluationStop::Reported),
                }
            }
            ReferenceHead::DataSource(name) => {
                let at = blueprint
                    .data_sources
                    .get_index_of(name)
                    .ok_or(EvaluationStop::Reported)?;
                let number = unit.data_source(at);
                match &self.evaluation.data[number as usize] {
                    Slot::Value(value) | Slot::Partial(value) => self.data_field(value, reference),
                    Slot::Open if self.evaluation.offline => Ok(ResolvedHead {
                        value: Value::unknown(None, None),
                        used: reference.path.len(),
                    }),
                    Slot::Open => {
                        self.need = Some(Need::Fetch(number));
                        Err(EvaluationStop::Reported)
                    }
                    Slot::Failed | Slot::Absent => Err(EvaluationStop::Reported),
                }
            }
            ReferenceHead::Resource { name, .. } => {
                let at = blueprint
                    .resources
                    .get_index_of(name)
                    .ok_or(EvaluationStop::Reported)?;
                let ty = unit.checked.resource_types.get(at).cloned().flatten();
                match &self.evaluation.resources[unit.resource(at) as usize] {
                    Members::Open | Members::Failed => Err(EvaluationStop::Reported),
                    Members::Absent => {
                        let stop = absent(
                            span,
                            format!("`{name}` is not there"),
                            "its condition is false".to_owned(),
                        );
                        Err(match (unit.checked.rules.references.absence(), stop) {
                            // In a dialect without guards, reading an absent element is an ordinary
                            // error.
                            (Absence::Mistake(code), EvaluationStop::Absent(mut diagnostic)) => {
                                diagnostic.code = code;
                                let mistake = dialect::Mistake::Absent(name);
                                diagnostic.native_message =
                                    unit.checked.rules.messages.of(&mistake).map(Box::new);
                                EvaluationStop::Failed(diagnostic)
                            }
                            (_, stop) => stop,
                        })
                    }
                    Members::Single(member) => read_member(member, ty.as_deref(), reference, 0),
                    Members::Many(members) => {
                        let Some(accessor) = reference.path.first() else {
                            return Err(EvaluationStop::Reported);
                        };
                        let AccessorKind::Index(index) = accessor.kind else {
                            return Err(EvaluationStop::Reported);
                        };
                        match members.get(index as usize) {
                            Some(Some(member)) => read_member(member, ty.as_deref(), reference, 1),
                            Some(None) => Err(absent(
                                span,
                                format!("`{name}[{index}]` is not there"),
                                "its condition is false".to_owned(),
                            )),
                            None => {
                                let count = match members.len() {
                                    0 => "there are none".to_owned(),
                                    1 => "there is only one".to_owned(),
                                    many => format!("there are {many}"),
                                };
                                Err(EvaluationStop::from(
                                    expr::codes::INDEX_OUT_OF_RANGE
                                        .new(format!("`{name}` has no member at position {index}"))
                                        .label(accessor.span, count),
                                ))
                            }
                        }
                    }
                }
            }
            ReferenceHead::Child(name) => self.export(name, &reference.path),
            ReferenceHead::Scoped(fact) => self.fact(fact, reference),
        }
    }

    fn answer(&mut self, ask: &Ask) -> Option<Result<Value, AskFailure>> {
        if self.evaluation.offline {
            if let Ask::File { path, .. } = ask {
                let unit = self.site.unit;
                let key = bytes_key(&self.evaluation.documents, unit, path);
                if let Some(failure) = self.evaluation.refused.get(key.as_ref()) {
                    return Some(Err(failure.clone()));
                }
                let file = OfflineFile {
                    key: key.into_owned().into(),
                    unit,
                    path: path.clone(),
                };
                self.evaluation.offline_files.push(file);
            }
            let function = self.evaluation.declared_function(self.site.unit, ask);
            let rehearsed = function.and_then(|function| function.rehearsed.clone());
            return Some(Ok(rehearsed.unwrap_or_else(|| Value::unknown(None, None))));
        }
        let answers = &self.evaluation.answers;
        let refused = &self.evaluation.refused;
        let bytes = |key: &str| match answers.bytes.get(key) {
            Some(pinned) => Some(Ok(pinned.value.clone())),
            None => refused.get(key).cloned().map(Err),
        };
        match ask {
            Ask::WorkingDirectory => Some(match &answers.working_directory {
                Some(folder) => Ok(Value::Text(folder.clone())),
                None => Err(AskFailure {
                    code: &expr::codes::NO_WORKING_DIRECTORY,
                    message: "there is no working directory to take".into(),
                    notes: Vec::new(),
                }),
            }),
            Ask::File { path, .. } => {
                bytes(&bytes_key(&self.evaluation.documents, self.site.unit, path))
            }
            Ask::Http { url } => bytes(url),
            Ask::Memoised {
                path,
                nth,
                fingerprint,
                ..
            } => {
                let site = site_of(self.site.owner, path, *nth);
                let known = answers
                    .memoised
                    .get(&site)
                    .filter(|known| known.fingerprint == *fingerprint);
                let value = known.map(|Memoised { value, .. }| value.clone());
                let failed = refused.get(&site).cloned();
                if value.is_some() {
                    self.evaluation
                        .sites
                        .entry(self.site.owner.into())
                        .or_default()
                        .insert(site);
                }
                value.map(Ok).or(failed.map(Err))
            }
            Ask::Provider {
                namespace,
                configuration,
                ..
            } => {
                let unit = self.site.unit;
                let instance =
                    match self
                        .evaluation
                        .instance_of_call(unit, namespace, configuration)
                    {
                        Ok(instance) => instance,
                        Err(NoProviderInstance(Some(why))) => {
                            let Diagnostic { code, message, .. } = *why;
                            return Some(Err(AskFailure {
                                code,
                                message,
                                notes: Vec::new(),
                            }));
                        }
                        // The configuration has an error, which is already reported.
                        Err(NoProviderInstance(None)) => {
                            return Some(Ok(Value::unknown(None, None)));
                        }
                    };
                if let Some(waits_for) = instance.as_ref().and_then(waits_for_settings) {
                    let function = self.evaluation.declared_function(unit, ask);
                    return Some(Ok(match function {
                        Some(function) => function.returns.unknown(waits_for),
                        None => Value::unknown(None, waits_for.into_iter().next()),
                    }));
                }
                let address = instance.map(|instance| instance.address);
                let key = call_key(&answers.salt, address.as_ref(), ask);
                match answers.calls.get(key.as_str()) {
                    Some(value) => Some(Ok(value.clone())),
                    None => refused.get(key.as_str()).cloned().map(Err),
                }
            }
        }
    }

    fn package_function(&mut self, name: &str) -> Option<Arc<FunctionDef>> {
        let unit = self.evaluation.documents.unit(self.site.unit);
        unit.checked.package_functions.get(name).cloned()
    }

    fn meter(&mut self) -> Option<&mut expr::Meter> {
        Some(&mut self.evaluation.meter)
    }

    fn link(&mut self, a: &str, b: &str) -> Result<Value, EvaluationStop> {
        self.evaluation.link_named(self.site.unit, a, b)
    }
}

/// The key under which the bytes of a file are stored: its path, after the document's folder if
/// that is not the root's.
pub(crate) fn bytes_key<'p>(documents: &Documents, unit: u32, path: &'p str) -> Cow<'p, str> {
    let folder = &documents.unit(unit).folder;
    if *folder == documents.root().folder {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(format!("{folder}|{path}"))
    }
}

/// What unknown settings of a configuration wait for; `None` if all are known.
fn waits_for_settings(instance: &ProviderInstance) -> Option<Vec<Address>> {
    if !instance.settings.has_unknown() {
        return None;
    }
    let mut waits_for = vec![instance.address.clone()];
    instance.settings.waits_for(&mut waits_for);
    Some(waits_for)
}

/// The key under which the answer of a provider function is stored. `instance` is the resource that
/// declares the configuration of the provider. Empty for other questions.
pub(crate) fn call_key(salt: &str, instance: Option<&Address>, ask: &Ask) -> String {
    let Ask::Provider {
        namespace,
        function,
        arguments,
        ..
    } = ask
    else {
        return String::new();
    };
    let text = serde_json::to_vec(&arguments.revealed()).unwrap_or_default();
    let configured = match instance {
        Some(address) => format!("{address}/"),
        None => String::new(),
    };
    // A question with a secret argument has a key of its own, because its answer is stored as a
    // secret.
    if arguments.has_secret() {
        return format!(
            "{namespace}/{function}/{configured}secret/{}",
            crate::answers::keyed_digest(salt, &text)
        );
    }
    format!(
        "{namespace}/{function}/{configured}{}",
        crate::answers::digest(&text)
    )
}

impl Evaluation {
    /// The definition of the function that `invoke` calls in a document; `None` for other calls.
    pub(crate) fn declared_function(&self, unit: u32, ask: &Ask) -> Option<Arc<FunctionDef>> {
        let Ask::Provider {
            namespace,
            function,
            configuration: CallConfiguration::Inherited | CallConfiguration::Declared(_),
            ..
        } = ask
        else {
            return None;
        };
        let wanted = Purity::Provider {
            namespace: namespace.clone(),
            name: function.clone(),
        };
        let functions = &self.documents.unit(unit).checked.package_functions;
        let mut functions = functions.values();
        functions
            .find(|function| function.purity == wanted)
            .cloned()
    }
}

impl Frame<'_> {
    /// A data source's fields are a flat map by exported name, dots included
    /// (decisions/blueprint#dotted-export-names).
    fn data_field(&self, fields: &Value, reference: &Ref) -> Result<ResolvedHead, EvaluationStop> {
        let Some(first) = reference.path.first() else {
            return Err(EvaluationStop::Reported);
        };
        let AccessorKind::Name(name) = &first.kind else {
            return Err(EvaluationStop::Reported);
        };
        match fields.get(name) {
            Some(value) => Ok(ResolvedHead {
                value: value.clone(),
                used: 1,
            }),
            None => Err(absent(
                first.span,
                format!("the data source has no value for `{name}`"),
                "it was found without this field".to_owned(),
            )),
        }
    }
}

/// Reads from one instance. The path from `at` on is `spec...`, `metadata...`, or empty (the id
/// field, decisions/blueprint#resources-as-values).
pub(super) fn read_member(
    member: &Member,
    ty: Option<&ResourceType>,
    reference: &Ref,
    at: usize,
) -> Result<ResolvedHead, EvaluationStop> {
    let Some(ty) = ty else {
        return Err(EvaluationStop::Reported);
    };
    let name = |at: usize| match reference.path.get(at).map(|accessor| &accessor.kind) {
        Some(AccessorKind::Name(name)) => Some(name.as_ref()),
        _ => None,
    };
    match name(at) {
        None if reference.path.len() == at => {
            let Some(id_field) = &ty.id_field else {
                return Err(EvaluationStop::Reported);
            };
            check_not_lost(member, id_field, reference.head_span)?;
            let value = read_field(member, ty, id_field).ok_or_else(|| {
                absent(
                    reference.head_span,
                    format!("`{}` has no `{id_field}`", member.address),
                    "it is not set".to_owned(),
                )
            })?;
            Ok(ResolvedHead { value, used: at })
        }
        Some("spec" | "state") => match name(at + 1) {
            Some(field) => {
                let span = reference.path[at + 1].span;
                check_not_lost(member, field, span)?;
                let mut value = read_field(member, ty, field);
                if value.is_none()
                    && let Some(filled_in) = ty.filled_in(field)
                {
                    check_not_lost(member, filled_in, span)?;
                    value = read_field(member, ty, filled_in);
                }
                match value {
                    Some(value) => Ok(ResolvedHead {
                        value,
                        used: at + 2,
                    }),
                    None => Err(absent(
                        span,
                        format!("`{}` has no value for `{field}`", member.address),
                        "this field is not set".to_owned(),
                    )),
                }
            }
            None => {
                for field in ty.schema.fields.keys() {
                    check_not_lost(member, field, reference.head_span)?;
                }
                let all = all_fields(member, ty);
                let value = if member.condition_open {
                    open(member, ty.schema.ty(), all.has_secret())
                } else {
                    all
                };
                Ok(ResolvedHead {
                    value,
                    used: at + 1,
                })
            }
        },
        Some("attributes") => match name(at + 1) {
            Some(attribute) => {
                let value = match ty.attribute(attribute) {
                    Some(Attribute::Field(field)) => {
                        read_field(member, ty, field).unwrap_or_default()
                    }
                    // The service returns the attribute once the resource exists.
                    Some(Attribute::Nothing)
                        if !ty.schema.open && matches!(member.outputs, Outputs::Unknown) =>
                    {
                        unknown_of(Type::Any, &member.address)
                    }
                    // An update that changes anything may change it, too.
                    Some(Attribute::Nothing)
                        if matches!(&member.outputs, Outputs::Planned(_, changing) if !changing.is_empty())
                            && matches!(ty.attributes, Attributes::Open(_)) =>
                    {
                        unknown_of(Type::Any, &member.address)
                    }
                    // The provider may return fields under names of which the schema knows nothing.
                    Some(Attribute::Nothing) => match &ty.attributes {
                        Attributes::Open(_) => output_of(member, attribute).unwrap_or_default(),
                        _ => Value::Null,
                    },
                    None => return Err(EvaluationStop::Reported),
                };
                Ok(ResolvedHead {
                    value,
                    used: at + 2,
                })
            }
            None => {
                let shown = ty
                    .attribute_names()
                    .filter(|(name, _)| name.as_ref() != "show");
                let value = |field: &str| read_field(member, ty, field).unwrap_or_default();
                let all: Map = shown
                    .map(|(name, field)| (name.clone(), value(field)))
                    .collect();
                Ok(ResolvedHead {
                    value: Value::Map(Arc::new(all)),
                    used: at + 1,
                })
            }
        },
        Some("metadata") => match name(at + 1) {
            Some(part) => match member.metadata.get(part) {
                Some(value) => Ok(ResolvedHead {
                    value: value.clone(),
                    used: at + 2,
                }),
                None => Err(absent(
                    reference.path[at + 1].span,
                    format!("`{}` has no `{part}`", member.address),
                    "not written".to_owned(),
                )),
            },
            None => Ok(ResolvedHead {
                value: member.metadata.clone(),
                used: at + 1,
            }),
        },
        _ => Err(EvaluationStop::Reported),
    }
}

/// Fails if the value of a field is lost: the call that set it was interrupted, and the field
/// cannot be read back.
fn check_not_lost(member: &Member, name: &str, span: Span) -> Result<(), EvaluationStop> {
    let Outputs::Known(fields) = &member.outputs else {
        return Ok(());
    };
    let is_lost =
        member.spec.get(name).is_none() && fields.get(name).is_some_and(Value::has_unknown);
    if !is_lost {
        return Ok(());
    }
    let address = &member.address;
    Err(codes::NEEDS_ATTENTION
        .new(format!("`{name}` of `{address}` is not known"))
        .label(span, "read here")
        .note(format!(
            "the call that gave `{address}` this value was cut off, and it cannot be read back"
        ))
        .help(format!("replace it: `cyan deploy --replace '{address}'`"))
        .into())
}

/// A field as other elements read it. It is Unknown while the existence of the instance is unknown.
fn read_field(member: &Member, ty: &ResourceType, name: &str) -> Option<Value> {
    let value = field_of(member, ty, name)?;
    if !member.condition_open {
        return Some(value);
    }
    let field = ty.schema.fields.get(name)?;
    Some(open(
        member,
        field.ty(),
        value.has_secret() || has_sensitive(Some(field)),
    ))
}

fn open(member: &Member, ty: Type, secret: bool) -> Value {
    unknown_of(ty, &member.address).tainted(secret)
}

/// A field of an instance: the document's value if it sets one, else the provider's, which may be
/// Unknown. Types whose outputs decide have them the other way round.
pub(crate) fn field_of(member: &Member, ty: &ResourceType, name: &str) -> Option<Value> {
    let field = ty.schema.fields.get(name)?;
    if ty.capabilities.outputs_decide
        && let Some(value) = output_of(member, name)
    {
        return Some(value.tainted(field.sensitive));
    }
    if let Some(value) = member.spec.get(name) {
        return Some(value.clone());
    }
    let unknown = || unknown_of(field.ty(), &member.address).tainted(field.sensitive);
    match &member.outputs {
        Outputs::Unknown if field.computed => Some(unknown()),
        Outputs::Unknown => None,
        Outputs::Planned(_, changing)
            if changing.iter().any(|changing| changing.as_ref() == name) =>
        {
            Some(unknown())
        }
        Outputs::Planned(fields, _) => fields.get(name).cloned().filter(|_| field.computed),
        Outputs::Known(fields) => fields.get(name).cloned(),
    }
    .map(|value| value.tainted(field.sensitive))
    .filter(|value| !value.is_null() || field.nullable)
}

/// A field as the provider returned it, or as it is planned.
fn output_of(member: &Member, name: &str) -> Option<Value> {
    let fields = match &member.outputs {
        Outputs::Unknown => return None,
        Outputs::Planned(_, changing) if changing.iter().any(|one| one.as_ref() == name) => {
            return None;
        }
        Outputs::Planned(fields, _) | Outputs::Known(fields) => fields,
    };
    fields.get(name).filter(|value| !value.is_null()).cloned()
}

/// All fields of an instance that have a value.
fn all_fields(member: &Member, ty: &ResourceType) -> Value {
    let mut map = Map::default();
    for name in ty.schema.fields.keys() {
        if let Some(value) = field_of(member, ty, name) {
            map.insert(name.clone(), value);
        }
    }
    Value::Map(Arc::new(map))
}
