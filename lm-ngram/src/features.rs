//! A short vector that stands for what was read.

use hmm_control::Token;

/// Numbers of each of the two sums over the tokens read.
const WIDTH: usize = 32;

/// What a sum keeps at each further token: the first sees the last few tokens, the second the last few dozen.
const KEPT: [f32; 2] = [0.5, 0.95];

/// How many numbers stand for the tokens read.
pub(crate) const LENGTH: usize = KEPT.len() * WIDTH;

/// Takes a token into the sums: each token has a fixed vector of signs, the same in every program, and the sums fade.
/// The scale keeps each number's variance near 1 however long the text is.
pub(crate) fn take_in(sums: &mut [f32], token: Token) {
    let signs = mix(u64::from(token));
    for ((place, sum), kept) in sums.iter_mut().enumerate().zip(KEPT.iter().flat_map(|kept| [kept; WIDTH])) {
        let sign = if signs >> place & 1 == 1 { 1.0 } else { -1.0 };
        *sum = kept * *sum + (1.0 - kept * kept).sqrt() * sign;
    }
}

/// Spreads a number over 64 bits: the finaliser of the generator SplitMix64 (Steele, Lea and Flood 2014).
fn mix(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
