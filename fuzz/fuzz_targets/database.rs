//! libFuzzer's way into the target `database` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("database").map(|target| (target.run)(input));
});
