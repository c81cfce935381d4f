//! Numbers and dates by which a state identifies a person.

pub(crate) mod date;
pub(crate) mod document;
pub(crate) mod lettered_id;
pub(crate) mod national_id;
