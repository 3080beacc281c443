//! libFuzzer's way into the target `yaml` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("yaml").map(|target| (target.run)(input));
});
