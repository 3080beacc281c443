//! libFuzzer's way into the target `terraform-value` of `testkit::fuzz`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    testkit::fuzz::target("terraform-value").map(|target| (target.run)(input));
});
