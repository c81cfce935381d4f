//! What must not compile: forging, copying, reusing and redirecting a grant, and deciding unproved.

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
