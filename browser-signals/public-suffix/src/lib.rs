//! The public suffix list of `psl`, compiled once.
//!
//! `psl` is a hundred thousand lines of generic code, which the compiler instantiates in every crate that calls it. That
//! takes half a minute for each optimised build of such a crate or its tests. The functions here are not generic, and
//! their crate is only rebuilt when the list changes.

pub use psl::{Domain, Suffix, Type};

/// The registrable domain of a name in lower-case ASCII: one label below its public suffix.
///
/// ```
/// let domain = public_suffix::domain("www.example.co.uk").map(|domain| domain.as_bytes());
/// assert_eq!(domain, Some(&b"example.co.uk"[..]));
/// ```
#[inline(never)]
pub fn domain(host: &str) -> Option<Domain<'_>> {
    psl::domain(host.as_bytes())
}

/// The public suffix of a name in lower-case ASCII.
#[inline(never)]
pub fn suffix(host: &str) -> Option<Suffix<'_>> {
    psl::suffix(host.as_bytes())
}
