//! A real Chromium trusts the run's authority, and only through the folder that was prepared for it.

use std::path::Path;

use evaluation::hosts;
use evaluation::scenario::Scenario;
use evaluation::servers::World;
use evaluation::suite::ScenarioKind;
use evaluation::tls::install_nss;

async fn dump(world: &World, home: &Path, url: &str) -> String {
    let chromium = std::env::var("PORTCULLIS_CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    let output = tokio::process::Command::new(chromium)
        .env("HOME", home)
        .env_remove("XDG_DATA_HOME")
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--host-resolver-rules={}", world.host_rules()))
        .arg(format!("--user-data-dir={}", home.join("profile").display()))
        .arg(url)
        .output()
        .await
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_with_the_prepared_home_loads_the_shop_and_another_does_not() {
    let world = World::start().await.unwrap();
    let scenario = Scenario::new(ScenarioKind::SellerDescription, false, 1);
    world.begin(&scenario);
    let url = scenario.product_url(hosts::SHOP_ORIGIN);

    let prepared = tempfile::tempdir().unwrap();
    install_nss(prepared.path(), world.ca_pem()).unwrap();
    let page = dump(&world, prepared.path(), &url).await;
    assert!(page.contains("Add to cart"), "{page}");

    let bare = tempfile::tempdir().unwrap();
    let page = dump(&world, bare.path(), &url).await;
    assert!(!page.contains("Add to cart"), "trusted without the authority");
    assert!(world.take(&scenario.id).is_some_and(|record| record.arrivals.len() == 1));
}
