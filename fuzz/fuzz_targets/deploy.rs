//! libFuzzer's way into the target `deploy` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("deploy").map(|target| (target.run)(input));
});
