//! libFuzzer's way into the target `document` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("document").map(|target| (target.run)(input));
});
