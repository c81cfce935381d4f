//! Words by what they do, written for this project. They are here to be recognised, and are as ugly as what is to be
//! recognised; they come to the model as sentences, see `written`.

mod people;
mod qualities;
mod requests;
mod rough;

pub use people::{DOUBLE, IDENTITIES, INSULTS, SLURS};
pub use qualities::{KIND, UNKIND};
pub use requests::{HARMS, HELPS};
pub use rough::{COARSE, LEWD, VIOLENT};
