//! libFuzzer's way into the target `layout` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("layout").map(|target| (target.run)(input));
});
