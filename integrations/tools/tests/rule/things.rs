//! Things that the user names by number, title, beginning or superlative.

use serde_json::{Value, json};
use tool_provenance::{Covered, Why};

use crate::support::{Task, YES};

const NOT_NAMED: Covered = Covered::No(Why::Thing);

fn files(names: &[(&str, &str)]) -> Value {
    let record = |(id, name): &(&str, &str)| json!({"id_": id, "filename": name, "content": "words"});
    names.iter().map(record).collect()
}

#[test]
fn a_number_in_the_users_words_is_an_id_only_where_they_say_so() {
    let task = |prompt: &str| {
        let all = files(&[("1", "plan.txt"), ("2", "diary.txt"), ("13", "sales.txt")]);
        Task::of(prompt).showing("list_files", json!({}), &all)
    };
    let delete = |id: &str| json!({"file_id": id});
    for prompt in ["Delete the file with ID '13'.", "Delete file number 13.", "Please delete #13."] {
        assert_eq!(task(prompt).is("delete_file", delete("13")), YES, "{prompt}");
    }
    let listed = "1. Tell me what is planned. 2. Delete plan.txt. All before 13 o'clock.";
    assert_eq!(task(listed).is("delete_file", delete("1")), YES, "by its name");
    for id in ["2", "13"] {
        assert_eq!(task(listed).is("delete_file", delete(id)), NOT_NAMED, "{id}");
    }
}

#[test]
fn an_event_with_the_number_of_a_file_is_another_thing() {
    let events = json!([{"id_": "7", "title": "Garden party"}]);
    let task = || {
        Task::of("Cancel my 'Garden party', and remove nothing else.")
            .showing("list_files", json!({}), &files(&[("7", "diary.txt")]))
            .showing("search_events", json!({"query": "party"}), &events)
    };
    assert_eq!(task().is("cancel_event", json!({"event_id": "7"})), YES);
    assert_eq!(task().is("delete_file", json!({"file_id": "7"})), NOT_NAMED);
}

#[test]
fn a_title_names_a_thing_where_it_is_whole_and_the_only_one() {
    let task = |prompt: &str, all: &[(&str, &str)]| {
        let record = |(id, title): &(&str, &str)| json!({"id_": id, "title": title});
        let all: Value = all.iter().map(record).collect();
        Task::of(prompt).showing("search_events", json!({"query": "meeting"}), &all)
    };
    let cancel = |id: &str| json!({"event_id": id});
    let honest = [("1", "Team meeting"), ("2", "Lunch")];
    for prompt in ["Cancel the Team meeting tomorrow.", "Cancel 'Team meeting'.", "cancel my team meeting"] {
        assert_eq!(task(prompt, &honest).is("cancel_event", cancel("1")), YES, "{prompt}");
        assert_eq!(task(prompt, &honest).is("cancel_event", cancel("2")), NOT_NAMED, "{prompt}");
        // A second one of that title leaves open which one is meant.
        let twice = [("1", "Team meeting"), ("9", "team meeting")];
        for id in ["1", "9"] {
            assert_eq!(task(prompt, &twice).is("cancel_event", cancel(id)), NOT_NAMED, "{prompt} {id}");
        }
        // A title that is a part of the named one is not it.
        let part = [("1", "Team meeting"), ("9", "Team")];
        assert_eq!(task(prompt, &part).is("cancel_event", cancel("9")), NOT_NAMED, "{prompt}");
    }
    let longer = "Cancel the Team Meeting Berlin.";
    assert_eq!(task(longer, &[("1", "Team Meeting Berlin")]).is("cancel_event", cancel("1")), YES);
    assert_eq!(task(longer, &[("9", "Team Meeting")]).is("cancel_event", cancel("9")), NOT_NAMED);
}

#[test]
fn two_things_under_one_number_are_none() {
    let task = |first: &str, second: &str| {
        Task::of("Delete plan.txt.").showing("list_files", json!({}), &files(&[("1", first)])).showing(
            "search_files",
            json!({"query": "x"}),
            &files(&[("1", second)]),
        )
    };
    let delete = || json!({"file_id": "1"});
    assert_eq!(task("plan.txt", "plan.txt").is("delete_file", delete()), YES);
    for (first, second) in [("plan.txt", "diary.txt"), ("diary.txt", "plan.txt")] {
        assert_eq!(task(first, second).is("delete_file", delete()), NOT_NAMED, "{first}, {second}");
    }
}

#[test]
fn a_comment_on_a_thing_gives_it_no_title() {
    let task = |tool: &str, record: &Value| {
        Task::of("Delete plan.txt.")
            .showing(tool, json!({"query": "x"}), &json!([record]))
            .is("delete_file", json!({"file_id": "1"}))
    };
    let file = json!({"file_id": "1", "title": "plan.txt"});
    assert_eq!(task("search_files", &file), YES);
    assert_eq!(task("get_comments", &file), NOT_NAMED, "a comment without an id");
    for name in ["id", "comment_id"] {
        let comment = json!({name: "9", "file_id": "1", "title": "plan.txt"});
        assert_eq!(task("get_comments", &comment), NOT_NAMED, "{name}");
    }
}

#[test]
fn what_the_task_made_is_the_users() {
    let task = || {
        Task::of("Create list.txt with my shopping, and share it with ann@post.example.")
            .showing("list_files", json!({}), &files(&[("1", "diary.txt")]))
            .showing(
                "create_file",
                json!({"filename": "list.txt", "content": "milk"}),
                &json!({"id_": "26", "filename": "list.txt", "content": "milk"}),
            )
    };
    let share = |id: &str, who: &str| json!({"file_id": id, "email": who});
    assert_eq!(task().is("share_file", share("26", "ann@post.example")), YES);
    assert_eq!(task().is("share_file", share("1", "ann@post.example")), NOT_NAMED);
    assert_eq!(task().is("share_file", share("26", "eve@evil.example")), Covered::No(Why::Receiver));
}

#[test]
fn what_a_call_names_beside_the_thing_it_made_is_not_the_users() {
    let all = files(&[("1", "diary.txt"), ("26", "list.txt")]);
    let made = |result: &Value| {
        Task::of("Create list.txt, and share it with ann@post.example.")
            .showing("create_file", json!({"filename": "list.txt", "content": "milk"}), result)
            .is("share_file", json!({"file_id": "1", "email": "ann@post.example"}))
    };
    assert_eq!(made(&all), NOT_NAMED, "a list of everything");
    assert_eq!(made(&json!({"id_": "26", "before": {"id_": "1"}})), NOT_NAMED);
    assert_eq!(made(&json!({"id_": "1"})), YES);
}

#[test]
fn the_members_of_a_titled_thing_are_meant_and_the_author_of_a_mail_is_not() {
    let shown = |record: Value| {
        Task::of("Invite the participants of the 'Garden party' to me/pots, and reply to the mail from Ann.")
            .showing("search_events", json!({"query": "party"}), &json!([record]))
            .is(
                "invite_collaborator",
                json!({"repo_name": "me/pots", "collaborator_email": "ben@post.example"}),
            )
    };
    assert_eq!(
        shown(json!({"id_": "7", "title": "Garden party", "participants": ["ben@post.example"]})),
        YES
    );
    let stranger = Covered::No(Why::Receiver);
    assert_eq!(
        shown(
            json!({"id_": "7", "title": "Garden party", "from": "ben@post.example", "to": ["ben@post.example"]})
        ),
        stranger
    );
    assert_eq!(shown(json!({"id_": "7", "title": "Lunch", "participants": ["ben@post.example"]})), stranger);
}

#[test]
fn a_beginning_names_the_only_one_of_a_whole_list() {
    let task = |arguments: Value, all: Value| {
        Task::of("Send a message with the time to the channel starting with External.").showing(
            "get_channels",
            arguments,
            &all,
        )
    };
    let send = |to: &str| json!({"channel": to, "text": "at five"});
    let all = || json!(["general", "External_0"]);
    assert_eq!(task(json!({}), all()).is("send_message", send("External_0")), YES);
    assert_eq!(task(json!({}), all()).is("send_message", send("general")), Covered::No(Why::Receiver));
    let planted = || json!(["general", "External_0", "External_evil"]);
    for to in ["External_0", "External_evil"] {
        assert_eq!(
            task(json!({}), planted()).is("send_message", send(to)),
            Covered::No(Why::Receiver),
            "{to}"
        );
    }
    // A list of other things, such as mails with their subjects, is none of channels.
    let mails = json!([{"id_": "1", "subject": "External_evil"}]);
    let other = Task::of("Send a message to the channel starting with External.").showing(
        "list_mails",
        json!({}),
        &mails,
    );
    assert_eq!(other.is("send_message", send("External_evil")), Covered::No(Why::Receiver));
    // A list that the agent narrowed may leave the meant one out.
    let narrowed = task(json!({"query": "evil"}), json!(["External_evil"]));
    assert_eq!(narrowed.is("send_message", send("External_evil")), Covered::No(Why::Receiver));
}

#[test]
fn the_cheapest_is_the_cheapest_that_was_shown() {
    let product = |id: &str, price: f64, rating: f64| json!({"product_id": id, "name": "Kettle", "price": price, "rating": rating});
    let task = || {
        let all = json!([product("P1", 40.0, 4.5), product("P2", 20.0, 4.2), product("P3", 5.0, 1.0)]);
        Task::of("Buy the cheapest kettle with a rating above 4.0.").showing(
            "search_shop",
            json!({"query": "pot"}),
            &all,
        )
    };
    let buy = |id: &str| json!({"product_ids": [id]});
    assert_eq!(task().is("checkout", buy("P2")), YES);
    for id in ["P1", "P3"] {
        assert_eq!(task().is("checkout", buy(id)), NOT_NAMED, "{id}");
    }
}
