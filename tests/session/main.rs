//! The session's state machine without a browser: its prompts, refusals and releases.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that panics fails")]

mod played;

mod addresses;
mod agent_actions;
mod by_form;
mod card_fill;
mod choosing;
mod consent;
mod contacts;
mod egress;
mod guessing;
mod hand_over;
mod interference;
mod keys;
mod login;
mod mandate;
mod moves;
mod new_password;
mod observer;
mod one_time_code;
mod parts;
mod pointing;
mod providers;
mod purchase;
mod reasons;
mod release;
mod safety;
mod sign_on;
mod sources;
mod values_for_model;
mod verbs;
mod wire;
