//! libFuzzer's way into the target `plan-file` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("plan-file").map(|target| (target.run)(input));
});
