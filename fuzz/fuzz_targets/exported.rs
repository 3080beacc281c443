//! libFuzzer's way into the target `exported` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("exported").map(|target| (target.run)(input));
});
