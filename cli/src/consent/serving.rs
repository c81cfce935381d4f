//! The standing consent of the running service, which holds the vault.

use portcullis::consent::{Change, ChangeKind};
use portcullis::service::protocol::{ClientRequest, Role};
use portcullis::signals::Origin;
use portcullis::sirl::Kind;
use serde_json::Value;

use super::number;
use crate::failure::Failure;
use crate::serve::{Folder, request};
use crate::vault::count;

/// A standing answer at the service.
struct Stands {
    change: Change,
    says: String,
}

impl Stands {
    fn read(one: &Value) -> Option<Stands> {
        let text = |name: &str| one.get(name).and_then(Value::as_str);
        let (kind, to) = (Kind::from_name(text("kind")?)?, Origin::parse(text("site")?).ok()?);
        Some(Stands {
            change: Change { kind, to, how: ChangeKind::TakeBack },
            says: text("says")?.to_owned(),
        })
    }
}

pub fn run(folder: &Folder, take_back: Option<&str>, json: bool) -> Result<(), Failure> {
    let answer = request(folder, Role::User, &ClientRequest::Standing)?;
    let all = answer.get("standing").and_then(Value::as_array).cloned().unwrap_or_default();
    if json {
        println!("{}", Value::from(all));
        return Ok(());
    }
    let mut all: Vec<Stands> = all.iter().filter_map(Stands::read).collect();
    let Some(which) = take_back else {
        for (at, stands) in all.iter().enumerate() {
            println!("{:<4}{}", at + 1, stands.says);
        }
        if all.is_empty() {
            println!("there is no standing answer: you are asked about everything");
        }
        return Ok(());
    };
    if which != "all" {
        let at = number(which, all.len()).ok_or_else(|| {
            let stand = count(all.len(), "answer");
            Failure::Input(format!(
                "`{which}` is neither `all` nor a number that `portcullis consent serving` shows ({stand})"
            ))
        })?;
        all = all.drain(at..=at).collect();
    }
    for Stands { change, says } in all {
        let answer = request(folder, Role::User, &ClientRequest::Change(change))?;
        match answer.get("changed").and_then(Value::as_str) {
            Some("kept") => println!("revoked: {says}"),
            Some("nothing") => println!("it stood no longer: {says}"),
            Some("locked") => {
                return Err(Failure::NotSetUp(
                    "the vault is locked; start `portcullis serve` anew".to_owned(),
                ));
            }
            _ => println!("revoked for the open task, but it could not be saved: {says}"),
        }
    }
    Ok(())
}
