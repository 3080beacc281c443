//! libFuzzer's way into the target `journal` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("journal").map(|target| (target.run)(input));
});
