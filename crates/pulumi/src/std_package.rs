//! The package `std`: its functions are built in and need no plugin (decisions/pulumi#built-in-packages).
//!
//! Not here: the results of most functions, which are those of the provider `std`
//! (`providers/src/std`).

use ParameterKind::{Any, Integer, List, Lists, Map, Maps, Number, Numbers, Text, Texts};
use StdBody::{AbsolutePath, Deferred, File, Native, Own, Timestamp, Uuid};

use crate::std_own::{match_keys, md5, sha1};
use blueprint::Value;
use expr::Refusal;

/// The name of the package.
pub(crate) const PACKAGE: &str = "std";

/// The kind of value that a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    /// Any value.
    Any,
    /// A string. A number or a boolean becomes one.
    Text,
    /// A number, or a string that is one.
    Number,
    /// A whole number, or a string that is one.
    Integer,
    /// A list.
    List,
    /// A list of strings.
    Texts,
    /// A list of numbers.
    Numbers,
    /// A list of lists.
    Lists,
    /// A list of maps.
    Maps,
    /// A map.
    Map,
}

/// A parameter of a function.
#[derive(Debug)]
pub(crate) struct StdParameter {
    /// The name in `arguments`.
    pub(crate) name: &'static str,
    /// The accepted values.
    pub(crate) kind: ParameterKind,
    /// Whether a call must have it.
    pub(crate) required: bool,
}

/// The source of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StdBody {
    /// The function of the provider `std` with this name.
    Native(&'static str),
    /// A function of this crate.
    Own(fn(&[Value]) -> Result<Value, Refusal>),
    /// The content of a file in this form.
    File(&'static str),
    /// The time of the plan.
    Timestamp,
    /// A UUID that is drawn once.
    Uuid,
    /// A path from the working directory.
    AbsolutePath,
    /// No version of this program computes it yet.
    Deferred,
}

/// A function of the package as data. The parameters have the order of the native function.
#[derive(Debug)]
pub(crate) struct StdRow {
    /// The name after `std:` or `std:index:`.
    pub(crate) name: &'static str,
    /// The source of the result.
    pub(crate) body: StdBody,
    /// The parameters.
    pub(crate) parameters: &'static [StdParameter],
}

impl StdRow {
    /// The internal name of the function in the dialect's table.
    pub(crate) fn internal_name(&self) -> String {
        format!("(std {})", self.name)
    }
}

/// The function with a token without its package, in any case: `abs`, `index:abs` or
/// `index/abs:abs`.
pub(crate) fn function(token: &str) -> Option<&'static StdRow> {
    let (module, name) = match token.rsplit_once(':') {
        Some((module, name)) => (Some(module), name),
        None => (None, token),
    };
    let row = ROWS
        .iter()
        .find(|row| row.name.eq_ignore_ascii_case(name))?;
    let is_module = |module: &str| {
        module.is_empty()
            || module.eq_ignore_ascii_case("index")
            || module.eq_ignore_ascii_case(&format!("index/{}", row.name))
    };
    module.is_none_or(is_module).then_some(row)
}

/// All functions, in the order of their names.
pub(crate) fn rows() -> &'static [StdRow] {
    ROWS
}

const fn row(name: &'static str, body: StdBody, parameters: &'static [StdParameter]) -> StdRow {
    StdRow {
        name,
        body,
        parameters,
    }
}

const fn need(name: &'static str, kind: ParameterKind) -> StdParameter {
    StdParameter {
        name,
        kind,
        required: true,
    }
}

const fn may(name: &'static str, kind: ParameterKind) -> StdParameter {
    StdParameter {
        name,
        kind,
        required: false,
    }
}

const ROWS: &[StdRow] = &[
    row("abs", Native("std_abs"), &[need("input", Number)]),
    row("abspath", AbsolutePath, &[need("input", Text)]),
    row("alltrue", Native("alltrue"), &[need("input", List)]),
    row("anytrue", Native("anytrue"), &[need("input", List)]),
    row(
        "base64decode",
        Native("std_base64decode"),
        &[need("input", Text)],
    ),
    row(
        "base64encode",
        Native("std_base64encode"),
        &[need("input", Text)],
    ),
    row("base64gzip", Native("base64gzip"), &[need("input", Text)]),
    row(
        "base64sha256",
        Native("base64sha256"),
        &[need("input", Text)],
    ),
    row(
        "base64sha512",
        Native("base64sha512"),
        &[need("input", Text)],
    ),
    row("basename", Native("basename"), &[need("input", Text)]),
    row(
        "bcrypt",
        Deferred,
        &[need("input", Text), may("cost", Integer)],
    ),
    row("ceil", Native("ceil"), &[need("input", Number)]),
    row("chomp", Native("chomp"), &[need("input", Text)]),
    row(
        "chunklist",
        Native("chunklist"),
        &[need("input", List), need("size", Integer)],
    ),
    row(
        "cidrhost",
        Native("cidrhost"),
        &[need("input", Text), need("host", Integer)],
    ),
    row("cidrnetmask", Native("cidrnetmask"), &[need("input", Text)]),
    row(
        "cidrsubnet",
        Native("std_cidrsubnet"),
        &[
            need("input", Text),
            need("newbits", Integer),
            need("netnum", Integer),
        ],
    ),
    row(
        "cidrsubnets",
        Native("cidrsubnets"),
        &[need("input", Text), need("newbits", Numbers)],
    ),
    row("coalesce", Native("std_coalesce"), &[need("input", List)]),
    row(
        "coalescelist",
        Native("coalescelist"),
        &[need("input", Lists)],
    ),
    row("compact", Native("compact"), &[need("input", List)]),
    row("concat", Native("concat"), &[need("input", Lists)]),
    row(
        "contains",
        Native("std_contains"),
        &[need("input", List), need("element", Any)],
    ),
    row("csvdecode", Native("csvdecode"), &[need("input", Text)]),
    row("dirname", Native("dirname"), &[need("input", Text)]),
    row("distinct", Native("distinct"), &[need("input", List)]),
    row(
        "element",
        Native("element"),
        &[need("input", List), need("index", Integer)],
    ),
    row(
        "endswith",
        Native("endswith"),
        &[need("input", Text), need("suffix", Text)],
    ),
    row("file", File("readFile"), &[need("input", Text)]),
    row("filebase64", File("filebase64"), &[need("input", Text)]),
    row(
        "filebase64sha256",
        File("filebase64sha256"),
        &[need("input", Text)],
    ),
    row(
        "filebase64sha512",
        File("filebase64sha512"),
        &[need("input", Text)],
    ),
    row("fileexists", Deferred, &[need("input", Text)]),
    row("filemd5", File("filemd5"), &[need("input", Text)]),
    row("filesha1", File("filesha1"), &[need("input", Text)]),
    row("filesha256", File("filesha256"), &[need("input", Text)]),
    row("filesha512", File("filesha512"), &[need("input", Text)]),
    row("flatten", Native("flatten"), &[need("input", List)]),
    row("floor", Native("floor"), &[need("input", Number)]),
    row(
        "format",
        Native("format"),
        &[need("input", Text), need("args", List)],
    ),
    row(
        "formatlist",
        Native("formatlist"),
        &[need("input", Text), need("args", List)],
    ),
    row(
        "indent",
        Native("indent"),
        &[need("input", Text), need("spaces", Integer)],
    ),
    row(
        "index",
        Native("std_index"),
        &[need("input", List), need("element", Any)],
    ),
    row(
        "join",
        Native("std_join"),
        &[need("input", Texts), need("separator", Text)],
    ),
    row(
        "jsondecode",
        Native("std_jsondecode"),
        &[need("input", Text)],
    ),
    row(
        "jsonencode",
        Native("std_jsonencode"),
        &[need("input", Any)],
    ),
    row("keys", Native("std_keys"), &[need("input", Map)]),
    row("length", Native("length"), &[need("input", Any)]),
    row(
        "log",
        Native("log"),
        &[need("input", Number), need("base", Number)],
    ),
    row(
        "lookup",
        Native("std_lookup"),
        &[need("map", Map), need("key", Text), may("default", Any)],
    ),
    row("lower", Native("lower"), &[need("input", Text)]),
    row("map", Native("std_map"), &[need("args", List)]),
    row(
        "matchkeys",
        Own(match_keys),
        &[need("searchList", Texts), need("values", Texts)],
    ),
    row("max", Native("std_max"), &[need("input", Numbers)]),
    row("md5", Own(md5), &[need("input", Text)]),
    row("merge", Native("std_merge"), &[need("input", Maps)]),
    row("min", Native("std_min"), &[need("input", Numbers)]),
    row(
        "parseint",
        Native("parseint"),
        &[need("input", Text), may("base", Integer)],
    ),
    row("pathexpand", Native("pathexpand"), &[need("input", Text)]),
    row(
        "pow",
        Native("pow"),
        &[need("base", Number), need("exponent", Number)],
    ),
    row(
        "range",
        Native("range"),
        &[
            may("start", Number),
            need("limit", Number),
            may("step", Number),
        ],
    ),
    row(
        "regex",
        Native("regex"),
        &[need("string", Text), need("pattern", Text)],
    ),
    row(
        "regexall",
        Native("regexall"),
        &[need("string", Text), need("pattern", Text)],
    ),
    row(
        "replace",
        Native("std_replace"),
        &[
            need("text", Text),
            need("search", Text),
            need("replace", Text),
        ],
    ),
    row("reverse", Native("reverse"), &[need("input", List)]),
    row(
        "rsadecrypt",
        Deferred,
        &[need("cipherText", Text), need("key", Text)],
    ),
    row(
        "setintersection",
        Native("setintersection"),
        &[need("input", Lists)],
    ),
    row("sha1", Own(sha1), &[need("input", Text)]),
    row("sha256", Native("std_sha256"), &[need("input", Text)]),
    row("sha512", Native("sha512"), &[need("input", Text)]),
    row("signum", Native("signum"), &[need("input", Number)]),
    row(
        "slice",
        Native("slice"),
        &[need("list", List), may("from", Integer), may("to", Integer)],
    ),
    row("sort", Native("std_sort"), &[need("input", Texts)]),
    row(
        "split",
        Native("std_split"),
        &[need("text", Text), need("separator", Text)],
    ),
    row(
        "startswith",
        Native("startswith"),
        &[need("input", Text), need("prefix", Text)],
    ),
    row("strrev", Native("strrev"), &[need("input", Text)]),
    row(
        "substr",
        Native("std_substr"),
        &[
            need("input", Text),
            need("offset", Integer),
            need("length", Integer),
        ],
    ),
    row("sum", Native("sum"), &[need("input", Numbers)]),
    row(
        "timeadd",
        Native("timeadd"),
        &[need("timestamp", Text), need("duration", Text)],
    ),
    row(
        "timecmp",
        Native("timecmp"),
        &[need("timestampa", Text), need("timestampb", Text)],
    ),
    row("timestamp", Timestamp, &[]),
    row("title", Native("title"), &[need("input", Text)]),
    row("tobool", Native("tobool"), &[need("input", Any)]),
    row("tolist", Native("tolist"), &[need("input", List)]),
    row("tonumber", Native("tonumber"), &[need("input", Any)]),
    row("toset", Native("toset"), &[need("input", List)]),
    row("tostring", Native("tostring"), &[need("input", Any)]),
    row("transpose", Native("transpose"), &[need("input", Map)]),
    row(
        "trim",
        Native("std_trim"),
        &[need("input", Text), need("cutset", Text)],
    ),
    row(
        "trimprefix",
        Native("std_trimprefix"),
        &[need("input", Text), need("prefix", Text)],
    ),
    row("trimspace", Native("trimspace"), &[need("input", Text)]),
    row(
        "trimsuffix",
        Native("std_trimsuffix"),
        &[need("input", Text), need("suffix", Text)],
    ),
    row("upper", Native("upper"), &[need("input", Text)]),
    row("urlencode", Native("urlencode"), &[need("input", Text)]),
    row("uuid", Uuid, &[]),
    row("values", Native("std_values"), &[need("input", Map)]),
    row(
        "zipmap",
        Native("zipmap"),
        &[need("keys", Texts), need("values", List)],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_found_by_each_form_of_its_token() {
        for token in ["abs", "index:abs", "Index:ABS", "index/abs:abs"] {
            assert_eq!(function(token).map(|row| row.name), Some("abs"), "{token}");
        }
        for token in ["nope", "index:nope", "other:abs"] {
            assert!(function(token).is_none(), "{token}");
        }
    }

    #[test]
    fn names_are_unique_and_sorted() {
        assert_eq!(rows().len(), 97);
        assert!(rows().is_sorted_by(|one, next| one.name < next.name));
    }
}
