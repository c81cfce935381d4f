//! The tools of `--caps`: points of the window, checks of what the page shows, and PDFs. What they tell of a page with values of the
//! user's is no more than a snapshot does.

use std::fs;

use mcp_guard::Capabilities;
use serde_json::{Value, json};

use crate::concurrent_calls::handles;
use crate::downloads::{STREET, TASK, in_the_shop};
use crate::support::Client;

const ALL: Capabilities = Capabilities { vision: true, pdf: true, testing: true };

/// The centre of the element whose line of a snapshot with boxes has these words.
fn centre(boxed: &str, words: &str) -> (f64, f64) {
    let line = boxed.lines().find(|line| line.contains(words)).unwrap();
    let numbers = line.split_once("[box=").unwrap().1.split_once(']').unwrap().0;
    let numbers: Vec<f64> = numbers.split(',').map(|number| number.parse().unwrap()).collect();
    (numbers[0] + numbers[2] / 2.0, numbers[1] + numbers[3] / 2.0)
}

#[tokio::test(flavor = "multi_thread")]
async fn points_checks_and_pdfs_work_and_tell_no_value() {
    let folder = tempfile::tempdir().unwrap();
    in_the_shop(Some(folder.path()), Some(TASK), ALL, async |client: &mut Client, page| {
        let boxed = client.call("browser_snapshot", json!({ "boxes": true })).await.text;
        let (x, y) = centre(&boxed, "\"Report\"");
        let mut said = client.call("browser_mouse_click_xy", json!({ "x": x, "y": y })).await.text;
        while !said.contains("### Downloads") {
            said = client.call("browser_wait_for", json!({ "time": 0.1 })).await.text;
        }
        assert!(said.contains("downloaded \"report.pdf\""), "{said}");
        let outside = client.call("browser_mouse_click_xy", json!({ "x": -4, "y": y })).await;
        assert!(outside.is_error && outside.text.contains("outside of the window"), "{}", outside.text);
        let saved = client.call("browser_pdf_save", json!({})).await.text;
        assert!(saved.contains("downloaded \"shop.hostile.test.pdf\""), "{saved}");

        let street = handles(&page, "textbox \"Street\"").remove(0);
        let verify = |value: &str| json!({ "type": "textbox", "target": street, "value": value });
        let cases: [(&str, Value, Option<&str>); 4] = [
            (
                "browser_verify_element_visible",
                json!({ "role": "button", "accessibleName": "Receipt" }),
                None,
            ),
            ("browser_verify_text_visible", json!({ "text": "street" }), None),
            ("browser_verify_text_visible", json!({ "text": "Goodbye" }), Some("Text not found")),
            ("browser_verify_value", verify("elsewhere"), Some("Expected value \"elsewhere\", but got \"\"")),
        ];
        for (tool, arguments, problem) in cases {
            let answer = client.call(tool, arguments.clone()).await;
            assert_eq!(answer.is_error, problem.is_some(), "{tool} {arguments}: {}", answer.text);
            assert!(answer.text.contains(problem.unwrap_or("Done")), "{tool} {arguments}: {}", answer.text);
        }
        assert!(client.tools().await.contains(&"browser_mouse_click_xy".to_owned()));

        let block = json!({ "block": "REQ.address fields=[\"street\",\"city\"]\nREQ.end" });
        let granted = client.call("portcullis_request", block).await.text;
        assert!(granted.contains("GRANT.address"), "{granted}");
        // Guesses of the value are answered as wrong ones are.
        let answers = [STREET, "99 Another Road"].map(verify);
        let [right, wrong] = answers.map(|arguments| ("browser_verify_value", arguments));
        let (right, wrong) = (client.call(right.0, right.1).await, client.call(wrong.0, wrong.1).await);
        assert_eq!((right.is_error, &right.text), (wrong.is_error, &wrong.text));
        assert!(right.is_error && right.text.contains("is not told"), "{}", right.text);
        let now = client.tools().await;
        assert!(now.contains(&"browser_verify_value".to_owned()), "{now:?}");
        assert!(!now.contains(&"browser_mouse_click_xy".to_owned()), "{now:?}");
        for (tool, arguments) in [
            ("browser_mouse_click_xy", json!({ "x": x, "y": y })),
            ("browser_snapshot", json!({ "boxes": true })),
        ] {
            let refused = client.call(tool, arguments).await;
            assert!(refused.is_error && refused.text.contains("values of the user"), "{}", refused.text);
        }
        // A PDF shows the values: the user has it, and the agent is told its origin alone.
        let saved = client.call("browser_pdf_save", json!({})).await.text;
        assert!(saved.contains("downloaded a file from \"https://shop.hostile.test\". The user"), "{saved}");
    })
    .await;
    let kept = fs::read(folder.path().join("shop.hostile.test (2).pdf")).unwrap();
    assert!(kept.starts_with(b"%PDF-"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_option_none_of_them_is_offered() {
    in_the_shop(None, None, Capabilities::default(), async |client: &mut Client, _| {
        for tool in ["browser_mouse_click_xy", "browser_pdf_save", "browser_verify_value"] {
            assert!(!client.tools().await.contains(&tool.to_owned()), "{tool}");
        }
    })
    .await;
}
