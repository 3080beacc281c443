//! How `cyan` is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        // At a fixed address, as Go links: a program that can lie anywhere has 47,000 pointers put right at each start,
        // which takes longer than all else that a small document needs. Libraries, stack and heap still lie anywhere.
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
