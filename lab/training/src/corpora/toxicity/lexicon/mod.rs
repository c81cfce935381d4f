//! Words by their use, written for this project. They serve to recognise abuse, so they are abusive themselves; the
//! model sees them in sentences, see `written`.

mod people;
mod qualities;
mod requests;
mod rough;

pub use people::{DOUBLE, IDENTITIES, INSULTS, SLURS};
pub use qualities::{KIND, UNKIND};
pub use requests::{HARMS, HELPS};
pub use rough::{COARSE, LEWD, VIOLENT};
