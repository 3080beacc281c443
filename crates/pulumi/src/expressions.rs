//! Lowers values: interpolated text, data, calls of functions
//! (decisions/pulumi#interpolation, decisions/pulumi#calls).

use blueprint::{
    Accessor, AccessorKind, Expr, ExprKind, INVOKE, Name, Ref, ReferenceHead, TextPart, Value,
};
use diag::{Severity, Span, Spanned, TextMap};
use expr::codes::{ARGUMENT_COUNT, ARGUMENT_TYPE, UNKNOWN_FIELD};
use syntax::{Content, Node, Scalar};

use crate::access::{self, AccessStep, PropertyAccess, TextPiece};
use crate::call_forms::{CalledFunction, called_function, function_names, is_reserved};
use crate::codes::{
    DEPRECATED_FUNCTION, FUNCTION_AS_DATA, INVALID_TOKEN, PACKAGE_UNAVAILABLE, UNKNOWN_NAME,
};
use crate::lowering::{NamedKind, ProgramLowering, RESERVED};
use crate::native::{
    ACCESS, AFTER, AS_COMPAT_TEXT, AS_TEXT, ENTRIES, FILE_CONTENT, REFERENCE, RESULT, RETURN, URN,
};
use crate::packages::stated_plugin;
use crate::read::{RepeatedKey, TextEntry, entries, is_null, node_kind, text, value_span};
use crate::scalar;
use crate::stack_reference::reading_function;
use crate::std_package;
use crate::tokens::{BUILT_IN, GET_RESOURCE, TypeToken, namespace, qualified};
use crate::written;
use dialect::codes::{UNKNOWN_KEY, UNSUPPORTED_FEATURE};
use dialect::{ForeignWords, WordPlace};

/// The members of the value `pulumi`.
const RUN_FACTS: [&str; 5] = ["cwd", "project", "stack", "organization", "rootDirectory"];

/// The maximum number of variables that stand for each other in a row. A circle has no end.
const MOST_ALIASES: usize = 16;

/// The organization of stacks without a service.
const ORGANIZATION: &str = "organization";

/// The options of a call.
const CALL_OPTIONS: [&str; 5] = [
    "dependsOn",
    "parent",
    "provider",
    "version",
    "pluginDownloadURL",
];

/// The parts of a call of a package's function.
pub(crate) struct PackageCallForm<'t> {
    /// The function as the program writes it.
    pub(crate) token: Spanned<&'t str>,
    /// The arguments by name.
    pub(crate) arguments: Expr,
    /// The configuration of the package, if the call names one.
    pub(crate) provider: Option<Expr>,
    /// Resources that must be there before the call.
    pub(crate) after: Vec<Expr>,
    /// The version and the URL of the plugin that the call asks for.
    pub(crate) plugin: [Option<&'t Node>; 2],
    /// The whole call.
    pub(crate) span: Span,
}

impl<'t> PackageCallForm<'t> {
    /// A call without options.
    pub(crate) fn of(token: Spanned<&'t str>, arguments: Expr, span: Span) -> PackageCallForm<'t> {
        PackageCallForm {
            token,
            arguments,
            provider: None,
            after: Vec::new(),
            plugin: [None; 2],
            span,
        }
    }
}

/// What the options of a call say.
#[derive(Default)]
struct CallOptions<'t> {
    provider: Option<Expr>,
    after: Vec<Expr>,
    plugin: [Option<&'t Node>; 2],
}

/// A reference with a path of names.
fn reference(head: ReferenceHead, head_span: Span, path: Vec<Accessor>, span: Span) -> Expr {
    let reference = Ref {
        head,
        head_span,
        path,
    };
    Expr::new(ExprKind::Ref(Box::new(reference)), span)
}

/// The URN of a resource.
fn urn_reference(name: Name, head_span: Span, span: Span) -> Expr {
    let of = Accessor {
        kind: AccessorKind::Name(name),
        span: head_span,
    };
    let urn = ReferenceHead::Scoped("urn".into());
    reference(urn, head_span, vec![of], span)
}

impl ProgramLowering<'_> {
    /// Lowers a value.
    pub(crate) fn expr(&mut self, node: &Node) -> Expr {
        match &node.content {
            Content::Missing => Expr::error(node.span),
            Content::Scalar(scalar) => self.scalar(node, scalar),
            Content::List(items) => {
                let items = items.iter().map(|item| self.expr(item)).collect();
                Expr::new(ExprKind::List(items), node.span)
            }
            Content::Map(_) => self.map(node),
        }
    }

    fn scalar(&mut self, node: &Node, scalar: &Scalar) -> Expr {
        match scalar::typed(node, scalar) {
            Value::Text(_) => self.text(node, scalar),
            value => Expr::literal(value, value_span(node)),
        }
    }

    /// Lowers a text with its accesses.
    fn text(&mut self, node: &Node, scalar: &Scalar) -> Expr {
        let span = value_span(node);
        if !access::is_interpolated(&scalar.text) {
            return Expr::literal(Value::text(&*scalar.text), span);
        }
        // A value of the project's file is no part of this text.
        let map = match node.span.file == self.file {
            true => node.text_map(self.source),
            false => TextMap::identity(node.span.file, node.span.start, 0),
        };
        let pieces = access::pieces(&scalar.text, &map, &mut self.found);
        match pieces.as_slice() {
            [TextPiece::Literal(text)] => return Expr::literal(Value::text(text.as_str()), span),
            [TextPiece::Access(access, place)] => return self.access(access, *place),
            _ => {}
        }
        let parts = pieces.into_iter().map(|piece| match piece {
            TextPiece::Literal(text) => TextPart::Text(text.into()),
            TextPiece::Access(access, place) => {
                let value = self.access(&access, place);
                let as_text = if self.compat { AS_COMPAT_TEXT } else { AS_TEXT };
                TextPart::Expr(Expr::call(as_text, place, vec![value], place), place)
            }
            TextPiece::Reported(place) => TextPart::Expr(Expr::error(place), place),
        });
        let parts = parts.collect();
        Expr::new(ExprKind::Text(parts), span)
    }

    /// Lowers a property access; `span` is its `${..}`.
    pub(crate) fn access(&mut self, access: &PropertyAccess, span: Span) -> Expr {
        let name = &access.root.item;
        if name == RESERVED {
            return self.run_fact(access, span);
        }
        // A key of the stack's configuration may have the prefix of the project.
        let own = name.strip_prefix(self.project.as_ref());
        let own = own.and_then(|rest| rest.strip_prefix(':'));
        let known = self.names.get_key_value(name.as_str());
        let known = known.or_else(|| {
            let (name, element) = self.names.get_key_value(own?)?;
            (element.kind == NamedKind::Config).then_some((name, element))
        });
        let Some((name, element)) = known else {
            return match self.stack_value(name) {
                Some(value) => self.steps(Expr::literal(value, span), &access.steps, span),
                None => self.unknown_name(&access.root, span),
            };
        };
        let (name, head_span) = (name.clone(), access.root.span);
        match element.kind {
            NamedKind::Config => {
                let value = reference(ReferenceHead::Input(name), head_span, Vec::new(), span);
                self.steps(value, &access.steps, span)
            }
            NamedKind::Variable => {
                if let Some(node) = self.variables.get(&name).copied() {
                    if let Some(resource) = self.resource_alias(node) {
                        let head = ReferenceHead::Resource {
                            name: resource,
                            bare: true,
                        };
                        return self.resource_access(head, head_span, &access.steps, span);
                    }
                    if let Some(mistake) = written::wrong_step(node, access) {
                        return self.fail(mistake, span);
                    }
                }
                let value = reference(ReferenceHead::Local(name), head_span, Vec::new(), span);
                self.steps(value, &access.steps, span)
            }
            NamedKind::Read => self.read_access(name, head_span, &access.steps, span),
            NamedKind::Resource | NamedKind::Provider => {
                let head = ReferenceHead::Resource { name, bare: true };
                self.resource_access(head, head_span, &access.steps, span)
            }
        }
    }

    /// The resource that a variable stands for, if its value is a resource as a whole.
    fn resource_alias(&self, node: &Node) -> Option<Name> {
        let mut node = node;
        for _ in 0..MOST_ALIASES {
            let (name, element) = self.names.get_key_value(written::alias_of(node)?)?;
            match element.kind {
                NamedKind::Resource | NamedKind::Provider => return Some(name.clone()),
                NamedKind::Variable => node = self.variables.get(name)?,
                NamedKind::Config | NamedKind::Read => return None,
            }
        }
        None
    }

    /// Lowers an access to a resource: its id, or an output.
    fn resource_access(
        &mut self,
        head: ReferenceHead,
        head_span: Span,
        steps: &[Spanned<AccessStep>],
        span: Span,
    ) -> Expr {
        let Some((first, rest)) = steps.split_first() else {
            let ReferenceHead::Resource { name, .. } = &head else {
                return Expr::error(span);
            };
            let urn = urn_reference(name.clone(), head_span, span);
            let id = reference(head, head_span, Vec::new(), span);
            return Expr::call(REFERENCE, span, vec![urn, id], span);
        };
        let AccessStep::Name(output) = &first.item else {
            let mistake = expr::codes::WRONG_ACCESSOR
                .new("a resource has no positions")
                .label(first.span, "a name of an output is needed");
            return self.fail(mistake, span);
        };
        let value = match output.as_str() {
            "id" => reference(head, head_span, Vec::new(), span),
            "urn" => {
                let ReferenceHead::Resource { name, .. } = &head else {
                    return Expr::error(span);
                };
                let urn = urn_reference(name.clone(), head_span, span);
                let resource = reference(head, head_span, Vec::new(), span);
                Expr::call(URN, span, vec![urn, resource], span)
            }
            output => {
                let accessor = |name: &str| Accessor {
                    kind: AccessorKind::Name(name.into()),
                    span: first.span,
                };
                let path = vec![accessor("attributes"), accessor(output)];
                reference(head, head_span, path, span)
            }
        };
        self.steps(value, rest, span)
    }

    /// Lowers an access to a resource that is read: its id, or an output.
    fn read_access(
        &mut self,
        name: Name,
        head_span: Span,
        steps: &[Spanned<AccessStep>],
        span: Span,
    ) -> Expr {
        let read = || {
            let head = ReferenceHead::Local(name.clone());
            reference(head, head_span, Vec::new(), span)
        };
        let part = |name: &str| [Spanned::new(AccessStep::Name(name.to_owned()), head_span)];
        if steps.is_empty() {
            let urn = self.steps(read(), &part("urn"), span);
            let id = self.steps(read(), &part("id"), span);
            return Expr::call(REFERENCE, span, vec![urn, id], span);
        }
        self.steps(read(), steps, span)
    }

    /// Applies steps to a value.
    fn steps(&mut self, value: Expr, steps: &[Spanned<AccessStep>], span: Span) -> Expr {
        if steps.is_empty() {
            return value;
        }
        let step = |step: &Spanned<AccessStep>| {
            let value = match &step.item {
                AccessStep::Name(name) => Value::text(name.as_str()),
                // A position beyond this range is in no list.
                AccessStep::Index(at) => Value::Int(i64::try_from(*at).unwrap_or(i64::MAX)),
            };
            Expr::literal(value, step.span)
        };
        let arguments = std::iter::once(value).chain(steps.iter().map(step));
        Expr::call(ACCESS, span, arguments.collect(), span)
    }

    /// Lowers an access to the value `pulumi`.
    fn run_fact(&mut self, access: &PropertyAccess, span: Span) -> Expr {
        let root = access.root.span;
        let Some((step, rest)) = access.steps.split_first() else {
            let all = RUN_FACTS.iter().map(|fact| {
                let value = self.run_fact_value(fact, root, span);
                (Spanned::new(Name::from(*fact), root), value)
            });
            return Expr::new(ExprKind::Map(all.collect()), span);
        };
        if let Some(further) = rest.first() {
            let mistake = expr::codes::WRONG_ACCESSOR
                .new("the members of `pulumi` are strings")
                .label(further.span, "leads nowhere");
            return self.fail(mistake, span);
        }
        let AccessStep::Name(fact) = &step.item else {
            let mistake = expr::codes::WRONG_ACCESSOR
                .new("`pulumi` has no positions")
                .label(step.span, "a name is needed");
            return self.fail(mistake, span);
        };
        if !RUN_FACTS.contains(&fact.as_str()) {
            let mistake = UNKNOWN_FIELD
                .new(format!("`pulumi` has no member `{fact}`"))
                .label(step.span, "no such member")
                .help_nearest(fact, RUN_FACTS);
            return self.fail(mistake, span);
        }
        self.run_fact_value(fact, root, span)
    }

    /// A member of the value `pulumi`.
    fn run_fact_value(&self, fact: &str, root: Span, span: Span) -> Expr {
        match fact {
            "stack" => {
                let head = ReferenceHead::Scoped("instance".into());
                reference(head, root, Vec::new(), span)
            }
            "project" => Expr::literal(Value::Text(self.project.clone()), span),
            "organization" => Expr::literal(Value::text(ORGANIZATION), span),
            // The folders of the program and of its project.
            fact => {
                let project = Expr::call("cwd", root, Vec::new(), span);
                match self.main.as_ref().filter(|_| fact == "cwd") {
                    Some(folder) => {
                        let below = TextPart::Text(format!("/{folder}").into());
                        let parts = vec![TextPart::Expr(project, span), below];
                        Expr::new(ExprKind::Text(parts), span)
                    }
                    None => project,
                }
            }
        }
    }

    fn unknown_name(&mut self, root: &Spanned<String>, span: Span) -> Expr {
        let name = root.item.as_str();
        let unknown = UNKNOWN_NAME
            .new(format!(
                "there is no configuration, variable or resource `{name}`"
            ))
            .label(root.span, "no such name");
        let trimmed = name.trim();
        let unknown = if trimmed != name && self.names.contains_key(trimmed) {
            unknown.help(format!("remove the blanks: `${{{trimmed}}}`"))
        } else {
            let names = self.names.keys().map(AsRef::as_ref);
            let nearest = diag::nearest(name, names);
            match nearest {
                Some(nearest) => unknown.help(format!("did you mean `{nearest}`?")),
                None if ForeignWords::PULUMI.find(WordPlace::Reference, name).is_some() => {
                    unknown.help("write the name alone, as in `${NAME}`: configuration, variables and resources have no section before their names")
                }
                None => unknown.help(format!("write `$${{{name}}}` for the text itself")),
            }
        };
        self.fail(unknown, span)
    }

    /// Lowers a map: a call if it has one key that names a function.
    fn map(&mut self, node: &Node) -> Expr {
        let Some(all) = entries(node, RepeatedKey::LastCounts, &mut self.found) else {
            return Expr::error(node.span);
        };
        if let [entry] = all.as_slice()
            && let Some(function) = called_function(&entry.key.item)
            && let Some(call) = self.call_of(function, entry, value_span(node))
        {
            return call;
        }
        for entry in all.iter().filter(|_| all.len() > 1) {
            match called_function(&entry.key.item) {
                None | Some(CalledFunction::Unknown(_)) => {}
                Some(CalledFunction::Pure(function)) if function.name.ends_with("sset") => {
                    // Nobody writes data under the key of an asset.
                    let mistake = ARGUMENT_COUNT
                        .new(format!(
                            "`{}` must be the only key of its map",
                            entry.key.item
                        ))
                        .label(entry.key.span, "has other keys beside it")
                        .help("move the other keys elsewhere");
                    return self.fail(mistake, node.span);
                }
                Some(_) => self.found.push(
                    FUNCTION_AS_DATA
                        .new(format!("`{}` calls no function here", entry.key.item))
                        .label(entry.key.span, "a call is the only key of its map")
                        .help("move the other keys elsewhere"),
                ),
            }
        }
        self.data_map(&all, node.span)
    }

    /// Lowers a map as data. Its keys may have accesses.
    fn data_map(&mut self, all: &[TextEntry<'_>], span: Span) -> Expr {
        let computed = |entry: &TextEntry<'_>| access::is_interpolated(&entry.key.item);
        if all.iter().any(computed) {
            let mut arguments = Vec::with_capacity(all.len() * 2);
            for entry in all {
                arguments.push(self.expr(entry.key_node));
                arguments.push(self.expr(entry.value));
            }
            return Expr::call(ENTRIES, span, arguments, span);
        }
        self.plain_map(all, span)
    }

    /// Lowers a map whose keys are plain text, such as the properties of a resource.
    pub(crate) fn plain_map(&mut self, all: &[TextEntry<'_>], span: Span) -> Expr {
        let entries = all
            .iter()
            .map(|entry| (entry.key.clone(), self.expr(entry.value)));
        let entries: Vec<(Spanned<Name>, Expr)> = entries.collect();
        Expr::new(ExprKind::Map(entries), span)
    }

    /// Lowers a call. `None` for a name that no function has: the map is data, with a warning.
    fn call_of(
        &mut self,
        function: CalledFunction<'_>,
        entry: &TextEntry<'_>,
        span: Span,
    ) -> Option<Expr> {
        if let Some(key) = function.key()
            && key != *entry.key.item
        {
            self.unusual_case(&entry.key.item, &key, entry.key.span);
        }
        let key_span = entry.key.span;
        Some(match function {
            CalledFunction::Pure(function) => {
                let argument = self.expr(entry.value);
                if let Some((count, form)) = function.items
                    && let ExprKind::List(items) = &argument.kind
                    && items.len() != count
                {
                    let found = items.len();
                    let mistake = ARGUMENT_COUNT
                        .new(format!(
                            "`fn::{}` takes {form}, found {found} items",
                            function.name
                        ))
                        .label(argument.span, format!("{count} items are needed"));
                    return Some(self.fail(mistake, span));
                }
                Expr::call(function.name, key_span, vec![argument], span)
            }
            CalledFunction::File(name) if is_null(entry.value) => {
                let mistake = ARGUMENT_TYPE
                    .new(format!(
                        "the argument of `fn::{name}` must be a string, found null"
                    ))
                    .label(value_span(entry.value), "a path is needed");
                self.fail(mistake, span)
            }
            CalledFunction::File(name) => {
                let path = self.expr(entry.value);
                let place = path.span;
                let content = Expr::call("file", key_span, vec![path], place);
                let form = Expr::literal(Value::text(name), key_span);
                Expr::call(FILE_CONTENT, key_span, vec![content, form], span)
            }
            CalledFunction::StackReference => {
                self.called_stack_reference(key_span, entry.value, span)
            }
            CalledFunction::Invoke => self.invoke(entry, span),
            CalledFunction::Package(token) if token.split(':').count() > 3 => {
                self.no_such_function(token, key_span);
                return None;
            }
            CalledFunction::Package(token) => {
                let arguments = self.invoke_arguments(entry.value);
                let call = PackageCallForm::of(Spanned::new(token, key_span), arguments, span);
                self.package_call_result(call)
            }
            CalledFunction::Unknown(name) => {
                if is_reserved(name) {
                    let mistake = UNSUPPORTED_FEATURE
                        .new(format!("`fn::{name}` is reserved"))
                        .label(key_span, "no function of this version");
                    return Some(self.fail(mistake, span));
                }
                self.no_such_function(name, key_span);
                return None;
            }
        })
    }

    /// Lowers `fn::stackReference: [STACK, OUTPUT]`.
    fn called_stack_reference(&mut self, key_span: Span, argument: &Node, span: Span) -> Expr {
        self.found.push(
            DEPRECATED_FUNCTION
                .new("`fn::stackReference` is deprecated")
                .label(key_span, "a resource does the same")
                .help("add a resource of type `pulumi:pulumi:StackReference`, and read `outputs`"),
        );
        let place = value_span(argument);
        let Some([stack, output]) = argument.as_list() else {
            let mistake = ARGUMENT_COUNT
                .new("`fn::stackReference` takes the name of a stack and the name of an output")
                .label(place, "a list of two items is needed");
            return self.fail(mistake, span);
        };
        if self.refuse_late_name(stack).is_none() {
            return Expr::error(span);
        }
        let logical = text(stack).map(Name::from).unwrap_or_default();
        let stack = self.expr(stack);
        let output = self.expr(output);
        let arguments = self.stack_arguments(stack, &logical, span);
        let function = reading_function();
        let token = Spanned::new(function.as_str(), key_span);
        let read = self.package_call(PackageCallForm::of(token, arguments, span));
        let outputs = Expr::literal(Value::text("outputs"), key_span);
        Expr::call(ACCESS, span, vec![read, outputs, output], span)
    }

    /// Warns about the key of a call that no function has.
    fn no_such_function(&mut self, name: &str, key_span: Span) {
        self.found.push(
            FUNCTION_AS_DATA
                .new(format!("there is no function `fn::{name}`"))
                .label(key_span, "taken as data")
                .help_nearest(name, function_names()),
        );
    }

    /// Lowers `fn::invoke`.
    pub(crate) fn invoke(&mut self, entry: &TextEntry<'_>, span: Span) -> Expr {
        const KEYS: [&str; 4] = ["function", "arguments", "return", "options"];
        let place = value_span(entry.value);
        let Some(parts) = entries(entry.value, RepeatedKey::LastCounts, &mut self.found) else {
            let kind = node_kind(entry.value);
            let mistake = ARGUMENT_TYPE
                .new(format!("`fn::invoke` takes a map, found {kind}"))
                .label(place, kind)
                .help("write `fn::invoke: {function: package:function, arguments: {..}}`");
            return self.fail(mistake, span);
        };
        let mut function = None;
        let mut arguments = Expr::new(ExprKind::Map(Vec::new()), place);
        let mut returned = None;
        let mut options = CallOptions::default();
        for part in &parts {
            let written = part.key.item.as_ref();
            let known = KEYS.iter().find(|key| key.eq_ignore_ascii_case(written));
            if let Some(known) = known.filter(|known| **known != written) {
                self.unusual_case(written, known, part.key.span);
            }
            match known {
                Some(&"function") => function = self.fixed_text(part.value, "`function`"),
                Some(&"arguments") => {
                    if is_null(part.value) {
                        let mistake = self.wrong_arguments(part.value);
                        self.found.push(mistake);
                    }
                    arguments = self.invoke_arguments(part.value);
                }
                Some(&"return") => returned = self.fixed_text(part.value, "`return`"),
                Some(_) => options = self.invoke_options(part.value),
                None => self.found.push(
                    UNKNOWN_KEY
                        .new(format!("`fn::invoke` has no part `{written}`"))
                        .label(part.key.span, "has no effect")
                        .with_severity(Severity::Warning)
                        .help_nearest(written, KEYS),
                ),
            }
        }
        let Some(function) = function else {
            let mistake = ARGUMENT_COUNT
                .new("`fn::invoke` needs `function`")
                .label(place, "names no function")
                .help("add `function: package:function`");
            return self.fail(mistake, span);
        };
        let value = self.package_call_result(PackageCallForm {
            provider: options.provider,
            after: options.after,
            plugin: options.plugin,
            ..PackageCallForm::of(function, arguments, span)
        });
        let Some(returned) = returned else {
            return value;
        };
        let step = Expr::literal(Value::text(returned.item), returned.span);
        Expr::call(RETURN, span, vec![value, step], span)
    }

    /// The arguments of a package's function: a map, or nothing.
    pub(crate) fn invoke_arguments(&mut self, node: &Node) -> Expr {
        if is_null(node) {
            return Expr::new(ExprKind::Map(Vec::new()), value_span(node));
        }
        match entries(node, RepeatedKey::LastCounts, &mut self.found) {
            Some(all) => self.plain_map(&all, value_span(node)),
            None => {
                let mistake = self.wrong_arguments(node);
                self.fail(mistake, value_span(node))
            }
        }
    }

    fn wrong_arguments(&self, node: &Node) -> diag::Diagnostic {
        let kind = node_kind(node);
        ARGUMENT_TYPE
            .new(format!(
                "the arguments of a function are a map, found {kind}"
            ))
            .label(value_span(node), kind)
    }

    /// The options of a call.
    fn invoke_options<'t>(&mut self, node: &'t Node) -> CallOptions<'t> {
        let all = entries(node, RepeatedKey::LastCounts, &mut self.found).unwrap_or_default();
        let mut options = CallOptions::default();
        for option in all {
            let written = option.key.item.as_ref();
            let known = CALL_OPTIONS
                .iter()
                .find(|key| key.eq_ignore_ascii_case(written));
            match known {
                Some(&"provider") => {
                    let name = self.named_resource(option.value, "`provider`");
                    let named = name.map(|name| self.resource_value(name));
                    options.provider = named.or(options.provider);
                }
                Some(&"dependsOn") => {
                    let named = self.named_resources(option.value, "`dependsOn`");
                    let after = named.into_iter().map(|name| self.resource_value(name));
                    options.after = after.collect();
                }
                // The versions and URLs of a program are those of its packages.
                Some(&"version") => {
                    options.plugin[0] = Some(option.value);
                    self.version(option.value, "`version`");
                }
                Some(&"pluginDownloadURL") => {
                    options.plugin[1] = Some(option.value);
                    self.fixed_text(option.value, "`pluginDownloadURL`");
                }
                Some(_) => {
                    let provider = self.provider_of_parent(option.value);
                    // A provider that is named takes precedence.
                    options.provider = options.provider.or(provider);
                }
                None => self.found.push(
                    UNKNOWN_KEY
                        .new(format!("unknown option `{written}`"))
                        .label(option.key.span, "calls have no such option")
                        .with_severity(Severity::Warning)
                        .help_nearest(written, CALL_OPTIONS),
                ),
            }
        }
        options
    }

    /// The provider that a call takes from the resource that it names as its parent.
    fn provider_of_parent(&mut self, node: &Node) -> Option<Expr> {
        let parent = self.named_resource(node, "`parent`")?;
        let provider = self.written_providers.get(&parent.item)?.clone();
        Some(self.resource_value(Spanned::new(provider, parent.span)))
    }

    /// A call, of which the result has only the fields that the function gave.
    pub(crate) fn package_call_result(&mut self, call: PackageCallForm<'_>) -> Expr {
        let (place, span) = (call.token.span, call.span);
        let result = self.package_call(call);
        match &result.kind {
            ExprKind::Call(call) if *call.function == *INVOKE => {
                Expr::call(RESULT, place, vec![result], span)
            }
            _ => result,
        }
    }

    /// A call of a function of a package.
    pub(crate) fn package_call(&mut self, call: PackageCallForm<'_>) -> Expr {
        let PackageCallForm {
            token,
            mut arguments,
            provider,
            mut after,
            plugin,
            span,
        } = call;
        let (package, rest) = match TypeToken::read(token.item) {
            Some(TypeToken::Packaged { package, rest }) => (package, rest),
            Some(_) => {
                let mistake = UNSUPPORTED_FEATURE
                    .new(format!("`{}` cannot be called yet", token.item))
                    .label(token.span, "not available in this version");
                return self.fail(mistake, span);
            }
            None => {
                let mistake = invalid_token(token, "function");
                return self.fail(mistake, span);
            }
        };
        if package == std_package::PACKAGE {
            return self.std_call(token, rest, arguments, span);
        }
        if self.is_missing(package, token.span) {
            return Expr::error(span);
        }
        if provider.is_none() {
            self.refuse_other_plugin(package, plugin);
        }
        let provider = provider.unwrap_or_else(|| match self.default_providers.get(package) {
            Some(name) => self.resource_value(Spanned::new(name.item.clone(), token.span)),
            None => {
                self.note_called_plugin(package);
                Expr::literal(Value::Null, token.span)
            }
        });
        if package == BUILT_IN && rest == GET_RESOURCE {
            // A URN is known before its resource is there.
            arguments.references(&mut |found| {
                if let ReferenceHead::Resource { name, .. } = &found.head {
                    after.push(self.resource_value(Spanned::new(name.clone(), token.span)));
                }
            });
        }
        if !after.is_empty() {
            // The call waits until these resources are there.
            let place = arguments.span;
            let waiting = std::iter::once(arguments).chain(after).collect();
            arguments = Expr::call(AFTER, token.span, waiting, place);
        }
        let function = Value::Text(qualified(package, rest));
        let function = Expr::literal(function, token.span);
        let parts = vec![function, arguments, provider];
        Expr::call(INVOKE, token.span, parts, span)
    }

    /// Notes that functions of a package are called with its default configuration.
    fn note_called_plugin(&mut self, package: &str) {
        let plugin = self.packages.get(package).map(stated_plugin);
        let plugin = plugin.unwrap_or_default();
        self.called_plugins.insert(namespace(package), plugin);
    }

    /// A resource as a value.
    pub(crate) fn resource_value(&self, named: Spanned<Name>) -> Expr {
        let head = ReferenceHead::Resource {
            name: named.item,
            bare: true,
        };
        reference(head, named.span, Vec::new(), named.span)
    }

    /// Whether a package cannot be used. Its first use is reported.
    pub(crate) fn is_missing(&mut self, package: &str, span: Span) -> bool {
        let Some(why) = self.missing_packages.get_mut(package) else {
            return false;
        };
        let why = std::mem::take(why);
        if !why.is_empty() {
            self.found.push(
                PACKAGE_UNAVAILABLE
                    .new(format!("the package `{package}` cannot be used"))
                    .label(span, "named here first")
                    .note(why.to_string()),
            );
        }
        true
    }

    /// The resources that an option names, as one or as a list.
    pub(crate) fn named_resources(&mut self, node: &Node, what: &str) -> Vec<Spanned<Name>> {
        let items = node.as_list().unwrap_or(std::slice::from_ref(node));
        items
            .iter()
            .filter_map(|item| self.named_resource(item, what))
            .collect()
    }

    /// The resource that an option names with `${name}`; any other value is reported. `None` also
    /// for a resource that is read: it is there before the deployment.
    pub(crate) fn named_resource(&mut self, node: &Node, what: &str) -> Option<Spanned<Name>> {
        let place = value_span(node);
        let mistake = crate::codes::NOT_A_RESOURCE
            .new(format!("{what} must be a resource"))
            .label(place, format!("this is {}", node_kind(node)))
            .help("write `${NAME}` with the name of a resource");
        let Some(written) = text(node) else {
            if !node.is_missing() {
                self.found.push(mistake);
            }
            return None;
        };
        let map = node.text_map(self.source);
        let pieces = access::pieces(written, &map, &mut self.found);
        let access = match pieces.as_slice() {
            [TextPiece::Access(access, _)] => access,
            [TextPiece::Reported(_)] => return None,
            _ => {
                self.found.push(mistake);
                return None;
            }
        };
        let name = access.root.item.as_str();
        match self.names.get_key_value(name) {
            None => {
                self.unknown_name(&access.root, place);
                None
            }
            Some((name, element)) => {
                let is_resource = matches!(
                    element.kind,
                    NamedKind::Resource | NamedKind::Provider | NamedKind::Read
                );
                let is_read = element.kind == NamedKind::Read;
                let name = name.clone();
                if !is_resource || !access.steps.is_empty() {
                    self.found.push(mistake);
                    return None;
                }
                (!is_read).then(|| Spanned::new(name, access.root.span))
            }
        }
    }
}

/// The diagnostic for a token without a package.
pub(crate) fn invalid_token(token: Spanned<&str>, of: &str) -> diag::Diagnostic {
    let name = token.item.trim_matches(':');
    // `aws_s3_bucket` of Terraform begins with its package.
    let example = match name.split_once(['_', '/', '.']) {
        Some((package, rest)) if !package.is_empty() && !rest.is_empty() => {
            format!("{package}:{rest}")
        }
        _ => format!("package:{name}"),
    };
    INVALID_TOKEN
        .new(format!("`{}` is not the token of a {of}", token.item))
        .label(token.span, "it names no package")
        .help(format!("write the package first, such as `{example}`"))
}
