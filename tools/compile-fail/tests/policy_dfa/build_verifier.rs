//! Only an authority makes a verifier.
use policy_dfa::Verifier;

fn copy(verifier: Verifier) -> [Verifier; 2] {
    [Verifier { ..verifier }, Verifier::new(Default::default())]
}

fn main() {}
