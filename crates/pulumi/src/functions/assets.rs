//! Assets and archives.

use blueprint::{Asset, IndexMap, Name, Value};
use expr::codes::ARGUMENT_TYPE;
use expr::{Refusal, ValueStep};

use super::function::{FunctionResult, PartialArgument, PulumiFunction, text_argument, wrong_type};

pub(super) const FUNCTIONS: &[PulumiFunction] = &[
    PulumiFunction {
        name: "stringAsset",
        key: "fn::stringAsset",
        items: None,
        call: |argument| asset("stringAsset", argument, Asset::Text),
        parts: PartialArgument::Whole,
        docs: "A file with the given text.",
        examples: &[("1", "! argument-type")],
    },
    PulumiFunction {
        name: "fileAsset",
        key: "fn::fileAsset",
        items: None,
        call: |argument| asset("fileAsset", argument, Asset::File),
        parts: PartialArgument::Whole,
        docs: "A file of this machine. Its path is relative to the program.",
        examples: &[("1", "! argument-type")],
    },
    PulumiFunction {
        name: "remoteAsset",
        key: "fn::remoteAsset",
        items: None,
        call: |argument| asset("remoteAsset", argument, Asset::Remote),
        parts: PartialArgument::Whole,
        docs: "A file at a URL.",
        examples: &[("1", "! argument-type")],
    },
    PulumiFunction {
        name: "fileArchive",
        key: "fn::fileArchive",
        items: None,
        call: |argument| asset("fileArchive", argument, Asset::LocalArchive),
        parts: PartialArgument::Whole,
        docs: "An archive file of this machine, or a folder as an archive. Its path is relative to the program.",
        examples: &[("1", "! argument-type")],
    },
    PulumiFunction {
        name: "remoteArchive",
        key: "fn::remoteArchive",
        items: None,
        call: |argument| asset("remoteArchive", argument, Asset::RemoteArchive),
        parts: PartialArgument::Whole,
        docs: "An archive file at a URL.",
        examples: &[("1", "! argument-type")],
    },
    PulumiFunction {
        name: "assetArchive",
        key: "fn::assetArchive",
        items: None,
        call: archive,
        parts: PartialArgument::Whole,
        docs: "An archive of assets and archives, by their names in it.",
        examples: &[
            ("[]", "! argument-type"),
            (r#"{"a": 1}"#, "! argument-type"),
        ],
    },
];

fn asset(name: &str, argument: &Value, make: fn(Name) -> Asset) -> FunctionResult {
    let text = text_argument(name, argument)?;
    Ok(Value::Asset(make(text.into()).into()))
}

fn archive(argument: &Value) -> FunctionResult {
    let Value::Map(entries) = argument else {
        let wanted = "a map of assets";
        return Err(wrong_type(
            "the argument of `fn::assetArchive`",
            wanted,
            argument,
            &[],
        ));
    };
    let mut members: IndexMap<Name, Asset> = IndexMap::default();
    for (name, value) in entries.iter() {
        let Value::Asset(asset) = value else {
            let kind = crate::scalar::kind_words(value);
            return Err(Refusal {
                code: &ARGUMENT_TYPE,
                message: format!("`{name}` must be an asset or an archive, found {kind}"),
                path: vec![ValueStep::Index(0), ValueStep::Key(name.clone())],
                inside: None,
                help: Some("write `fn::stringAsset` or `fn::fileAsset`".to_owned()),
                words: None,
            });
        };
        members.insert(name.clone(), asset.as_ref().clone());
    }
    Ok(Value::Asset(Asset::Archive(members).into()))
}
