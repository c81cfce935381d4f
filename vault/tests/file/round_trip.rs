//! Every value and state is the same after the file is written and opened again.

use std::collections::BTreeMap;

use crate::common::{entropy, guard};
use proptest::prelude::*;
use proptest::sample::select;
use sirl::Field;
use vault::{Binding, KdfParams, Secret, StateName, UnlockKey, Vault};

const BINDINGS: [&str; 4] =
    ["anywhere", "https://shop.example", "http://shop.example:8080", "https://xn--bcher-kva.example"];

type Stored = Vec<(String, Field, String, String)>;

fn stored() -> impl Strategy<Value = Stored> {
    let handle = "(card|address|contact|identity):[a-c]";
    let fields: Vec<Field> = Field::ALL[..10].to_vec();
    let value = prop_oneof!["[ -~]{4,40}", "\\PC{1,300}", "[a-z]{4094}"];
    let one = (handle, select(fields), select(&BINDINGS[..]).prop_map(str::to_owned), value);
    proptest::collection::vec(one, 0..12)
}

fn states() -> impl Strategy<Value = BTreeMap<usize, Vec<u8>>> {
    proptest::collection::btree_map(0..4_usize, proptest::collection::vec(any::<u8>(), 0..600), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn values_and_states_survive_a_round_trip(values in stored(), states in states(), seed in any::<u64>()) {
        let mut entropy = entropy(seed);
        let made = Vault::create(&Secret::new("open sesame"), &mut entropy, KdfParams::FLOOR, guard(1).1);
        let mut vault = made.ok().unwrap();
        let mut newest = BTreeMap::new();
        for (handle, field, bound, value) in &values {
            let binding = Binding::parse(bound).unwrap();
            vault.insert(handle, *field, Secret::new(value.as_str()), &binding, &mut entropy).unwrap();
            newest.insert((handle, *field), value);
        }
        for (name, text) in &states {
            vault.set_state(StateName::ALL[*name], text, &mut entropy).unwrap();
        }
        let bytes = vault.to_bytes(&mut entropy).unwrap();
        let key: UnlockKey = Vault::unlock_key(&bytes, &Secret::new("open sesame")).ok().unwrap();
        let again = Vault::unlock_with_key(&bytes, &key, guard(1).1).ok().unwrap();
        prop_assert!(again.entries().eq(vault.entries()));
        prop_assert_eq!(again.generation(), (values.len() + states.len()) as u64);
        prop_assert_eq!(again.public_key(), vault.public_key());
        for ((handle, field), value) in newest {
            let found = again.scan(value).unwrap();
            let whole = |m: &vault::Match| m.handle == *handle && m.field == field;
            // Values of fewer than four characters besides separators are not searched for.
            prop_assert_eq!(found.iter().any(whole), vault.scan(value).unwrap().iter().any(whole));
            let searched = value.chars().filter(char::is_ascii_alphanumeric).count() >= 4;
            prop_assert!(!searched || found.iter().any(whole), "{value:?}");
        }
        for (number, name) in StateName::ALL.into_iter().enumerate() {
            let text = again.state(name).unwrap();
            prop_assert_eq!(text.as_deref(), states.get(&number));
        }
        let resaved = again.to_bytes(&mut entropy).unwrap();
        prop_assert_eq!(resaved.len(), bytes.len());
    }
}
