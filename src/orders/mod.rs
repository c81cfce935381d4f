//! Orders that the guard places itself, by the protocol that a shop speaks (UCP), without a form and without the browser.
//!
//! The guard reads the shop's profile from the origin of the page that the agent is on. It tells the shop the items and, by a grant of its
//! own, the address. The shop states a checkout, and signs it if it takes mandates. The user is asked about exactly that one. After a yes, the guard looks at the checkout
//! once more, writes down that it is about to buy, signs two mandates that hold for a minute or asks for a token, and completes it. The agent gets
//! a receipt without values, and sees nothing of what the shop and the guard say to each other.
//!
//! A shop that signs nothing is ordered from only where the desk has a [source of tokens](OrderDesk::with_tokens) to pay it with. The user is then asked
//! about each order, whatever was agreed to with the task.
//!
//! All calls go through the proxy of the task's container, so they reach what the container may reach, over TLS that the guard verifies
//! itself. No redirect is followed and no cookie is sent.
//!
//! **A crash never buys twice.** The journal has the shop's id of the checkout before the mandates are signed or a token is asked
//! for. [`OrderDesk::recover`] asks the shop what became of it, and cancels it where it is still open. Mandates end by themselves after a
//! minute, and the shop takes each once; a token is sent once, and its order stays open until the token is taken back.
//!
//! | module | subject |
//! |---|---|
//! | `desk` | what orders need: the guard's profile, means of payment, journal and trusted certificates |
//! | `profile_server` | the server of the guard's profile on a loopback address |
//! | `placing` | one order: from the shop's profile to the receipt |
//! | `seen` | the shop's offer as the user is asked about it |
//! | `tokens` | where the tokens come from that pay shops which sign nothing |
//! | `transport` | one call through the container's proxy |

mod desk;
mod placing;
mod profile_server;
mod seen;
mod tokens;
mod transport;

pub use checkout_protocols::{CardFace, Credential, Instrument, PaymentMeans, PaymentToken, PublicKey};
pub use desk::{OrderDesk, TEST_MONEY};
pub use placing::OrderFailure;
pub(crate) use placing::{OpenOrder, is_doubtful};
pub use profile_server::ProfileServer;
pub use tokens::{TestTokens, TokenAnswer, TokenOrder, TokenSource};
