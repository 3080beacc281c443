//! libFuzzer's way into the target `expression` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("expression").map(|target| (target.run)(input));
});
