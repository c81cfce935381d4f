//! No crate can add an audience.
enum Collector {}

impl policy_dfa::Audience for Collector {
    const NAME: &'static str = "collector";
}

fn main() {}
