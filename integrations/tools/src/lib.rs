//! This crate decides whether the words of a user cover what an agent does with tools. Its rules are about the origin of what a call
//! carries, and none is about wording.
//!
//! An agent reads mails, files, products and pages, and some of them hold commands of strangers. What a tool does, and what its arguments
//! are, follows from its schema; a tool that is not understood counts as an effect. A call is covered where the user's words ask for its
//! effect and name, describe or delegate what it acts on: a receiver by address, or by a name that one address of the user's own records
//! has, or that is among the members of a thing they name; a thing by its id, its title, its description, its beginning or a superlative, or
//! because the task made it; an address by its host. A message counts where the user
//! names its author and says to follow it, and then lets nobody in, gives nothing away and sets no credential. The user is asked about
//! everything else.
//!
//! It trades exactness for generality. It knows no service, so it asks about things that a person would see to be meant, and a thing
//! that answers the user's description is covered even if a better one was meant: amounts and the choice among products are the user's
//! to see at the checkout. Of the text of a message it is judged whether it holds words of somebody whom the user does not name, five in a row; what
//! the agent words anew is not recognised. Of an effect it knows what the schema says. A tool
//! that returns a stranger's text as it stands, and not as a field of a record, lets that text pass for a record. It is no part of a session yet.
//!
//! ```
//! use serde_json::{Map, json};
//! use tool_provenance::{Covered, Provenance, Tool, Why};
//!
//! let schema = json!({"properties": {"recipients": {"description": "addresses of the recipients"}, "body": {}}});
//! let mut task = Provenance::new("Send Ann my notes. Her address is ann@post.example.", [Tool::read("send_mail", "Sends a mail.", &schema)]);
//! let call = |to: &str| json!({"recipients": [to], "body": "notes"}).as_object().cloned().unwrap_or_else(Map::new);
//! assert_eq!(task.covers("send_mail", &call("ann@post.example")), Covered::Yes);
//! assert_eq!(task.covers("send_mail", &call("eve@evil.example")), Covered::No(Why::Receiver));
//! ```
//!
//! | module | subject |
//! |---|---|
//! | `schema` | what a tool does, and what its arguments are |
//! | `lexicon` | the words of the rules |
//! | `user_words` | what the user's words name |
//! | `shown` | what results showed |
//! | `parse` | results as values |
//! | `rule` | whether the user's words cover a call |
//! | `meaning` | what the user's words mean by what was shown |
//! | `claims` | purchases, logins and credentials |
//! | `content` | words of others in what a call writes |
//! | `text` | words, hosts and addresses in a text |

mod claims;
mod content;
mod lexicon;
mod meaning;
pub mod parse;
mod rule;
pub mod schema;
mod shown;
mod text;
mod user_words;

pub use rule::{Covered, Provenance, Why};
pub use schema::{Effect, Role, Tool};
pub use text::stands_in;
