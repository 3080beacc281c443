//! libFuzzer's way into the target `log` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("log").map(|target| (target.run)(input));
});
