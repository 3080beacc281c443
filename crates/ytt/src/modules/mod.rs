//! The modules that `load("@ytt:NAME", "NAME")` gives.

mod asserts;
mod encodings;
mod hashes;
mod ip;
mod json;
mod math;
mod regexp;
mod structs;
mod toml;
mod url;
mod versions;

use blueprint::{IndexMap, Name};

use crate::evaluator::Evaluator;
use crate::halt::{Evaluated, fail};
use crate::native_call::NativeCall;
use crate::overlay;
use crate::value::{StarValue, StructKind};

/// The modules and the names of their functions.
const MODULES: [(&str, &[&str]); 17] = [
    (
        "assert",
        &[
            "assert.equals",
            "assert.fail",
            "assert.try_to",
            "assert.min",
            "assert.min_len",
            "assert.max",
            "assert.max_len",
            "assert.not_null",
            "assert.one_not_null",
            "assert.one_of",
        ],
    ),
    ("base64", &["base64.encode", "base64.decode"]),
    ("data", &["data.list", "data.read"]),
    ("ip", &["ip.parse_addr", "ip.parse_cidr"]),
    ("json", &["json.encode", "json.decode"]),
    ("math", &math::FUNCTIONS),
    ("md5", &["md5.sum"]),
    ("module", &["module.make"]),
    (
        "overlay",
        &[
            "overlay.apply",
            "overlay.index",
            "overlay.all",
            "overlay.map_key",
            "overlay.subset",
            "overlay.and_op",
            "overlay.or_op",
            "overlay.not_op",
        ],
    ),
    ("regexp", &["regexp.match", "regexp.replace"]),
    ("sha256", &["sha256.sum"]),
    (
        "struct",
        &[
            "struct.make",
            "struct.make_and_bind",
            "struct.bind",
            "struct.encode",
            "struct.decode",
        ],
    ),
    ("template", &["template.replace"]),
    ("toml", &["toml.encode", "toml.decode"]),
    (
        "url",
        &[
            "url.path_segment_encode",
            "url.path_segment_decode",
            "url.query_param_value_encode",
            "url.query_param_value_decode",
            "url.query_params_encode",
            "url.query_params_decode",
            "url.parse",
        ],
    ),
    ("version", &["version.require_at_least"]),
    ("yaml", &["yaml.encode", "yaml.decode"]),
];

/// The value with a name of a module.
///
/// # Errors
/// If there is no such module, or it does not have the name.
pub(crate) fn member(
    evaluator: &Evaluator<'_>,
    module: &Name,
    name: &Name,
) -> Evaluated<StarValue> {
    let Some(short) = module.strip_prefix("@ytt:") else {
        return fail(format!(
            "{module}: a template is one text (hint: only modules of ytt such as \"@ytt:data\" \
             can be loaded)"
        ));
    };
    let found = MODULES.iter().find(|(own, _)| *own == short);
    let Some((short, functions)) = found else {
        let hint = match short {
            "library" => "(hint: a template is one text and has no libraries)",
            _ => "(hint: the modules are those of ytt 0.49)",
        };
        return fail(format!("{module}: no such module {hint}"));
    };
    if &**name != *short {
        return fail(format!("{module} has no {name}"));
    }
    let heap = &evaluator.heap;
    let mut fields: IndexMap<Name, StarValue> = IndexMap::default();
    for function in *functions {
        if let Some((_, own)) = function.split_once('.') {
            fields.insert(own.into(), heap.native(function, Vec::new())?);
        }
    }
    match *short {
        "data" => {
            fields.insert("values".into(), evaluator.data.clone());
        }
        "math" => {
            fields.insert("e".into(), StarValue::Float(std::f64::consts::E));
            fields.insert("pi".into(), StarValue::Float(std::f64::consts::PI));
        }
        _ => {}
    }
    heap.structure(StructKind::Module((*short).into()), fields)
}

/// Calls a function of a module.
///
/// # Errors
/// If the arguments do not fit.
pub(crate) fn call(
    evaluator: &mut Evaluator<'_>,
    module: &str,
    function: &str,
    call: &NativeCall,
) -> Evaluated<StarValue> {
    match module {
        "assert" => asserts::call(evaluator, function, call),
        "base64" | "yaml" => encodings::call(evaluator, call),
        "data" if function == "list" => {
            let template = evaluator.heap.text("stdin.yml")?;
            evaluator.heap.list(vec![template])
        }
        "data" => fail("a template is one text and has no files (hint: use data.values)"),
        "ip" => ip::call(&evaluator.heap, function, call),
        "json" => json::call(&evaluator.heap, function, call),
        "math" => math::call(function, call),
        "md5" | "sha256" => hashes::call(&evaluator.heap, call),
        "overlay" => overlay::call(evaluator, function, call),
        "regexp" => regexp::call(evaluator, function, call),
        "struct" | "module" | "template" => structs::call(evaluator, call),
        "toml" => toml::call(&evaluator.heap, function, call),
        "url" => url::call(&evaluator.heap, function, call),
        "version" => versions::require(call),
        _ => fail("no such module"),
    }
}
