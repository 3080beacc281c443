//! Functions that need external data (decisions/functions#bytes-hashes-external-data). They only
//! ask questions: no code here reads a clock or a file.

use blueprint::{AccessorKind, Expr, ExprKind, ReferenceHead, Type, Value};

use super::define::{any_map, function, returns};
use crate::codes;
use crate::evaluate::{At, CallSite, Fault, FunctionBody, Machine, SuppliedArguments};
use crate::function::{FunctionDef, Purity};
use crate::scope::{Ask, EvaluationStop};

/// The formats of `datetime`.
const FORMATS: [&str; 4] = ["unix", "rfc3339", "tag", "tagcompact"];

pub(super) fn definitions() -> Vec<FunctionDef> {
    use Type::{Any, Bytes, Text};
    vec![
        function(
            "file",
            "The bytes of a file; a path counts from the folder of the document.",
            returns(Bytes),
        )
        .required("path", Text)
        .purity(Purity::World)
        .not_in_specification()
        .example(r#"utf8(file("a.txt"))"#, r#""hi""#)
        .example(r#"file("nope")"#, "! source-unreadable"),
        function(
            "http_resource",
            "The bytes at an `http` or `https` address.",
            returns(Bytes),
        )
        .required("url", Text)
        .purity(Purity::World)
        .not_in_specification()
        .example(r#"http_resource("ftp://x")"#, "! argument-format"),
        function(
            "uuid",
            "A random UUID of version 4, drawn once and remembered.",
            returns(Text),
        )
        .purity(Purity::Memoised)
        .not_in_specification()
        .example("len(uuid())", "36"),
        function(
            "cwd",
            "The absolute working directory of the caller.",
            returns(Text),
        )
        .purity(Purity::World)
        .example("cwd()", r#""/w""#),
        function(
            "datetime",
            "The time in UTC, taken once and remembered: `unix`, `rfc3339`, `tag` or `tagcompact`.",
            returns(Text),
        )
        .required("format", Text)
        .purity(Purity::Memoised)
        .example(r#"datetime("rfc3339")"#, r#""2023-01-02T15:04:05Z""#)
        .example(r#"datetime("tag")"#, r#""2023-01-02--15-04-05""#)
        .example(r#"datetime("iso")"#, "! argument-format"),
        function(
            "link",
            "What the link from the first resource to the second exposes.",
            returns(any_map()),
        )
        .required("a", Any)
        .required("b", Any)
        .purity(Purity::Link)
        .example("link(api, fn).path", r#""/x""#),
    ]
}

pub(super) fn body(name: &str) -> Option<FunctionBody> {
    Some(match name {
        "file" => FunctionBody::Open(file),
        "http_resource" => FunctionBody::Open(http_resource),
        "cwd" => FunctionBody::Open(|machine, site, _| machine.ask(site, Ask::WorkingDirectory)),
        "uuid" => {
            FunctionBody::Open(|machine, site, arguments| machine.ask_memoised(site, arguments))
        }
        "datetime" => FunctionBody::Open(datetime),
        "link" => FunctionBody::Lazy(link),
        _ => return None,
    })
}

/// The text argument without its secret mark, and whether it was secret; `Err` with the unknown
/// result.
fn known_text(arguments: &[Value], ty: Type) -> Result<(blueprint::Name, bool), Value> {
    let secret = arguments.iter().any(Value::has_secret);
    match arguments.first().map(Value::unmarked) {
        Some(Value::Text(text)) => Ok((text.clone(), secret)),
        _ => Err(crate::evaluate::unknown_of(Some(ty), arguments).tainted(secret)),
    }
}

fn file<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    match known_text(&arguments, Type::Bytes) {
        Ok((path, secret)) => {
            let ask = Ask::File {
                path,
                document: site.call.file,
            };
            Ok(machine
                .ask_hiding_messages(site, ask, secret)?
                .tainted(secret))
        }
        Err(unknown) => Ok(unknown),
    }
}

fn http_resource<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let (url, secret) = match known_text(&arguments, Type::Bytes) {
        Ok(known) => known,
        Err(unknown) => return Ok(unknown),
    };
    let scheme = url.split("://").next().unwrap_or("").to_ascii_lowercase();
    let host = url
        .split_once("://")
        .is_some_and(|(_, rest)| !rest.is_empty() && !rest.starts_with('/'));
    if !matches!(scheme.as_str(), "http" | "https") || !host {
        let message = if secret {
            "this is no `http` address".to_string()
        } else {
            format!("`{url}` is no `http` address")
        };
        let fault = Fault::new(&codes::ARGUMENT_FORMAT, At::Argument(0), message)
            .label("must begin with `http://` or `https://`");
        return Err(machine.fail(site, fault, None));
    }
    Ok(machine
        .ask_hiding_messages(site, Ask::Http { url }, secret)?
        .tainted(secret))
}

fn datetime<'a>(
    machine: &mut Machine<'a>,
    site: &CallSite<'a>,
    arguments: Vec<Value>,
) -> Result<Value, EvaluationStop> {
    let (format, secret) = match known_text(&arguments, Type::Text) {
        Ok(known) => known,
        Err(unknown) => return Ok(unknown),
    };
    if !FORMATS.contains(&format.as_ref()) {
        let message = if secret {
            "there is no such format".to_string()
        } else {
            format!("there is no format `{format}`")
        };
        let fault = Fault::new(&codes::ARGUMENT_FORMAT, At::Argument(0), message)
            .label("must be `unix`, `rfc3339`, `tag` or `tagcompact`");
        return Err(machine.fail(site, fault, None));
    }
    Ok(machine
        .ask_memoised(site, vec![Value::Text(format)])?
        .tainted(secret))
}

/// Evaluates `link(a, b)`. Both arguments are names, not values.
fn link<'a>(
    machine: &mut Machine<'a>,
    _: &'a FunctionDef,
    site: &CallSite<'a>,
    arguments: &SuppliedArguments<'a>,
) -> Result<Value, EvaluationStop> {
    let mut ends = Vec::new();
    for at in 0..2 {
        let end = match arguments {
            SuppliedArguments::Written(written) => written
                .get(at)
                .and_then(|argument| end_of_link(&argument.value)),
            SuppliedArguments::Given(values) => {
                values.get(at).and_then(Value::as_text).map(str::to_string)
            }
        };
        match end {
            Some(end) => ends.push(end),
            None => {
                let fault = Fault::new(
                    &codes::ARGUMENT_TYPE,
                    At::Argument(at),
                    "`link` needs a resource or a literal name",
                )
                .label("neither a resource nor a literal name")
                .help("write the name of the resource, such as `link(api, \"handlers[0]\")`");
                return Err(machine.fail(site, fault, None));
            }
        }
    }
    match ends.as_slice() {
        [a, b] => machine.link(a, b).map_err(|stop| match stop {
            // The first label is the place of the read; the reason for the absence follows.
            EvaluationStop::Absent(mut diagnostic) => {
                diagnostic.labels.insert(
                    0,
                    diag::Label {
                        span: site.call,
                        text: "read here".into(),
                    },
                );
                EvaluationStop::Absent(diagnostic)
            }
            stop => stop,
        }),
        _ => Err(EvaluationStop::Reported),
    }
}

/// The name of a link's end in the format of addresses; `None` if the expression is not a name.
fn end_of_link(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Literal(Value::Text(name)) => Some(name.to_string()),
        ExprKind::Ref(reference) => {
            let ReferenceHead::Resource { name, .. } = &reference.head else {
                return None;
            };
            match reference.path.as_slice() {
                [] => Some(name.to_string()),
                [accessor] => match &accessor.kind {
                    AccessorKind::Index(at) => Some(format!("{name}[{at}]")),
                    AccessorKind::Name(_) => None,
                },
                _ => None,
            }
        }
        _ => None,
    }
}

/// A new value of `uuid()` or `datetime(format)` from the given time (seconds since 1970 UTC) and
/// 16 random bytes. `None` for other functions or formats.
pub fn new_memoised_value(
    function: &str,
    arguments: &[Value],
    now: i64,
    random: [u8; 16],
) -> Option<Value> {
    match function {
        "uuid" => Some(version_four(random).into()),
        "datetime" => {
            let format = arguments.first()?.as_text()?;
            if format == "unix" {
                return Some(now.to_string().into());
            }
            let pattern = match format {
                "rfc3339" => "%Y-%m-%dT%H:%M:%SZ",
                "tag" => "%Y-%m-%d--%H-%M-%S",
                "tagcompact" => "%Y%m%d%H%M%S",
                _ => return None,
            };
            let instant = jiff::Timestamp::from_second(now).ok()?;
            Some(instant.strftime(pattern).to_string().into())
        }
        _ => None,
    }
}

/// 16 random bytes as a version 4 UUID.
fn version_four(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = |from: usize, to: usize| data_encoding::HEXLOWER.encode(&bytes[from..to]);
    [hex(0, 4), hex(4, 6), hex(6, 8), hex(8, 10), hex(10, 16)].join("-")
}
