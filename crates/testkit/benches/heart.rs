//! Benchmarks of parse, load, check and plan in process, on the layered documents of `bench`.
//!
//! `cargo bench -p testkit`. Times differ between machines; instruction counts do not:
//! `valgrind --tool=callgrind target/release/deps/heart-* --bench --profile-time 1 'plan/1000'`.

#![allow(missing_docs, clippy::unwrap_used, reason = "a benchmark")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use diag::{Diagnostics, Files};
use engine::{Given, Options};
use syntax::Format;
use testkit::harness::Harness;

/// Ten layers; each resource reads three of the layer before.
fn layered(n: usize) -> String {
    let mut text = String::from("version: 2023-04-20\nresources:\n");
    let width = n / 10;
    for at in 0..n {
        let _ = write!(
            text,
            "  r{at}:\n    type: test/data\n    spec:\n      input: v{at}"
        );
        if at >= width {
            let base = (at / width - 1) * width;
            for other in 0..3 {
                let _ = write!(
                    text,
                    "-${{resources.r{}.spec.id}}",
                    base + (at * 7 + other * 13) % width
                );
            }
        }
        text.push('\n');
    }
    text
}

fn heart(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for n in [1_000, 10_000] {
        let text = layered(n);
        let mut files = Files::new();
        let file = files.add("main.yaml", text.as_str());
        let harness = runtime.block_on(async { Harness::new(PathBuf::from("."), Vec::new()) });
        let mut group = criterion.benchmark_group("heart");
        group
            .throughput(Throughput::Elements(n as u64))
            .sample_size(20);
        group.bench_function(BenchmarkId::new("parse", n), |bencher| {
            bencher.iter(|| black_box(syntax::parse(file, &text, Format::Yaml)))
        });
        group.bench_function(BenchmarkId::new("load", n), |bencher| {
            bencher.iter(|| {
                black_box(engine::load(
                    &files,
                    file,
                    &harness.dialects,
                    &harness.functions,
                    harness.catalogs.packages(),
                    &Default::default(),
                    &mut Diagnostics::new(),
                ))
            });
        });
        let blueprint = engine::load(
            &files,
            file,
            &harness.dialects,
            &harness.functions,
            harness.catalogs.packages(),
            &Default::default(),
            &mut Diagnostics::new(),
        )
        .blueprint
        .unwrap();
        let rules = harness.dialects.rules(blueprint.dialect);
        let context =
            engine::check::CheckContext::new(&harness.catalogs, &harness.functions, rules);
        group.bench_function(BenchmarkId::new("check", n), |bencher| {
            bencher.iter(|| {
                black_box(engine::check(
                    blueprint.clone(),
                    &context,
                    &mut Diagnostics::new(),
                ))
            });
        });
        group.bench_function(BenchmarkId::new("stage", n), |bencher| {
            bencher.iter(|| {
                let stage = runtime.block_on(harness.stage(
                    "main.yaml",
                    &text,
                    Given::default(),
                    Options::default(),
                ));
                assert!(stage.staged.is_some());
            });
        });
        group.finish();
    }
}

criterion_group!(benches, heart);
criterion_main!(benches);
