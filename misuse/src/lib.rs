//! What must not compile: each file in `tests/policy_dfa` and `tests/vault` breaks one property of a grant or of
//! the vault's doors, and stands beside what the compiler says of it.
//!
//! They are a package of their own, since their dependencies are compiled once more for them: those of the
//! crates' other tests would be many.
