//! `portcullis consent site` and the commands about saved logins, as a person types them.

use portcullis::guard::SystemEntropy;
use portcullis::guard::record_choices::{RecordChoice, RecordChoices};
use portcullis::policy::{Policy, authority};
use portcullis::signals::Origin;
use portcullis::signals::login::LoginState;
use portcullis::storage::login_folder::LoginFolder;
use portcullis::storage::vault_file::VaultFile;
use portcullis::vault::{Secret, StateName, Vault};

use crate::home::{Home, PASSPHRASE};

const TOKEN: &str = "t0ken-opal-kettle-harbour-71";

#[test]
fn a_site_is_shown_with_a_switch_for_each_kind() {
    let home = Home::with_vault(31);
    let password = home.value("password").to_owned();
    let add = "vault add mine/vault login:one password --bound-to https://one.example --audit mine/audit";
    home.ok(add, &format!("{password}\n"));
    let street = home.value("street").to_owned();
    home.ok("vault add mine/vault address:home street", &format!("{street}\n"));
    let shown = |more: &str| home.ok(&format!("consent site mine/vault https://one.example{more}"), "");
    let lines = |text: &str, kind: &str| {
        let of = |line: &&str| line.split_whitespace().next() == Some(kind);
        text.lines().find(of).map(str::to_owned).unwrap_or_default()
    };
    let first = shown("");
    assert!(lines(&first, "address").contains("yes until 2096-10-02, into"), "{first}");
    assert!(lines(&first, "address").contains("address:home (street)"), "{first}");
    assert!(
        lines(&first, "login").contains("you are asked") && first.contains("login:one (password)"),
        "{first}"
    );
    assert!(!first.contains("contact") && first.contains("name the record with `--audit FOLDER`"), "{first}");

    let never = shown(" --never login --never address --audit mine/audit");
    for kind in ["login", "address"] {
        assert!(lines(&never, kind).contains("never"), "{never}");
    }
    assert!(never.contains("what was done there: nothing"), "{never}");
    let listed = home.ok("consent list mine/vault", "");
    assert!(listed.contains("never: login to https://one.example"), "{listed}");
    assert!(listed.contains("yes: address (city) to https://two.example"), "another site stays: {listed}");
    let asked = shown(" --ask login --audit mine/audit");
    assert!(
        lines(&asked, "login").contains("you are asked") && lines(&asked, "address").contains("never"),
        "{asked}"
    );
    let log = home.run("audit show mine/audit", "").out;
    assert!(log.contains("consent_never") && log.contains("consent_revoked"), "{log}");

    let elsewhere = home.ok("consent site mine/vault https://elsewhere.example", "");
    assert!(!elsewhere.contains("login:one") && elsewhere.contains("address:home"), "{elsewhere}");
    let given = format!("{PASSPHRASE}\n");
    home.refused("consent site mine/vault shop", &given, "`shop`");
    let both = "consent site mine/vault https://one.example --never login --ask login";
    home.refused(both, &given, "`login` is after `--never` and after `--ask`");
    home.refused(
        "consent site mine/vault https://one.example --never cats",
        &given,
        "`cats` is no kind of request",
    );
    home.no_canary_in_files();
}

/// Changes the vault as a guard does between two commands.
fn change(home: &Home, what: impl FnOnce(&mut Vault)) {
    let mut file = VaultFile::open(&home.vault()).unwrap();
    let checked = Policy::parse(portcullis::DEFAULT_POLICY).unwrap().compile().unwrap().check().unwrap();
    let verifier = authority(checked, [1; 16]).1;
    let mut vault = Vault::unlock(file.bytes(), &Secret::new(PASSPHRASE), verifier).unwrap();
    what(&mut vault);
    file.save(&vault.to_bytes(&mut SystemEntropy).unwrap()).unwrap();
}

#[test]
fn a_choice_among_records_is_shown_and_taken_back() {
    let home = Home::with_vault(34);
    let one = Origin::parse("https://one.example").unwrap();
    for handle in ["address:home", "address:work"] {
        let street = home.value("street").to_owned();
        home.ok(&format!("vault add mine/vault {handle} street"), &format!("{street}\n"));
    }
    let among = ["address:home", "address:work"].map(str::to_owned);
    let kept = RecordChoices::default().with(RecordChoice::new("address", &one, &among, "address:work"));
    change(&home, |vault| {
        vault.set_state(StateName::Choices, &kept.to_json(), &mut SystemEntropy).unwrap();
    });
    let shown = home.ok("consent site mine/vault https://one.example", "");
    assert!(shown.contains("you chose address:work"), "{shown}");
    let other = home.ok("consent site mine/vault https://two.example", "");
    assert!(!other.contains("you chose"), "{other}");
    let asked = home.ok("consent site mine/vault https://one.example --ask address", "");
    assert!(!asked.contains("you chose"), "{asked}");
    home.no_canary_in_files();
}

#[test]
fn saved_logins_are_listed_and_forgotten_with_their_file() {
    let home = Home::with_vault(32);
    let origin = Origin::parse("https://shop.example").unwrap();
    let folder = LoginFolder::beside(&home.vault());
    change(&home, |vault| {
        let state = LoginState::simulated(&origin, &[("sid", TOKEN)], &[], None);
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
        let sealed = vault.save_login(&state, 7, u64::try_from(now).unwrap(), &mut SystemEntropy).unwrap();
        folder.write(sealed.login.file, &sealed.bytes).unwrap();
    });
    let listed = home.ok("vault logins mine/vault", "");
    assert!(listed.starts_with("https://shop.example\tfrom ") && listed.contains("\tuntil "), "{listed}");
    let site = home.ok("consent site mine/vault https://shop.example", "");
    assert!(site.contains("saved login until "), "{site}");
    let given = format!("{PASSPHRASE}\n");
    home.refused(
        "vault forget-login mine/vault https://other.example",
        &given,
        "no login is saved for https://other.example",
    );
    let said = home.ok("vault forget-login mine/vault https://shop.example", "");
    assert!(said.contains("log in at https://shop.example yourself and sign out"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "its file is gone");
    assert_eq!(home.ok("vault logins mine/vault", ""), "");
    assert!(!listed.contains(TOKEN) && !said.contains(TOKEN));
    home.no_canary_in_files();
}

#[test]
fn a_login_is_refused_before_anybody_types_where_it_could_not_be_saved() {
    let home = Home::with_vault(33);
    let given = format!("{PASSPHRASE}\n");
    home.refused("login http://shop.example --vault mine/vault", &given, "is not encrypted");
    home.refused("login shop --vault mine/vault", &given, "`shop`");
    home.refused("login https://shop.example --vault mine/vault --days 31", &given, "31");
}
