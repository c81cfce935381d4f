//! The file of a context-aware prior.

use hmm_control::prior::Prior;
use ndarray::{Array1, Array2, array};
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_file_reads_back_to_the_bit(
        (weights, bias) in (1_usize..6, 1_usize..6).prop_flat_map(|(states, width)| {
            let number = prop::num::f32::NORMAL | prop::num::f32::ZERO | prop::num::f32::SUBNORMAL;
            (
                proptest::collection::vec(number, states * width)
                    .prop_map(move |values| Array2::from_shape_vec((states, width), values).unwrap()),
                proptest::collection::vec(number, states).prop_map(Array1::from_vec),
            )
        }),
    ) {
        let prior = Prior::new(weights, bias).unwrap();
        let bytes = prior.to_bytes().unwrap();
        prop_assert_eq!(&Prior::from_bytes(&bytes).unwrap(), &prior);
        prop_assert_eq!(prior.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn a_damaged_file_is_an_error_or_a_head(place in 0_usize..400, byte in any::<u8>(), cut in 0_usize..400) {
        let prior = Prior::new(array![[1.0, 2.0], [3.0, 4.0]], array![0.5, 0.25]).unwrap();
        let mut bytes = prior.to_bytes().unwrap();
        prop_assert!(Prior::from_bytes(&bytes[..cut.min(bytes.len() - 1)]).is_err());
        if let Some(target) = bytes.get_mut(place) {
            *target = byte;
        }
        if let Ok(read) = Prior::from_bytes(&bytes) {
            prop_assert!(read.weights().iter().chain(read.bias()).all(|value| value.is_finite()));
        }
    }
}

#[test]
fn a_bad_file_says_what_is_wrong() {
    let good = Prior::new(array![[1.0, 2.0], [3.0, 4.0]], array![0.5, 0.25]).unwrap().to_bytes().unwrap();
    let refuse = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let place = good.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let mut bad = good.clone();
        bad[place..place + from.len()].copy_from_slice(to.as_bytes());
        Prior::from_bytes(&bad).unwrap_err().to_string()
    };
    assert_eq!(
        refuse("prior\":\"1\"", "prior\":\"2\""),
        "the file cannot be read: it has version 2; this library reads version 1"
    );
    assert!(refuse("portcullis-prior", "portcullis-other").contains("has no entry \"portcullis-prior\""));
    assert_eq!(
        refuse("\"bias\"", "\"bios\""),
        "tensor \"bias\" is missing, but a vector of 32-bit floats is expected"
    );
    assert_eq!(
        refuse("\"shape\":[2,2]", "\"shape\":[4  ]"),
        "tensor \"weights\" is F32 of shape [4], but a matrix of 32-bit floats is expected"
    );
    assert_eq!(
        refuse("\"shape\":[2,2]", "\"shape\":[1,4]"),
        "the head is for 2 hidden states, the model has 1"
    );
    assert!(Prior::from_bytes(b"").unwrap_err().to_string().starts_with("the file cannot be read"));
}
