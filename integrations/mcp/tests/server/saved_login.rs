//! A login that the user saved, in a task that an agent proposes.

use std::sync::{Arc, Mutex};

use evaluation::stage::Stage;
use mcp_guard::GatewaySettings;
use portcullis::audit::MemoryLog;
use portcullis::consent::{Answer, ConsentPrompt, ScriptedAnswerer};
use portcullis::guard::{Replaced, SystemEntropy, UserVault, VaultKey};
use portcullis::policy::{Policy, authority};
use portcullis::signals::Origin;
use portcullis::signals::login::LoginState;
use portcullis::storage::SafeFolder;
use portcullis::storage::login_folder::LoginFolder;
use portcullis::storage::vault_file::VaultFile;
use portcullis::vault::{KdfParams, Secret, Vault};
use portcullis::{DEFAULT_POLICY, Guard};
use serde_json::json;

use crate::support::site::Site;
use crate::support::{Client, with_browser};

const SHOP: &str = "shop.hostile.test";
const TOKEN: &str = "t0ken-opal-kettle-harbour-71";
const PASSPHRASE: &str = "correct horse battery staple";

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_the_agents_uses_a_saved_login_after_a_question_and_reads_nothing_of_it() {
    let stage = Stage::set_up().await.expect("run `cargo xtask setup` first");
    let site = Site::start(&stage, &[SHOP, "evil.hostile.test"]).await;
    site.put(
        &format!("{SHOP}/"),
        "<title>Shop</title><p id=out></p><script>out.textContent = localStorage.token ? `Your orders, ${localStorage.token}` : \
         'Please log in'</script>",
    );
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("private/my.vault");
    SafeFolder::open_or_make(path.parent().unwrap()).unwrap();
    let origin = Origin::parse(&format!("https://{SHOP}")).unwrap();
    let folder = LoginFolder::beside(&path);
    let passphrase = Secret::new(PASSPHRASE);
    {
        let checked = Policy::parse(DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
        let mut vault =
            Vault::create(&passphrase, &mut SystemEntropy, KdfParams::FLOOR, authority(checked, [3; 16]).1)
                .unwrap();
        let state =
            LoginState::simulated(&origin, &[("sid", "c00kie-opal-kettle")], &[("token", TOKEN)], None);
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
        let sealed = vault.save_login(&state, 7, u64::try_from(now).unwrap(), &mut SystemEntropy).unwrap();
        folder.write(sealed.login.file, &sealed.bytes).unwrap();
        VaultFile::create(&path, &vault.to_bytes(&mut SystemEntropy).unwrap()).unwrap();
    }
    let prompts: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = prompts.clone();
    let user = ScriptedAnswerer(move |prompt: &ConsentPrompt| {
        seen.lock().unwrap().push(prompt.to_string());
        Answer::Once
    });
    let (file, log) = (VaultFile::open(&path).unwrap(), MemoryLog::default());
    let bytes = file.bytes().to_vec();
    let vault = UserVault {
        bytes: &bytes,
        key: VaultKey::Passphrase(&passphrase),
        keeper: Some(Box::new(file)),
        replaced: Replaced::Log,
    };
    let guard = Guard::with_vault(
        DEFAULT_POLICY,
        vault,
        Box::new(log.clone()),
        Box::new(user),
        Box::new(SystemEntropy),
    );
    let guard = guard.unwrap().with_logins(folder);
    let received = with_browser(guard, site.browser(&stage), GatewaySettings::default(), async |client: &mut Client| {
        client.begin("2025-11-25").await;
        // The control: without the login the site takes the agent for a stranger.
        let home = json!({ "url": format!("https://{SHOP}/") });
        assert!(client.call("browser_navigate", home.clone()).await.text.contains("Please log in"));
        client.call("browser_close", json!({})).await;
        let plan = json!({ "origins": [format!("https://{SHOP}"), "https://evil.hostile.test"], "kinds": ["login"] });
        let planned = client.call("portcullis_plan", plan).await.text;
        assert!(planned.contains(&format!("the user is logged in at: https://{SHOP}")), "{planned}");
        let page = client.call("browser_navigate", home).await.text;
        assert!(page.contains("Your orders, [withheld]"), "{page}");
        let script = json!({ "function": "() => localStorage.token" });
        assert!(client.call("browser_evaluate", script).await.is_error);
        assert!(client.call("browser_take_screenshot", json!({})).await.is_error);
        let elsewhere = client.call("browser_navigate", json!({ "url": "https://evil.hostile.test/" })).await;
        assert!(elsewhere.is_error, "{elsewhere:?}");
        client.received.clone()
    })
    .await;
    assert!(!received.contains(TOKEN) && !received.contains("c00kie"), "{received}");
    assert!(!log.text().contains(TOKEN) && log.text().contains("login_restored"), "{}", log.text());
    assert!(site.asked().iter().all(|line| !line.starts_with("evil")), "{:?}", site.asked());
    let prompts = prompts.lock().unwrap();
    let question = prompts.iter().find(|prompt| prompt.contains("saved login")).unwrap();
    assert!(question.contains("the agent chose these sites"), "{question}");
    assert!(question.contains("reaches no other site, also not https://evil.hostile.test"), "{question}");
}
