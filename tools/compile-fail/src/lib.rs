//! Programs that must not compile. Each file in `tests/policy_dfa` and `tests/vault` misuses a grant or the vault in
//! one way, and the file of the same name with the ending `.stderr` holds the compiler's message.
//!
//! The cases are a package of their own, because `trybuild` compiles all dependencies of their package, those for
//! tests included, once more in a target folder of its own. This package has four; `vault` or `portcullis` has many.
