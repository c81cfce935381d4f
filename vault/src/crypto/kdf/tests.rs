//! The test vector of the RFC, and the accepted range of costs.

use argon2::{Algorithm, Argon2, AssociatedData, ParamsBuilder, Version};

use super::KdfParams;
use crate::{Secret, VaultError};

/// RFC 9106, section 5.3.
#[test]
fn argon2id_of_the_rfc() {
    let params = ParamsBuilder::new()
        .m_cost(32)
        .t_cost(3)
        .p_cost(4)
        .data(AssociatedData::new(&[4; 12]).unwrap())
        .build()
        .unwrap();
    let argon2 = Argon2::new_with_secret(&[3; 8], Algorithm::Argon2id, Version::V0x13, params).unwrap();
    let mut tag = [0; 32];
    argon2.hash_password_into(&[1; 32], &[2; 16], &mut tag).unwrap();
    let expected = [
        0x0d, 0x64, 0x0d, 0xf5, 0x8d, 0x78, 0x76, 0x6c, 0x08, 0xc0, 0x37, 0xa3, 0x4a, 0x8b, 0x53, 0xc9, 0xd0,
        0x1e, 0xf0, 0x45, 0x2d, 0x75, 0xb6, 0x5e, 0xb5, 0x25, 0x20, 0xe9, 0x6b, 0x01, 0xe6, 0x59,
    ];
    assert_eq!(tag, expected);
}

#[test]
fn the_key_is_argon2id_of_passphrase_and_salt() {
    let salt = [9; 16];
    let key = KdfParams::FLOOR.derive(&Secret::new("phrase"), &salt).ok().unwrap();
    let params = ParamsBuilder::new().m_cost(19 * 1024).t_cost(2).p_cost(1).build().unwrap();
    let mut expected = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(b"phrase", &salt, &mut expected)
        .unwrap();
    assert_eq!(key.expose_to_wrap(), expected);
}

#[test]
fn costs_outside_the_range_are_refused_by_name() {
    let (floor, ceiling) = (KdfParams::FLOOR, KdfParams::CEILING);
    for good in [floor, ceiling, KdfParams::DEFAULT] {
        assert_eq!(KdfParams::new(good.memory_kib(), good.passes(), good.lanes()), Ok(good));
    }
    let refused = |memory, passes, lanes| match KdfParams::new(memory, passes, lanes) {
        Err(VaultError::KdfOutOfRange { cost, .. }) => cost,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(floor.memory_kib() - 1, 2, 1), "memory in KiB");
    assert_eq!(refused(ceiling.memory_kib() + 1, 2, 1), "memory in KiB");
    assert_eq!(refused(u32::MAX, 2, 1), "memory in KiB");
    assert_eq!(refused(65536, 1, 1), "number of passes");
    assert_eq!(refused(65536, 11, 1), "number of passes");
    assert_eq!(refused(65536, 2, 0), "number of lanes");
    assert_eq!(refused(65536, 2, 9), "number of lanes");
}
