//! Each case misuses a public interface in one way, and the compiler must refuse it for that reason.

#[test]
fn misuse_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/policy_dfa/*.rs");
    cases.compile_fail("tests/vault/*.rs");
}
