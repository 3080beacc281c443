//! The provider `local`: the conformance suite, and the behaviour of each type.

#![allow(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod archives;
mod commands;
mod data_sources;
mod files;
mod folders;
mod world;

use std::fs;
use std::sync::Arc;

use contract_tests::provider::{Case, Setup};
use providers::local::provider;

use crate::world::{spec, texts};

#[tokio::test]
async fn every_type_passes_the_conformance_suite() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("in")).unwrap();
    fs::write(folder.path().join("in/a.txt"), "a").unwrap();
    let setup = Setup::in_folder(folder.path());
    let cases = [
        Case::new("local/directory", spec([("path", "made/d".into())]))
            .changed(spec([("path", "made/d".into()), ("mode", "0700".into())])),
        Case::new(
            "local/file",
            spec([("path", "deep/f".into()), ("content", "one".into())]),
        )
        .changed(spec([
            ("path", "deep/f".into()),
            ("content", "two".into()),
            ("mode", "600".into()),
        ])),
        Case::new(
            "local/file",
            spec([("path", "f2".into()), ("contentBase64", "AP8=".into())]),
        ),
        Case::new(
            "local/file",
            spec([("path", "f3".into()), ("source", "in/a.txt".into())]),
        ),
        Case::new(
            "local/file",
            spec([
                ("path", "f4".into()),
                ("sensitiveContent", "hunter2".into()),
            ]),
        )
        .changed(spec([
            ("path", "f4".into()),
            ("sensitiveContent", "hunter3".into()),
        ])),
        Case::new(
            "local/archive",
            spec([("path", "a.zip".into()), ("root", "in".into())]),
        )
        .changed(spec([
            ("path", "a.zip".into()),
            ("entries", spec([("x", "y".into())])),
        ])),
        Case::new(
            "local/symlink",
            spec([("path", "l".into()), ("target", "in".into())]),
        )
        .changed(spec([("path", "l".into()), ("target", "nowhere".into())])),
        Case::new(
            "local/command",
            spec([
                ("create", "touch c; echo '{\"a\": [1, 2.5]}'".into()),
                ("read", texts(&["sh", "-c", "test -f c || exit 3"])),
                ("delete", "rm -f c".into()),
            ]),
        )
        .changed(spec([
            ("create", "echo again".into()),
            ("read", texts(&["sh", "-c", "test -f c || exit 3"])),
            ("delete", "rm -f c".into()),
        ]))
        .forgets_tokens(),
    ];
    let failures = contract_tests::provider::check(|| Arc::new(provider()), &setup, &cases).await;
    assert!(failures.is_empty(), "{failures:#?}");
}
