//! libFuzzer's way into the target `json` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("json").map(|target| (target.run)(input));
});
