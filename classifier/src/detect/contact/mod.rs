//! Addresses at which a person is reached: e-mail, phone, post.

pub(crate) mod email;
pub(crate) mod phone;
mod phone_words;
pub(crate) mod postal_address;
mod roles;
