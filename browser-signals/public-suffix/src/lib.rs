//! The public suffix list of `psl`, compiled once.
//!
//! `psl` is a hundred thousand lines of generic code, which the compiler makes anew in every crate that calls
//! it: half a minute each time that such a crate or its tests are built optimised. Here they are called by
//! functions that are not generic, in a crate that changes only when the list does.

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
