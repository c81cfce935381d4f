//! What a token is like, for a model that knows classes of words.

use crate::WordClass;
use crate::features::mix;

/// A token at two grains: a word by its class, a mark as itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) fine: u32,
    pub(crate) coarse: u32,
}

impl Kind {
    pub(crate) fn mark(mark: u32) -> Kind {
        Kind { fine: mark, coarse: mark }
    }

    pub(crate) fn of(class: WordClass) -> Kind {
        Kind { fine: mix(0xF1_7E, u32::from(class.fine)), coarse: mix(0xC0_A5, u32::from(class.coarse)) }
    }
}
