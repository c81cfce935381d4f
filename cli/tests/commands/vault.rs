//! `portcullis vault` and `portcullis consent` as a person types them: their output, their side effects, and their exit
//! codes.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use portcullis::storage::vault_file::VaultFile;

use crate::home::{Home, PASSPHRASE};

#[test]
fn a_vault_is_made_filled_listed_and_emptied_without_its_values() {
    let home = Home::empty(1);
    home.refused("vault init my.vault", "", "portcullis vault init ~/.portcullis/vault");
    assert_eq!(fs::read_dir(home.folder.path()).unwrap().count(), 0, "something was written");
    home.ok("vault init mine/vault", "");
    home.refused("vault init mine/vault", "", "exists already");
    let street = home.value("street").to_owned();
    home.ok("vault add mine/vault address:home street", &format!("{street}\n"));
    let password = home.value("password").to_owned();
    home.ok(
        "vault add mine/vault login:shop password --bound-to https://shop.example",
        &format!("{password}\n"),
    );
    let listed = home.ok("vault list mine/vault", "");
    assert_eq!(
        listed,
        "address:home\tstreet\tT2\tanywhere\nlogin:shop\tpassword\tT2\thttps://shop.example\n"
    );
    let meta = home.run("vault show-meta mine/vault", "");
    assert!(meta.code == 0 && meta.out.contains("Argon2id") && meta.out.contains("backups     1, 2"));
    home.ok("vault rm mine/vault address:home", "");
    assert_eq!(home.ok("vault list mine/vault", ""), "login:shop\tpassword\tT2\thttps://shop.example\n");
    home.no_canary_in_files();
}

#[test]
fn a_failing_command_reports_the_reason_and_changes_nothing() {
    let home = Home::with_vault(2);
    let given = format!("{PASSPHRASE}\nx\n");
    let unasked = [
        ("address:home streeet", "`streeet` is not a field"),
        ("shoes:home street", "`shoes:home`: a handle is"),
        ("login:shop password", "login:shop password needs the place"),
        ("card:one card_number --bound-to shop.example", "`shop.example`: write anywhere"),
        ("card:one card_code", "you are asked for it at each payment"),
        ("login:shop one_time_code", "login:shop one_time_code needs the place"),
    ];
    for (what, why) in unasked {
        // The command asks for nothing that it would reject afterwards.
        home.refused(&format!("vault add mine/vault {what}"), "", why);
    }
    let mut whole_site = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    whole_site.args([
        "vault",
        "add",
        "mine/vault",
        "card:one",
        "card_number",
        "--bound-to",
        "site a.example",
    ]);
    let ran = home.finish(whole_site, "");
    assert!(ran.code == 2 && ran.err.contains("never bound to a whole site"), "{}", ran.err);

    home.refused("vault list mine/vault", "wrong\n", "the passphrase does not open this vault");
    home.refused("vault list mine/vault", "", "nothing was given");
    home.refused("vault list mine/vault --passphrase-fd 77", &given, "file descriptor 77");
    home.refused("vault add mine/vault address:home city", &format!("{PASSPHRASE}\n"), "nothing was given");
    home.refused("vault rm mine/vault address:work", &given, "no record `address:work`");
    home.refused("vault restore mine/vault 2", "", "has no backup 2");
    home.refused("vault list mine/other", "", "there is no vault mine/other");
    home.refused("vault list nowhere/vault", "", "there is no vault nowhere/vault");
    home.refused("vault import mine/vault nowhere.age", "", "nowhere.age cannot be read");
    home.refused("vault export mine/vault mine/vault", "", "exists already");
    home.refused("consent revoke mine/vault 3", &given, "`3` is neither `all` nor a number");
    assert!(!home.folder.path().join("mine/other.lock").exists());

    let held = VaultFile::open(&home.vault()).unwrap();
    let busy = format!("mine/vault is in use by process {}", std::process::id());
    home.refused("vault list mine/vault", "", &busy);
    assert_eq!(home.run("vault show-meta mine/vault", "").code, 0);
    drop(held);

    fs::set_permissions(home.vault(), fs::Permissions::from_mode(0o644)).unwrap();
    home.refused("vault list mine/vault", "", "chmod 600");
    fs::set_permissions(home.vault(), fs::Permissions::from_mode(0o600)).unwrap();
    let mut damaged = home.bytes();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    fs::write(home.vault(), &damaged).unwrap();
    home.refused("vault list mine/vault", &given, "portcullis vault restore mine/vault");
}

#[test]
fn secrets_are_never_arguments() {
    let home = Home::with_vault(3);
    home.refused("vault add mine/vault address:home street Road", "", "unexpected argument 'Road'");
    home.refused("vault list mine/vault --passphrase quux", "", "unexpected argument '--passphrase'");
    home.refused("vault passwd mine/vault quux", "", "unexpected argument 'quux'");
    home.refused("vault phrase mine/vault quux", "", "unexpected argument 'quux'");
}

#[test]
fn a_passphrase_comes_by_a_file_descriptor() {
    let home = Home::with_vault(4);
    let city = home.value("city").to_owned();
    let lines = tempfile::NamedTempFile::new().unwrap();
    fs::write(lines.path(), format!("{PASSPHRASE}\n{city}\n")).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$0\" vault add mine/vault address:home city --passphrase-fd 3 3< \"$1\""]);
    shell.arg(env!("CARGO_BIN_EXE_portcullis")).arg(lines.path());
    let ran = home.finish(shell, "these lines\nare not read\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(home.ok("vault list mine/vault", ""), "address:home\tcity\tT1\tanywhere\n");
    home.no_canary_in_files();
}

#[test]
fn passphrase_key_and_backups_are_replaced() {
    let home = Home::with_vault(5);
    home.ok("vault passwd mine/vault", "another one\n");
    home.refused("vault list mine/vault", &format!("{PASSPHRASE}\n"), "does not open");
    let before = home.bytes();
    let ran = home.run("vault rotate mine/vault", "another one\n");
    assert!(ran.code == 0 && home.bytes() != before, "{}", ran.err);
    let ran = home.run("vault restore mine/vault 2", "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    home.ok("vault list mine/vault", "");
}

#[test]
fn an_export_opens_with_age_and_comes_back() {
    let home = Home::with_vault(6);
    let street = home.value("street").to_owned();
    home.ok("vault add mine/vault address:home street", &format!("{street}\n"));
    home.ok("vault export mine/vault out.age", "of the export\n");
    let bytes = fs::read(home.folder.path().join("out.age")).unwrap();
    let identity = age::scrypt::Identity::new("of the export".to_owned().into());
    let opened = age::Decryptor::new(&bytes[..]).unwrap();
    let mut text = String::new();
    opened
        .decrypt(std::iter::once(&identity as &dyn age::Identity))
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert!(text.contains(&street));
    home.refused(
        "vault import mine/vault out.age",
        &format!("{PASSPHRASE}\nwrong\n"),
        "does not open this export",
    );
    home.ok("vault rm mine/vault address:home", "");
    assert_eq!(home.ok("vault import mine/vault out.age", "of the export\n"), "1 value added, 0 replaced\n");
    home.no_canary_in_files();
}

#[test]
fn an_unlocked_vault_lists_without_its_passphrase_until_it_is_locked() {
    let home = Home::with_vault(7);
    let ran = home.run("vault unlock mine/vault --minutes 30", &format!("{PASSPHRASE}\n"));
    if ran.code == 3 {
        assert!(ran.err.contains("no keyring that can be used"), "{}", ran.err);
        eprintln!("not tested, this system refuses keyrings: {}", ran.err);
        return;
    }
    assert_eq!(ran.code, 0, "{}", ran.err);
    let listed = home.run("consent list mine/vault", "");
    // The first line is the passphrase in this case too, so that a script's passphrase is not stored as a value.
    let mistaken = home.run("vault add mine/vault address:home city", "Lisbon\n");
    let handed_over = home.run("vault list mine/vault --passphrase-fd 0", "wrong\n");
    let locked = home.run("vault lock mine/vault", "");
    assert!(listed.code == 0 && listed.out.contains("https://one.example"), "{}", listed.err);
    assert!(mistaken.code == 2 && mistaken.err.contains("does not open"), "{}", mistaken.err);
    assert!(handed_over.code == 2 && handed_over.err.contains("does not open"), "{}", handed_over.err);
    assert!(locked.code == 0 && locked.out.contains("out of the system's keyring"), "{}", locked.out);
    home.refused("vault list mine/vault", "", "nothing was given");
    assert!(home.run("vault lock mine/vault", "").out.contains("has no key of this vault"));
}

#[test]
fn standing_answers_are_listed_and_revoked() {
    let home = Home::with_vault(8);
    let listed = home.ok("consent list mine/vault", "");
    let first = "1   yes: address (city) to https://one.example, into a form for an address on /checkout, sent to /save, until 20";
    assert!(listed.starts_with(first), "{listed}");
    let back = home.ok("consent revoke mine/vault 1 --audit mine/audit", "");
    assert!(back.starts_with("revoked: yes: address (city) to https://one.example"), "{back}");
    let left = home.ok("consent list mine/vault --json", "");
    assert!(left.contains("two.example") && !left.contains("one.example"), "{left}");
    assert_eq!(home.ok("consent revoke mine/vault all", "").lines().count(), 2);
    assert!(home.ok("consent list mine/vault", "").contains("no standing answer"));
    assert!(home.ok("consent revoke mine/vault all", "").contains("none was revoked"));
    let log = home.run("audit show mine/audit --event consent_revoked", "").out;
    assert!(log.contains("https://one.example") && log.contains("city"), "{log}");
}

/// The events in the log, oldest first.
fn acts(home: &Home) -> Vec<String> {
    let shown = home.run("audit show mine/audit --event vault", "").out;
    let acts =
        shown.lines().filter_map(|line| line.split("act=").nth(1)?.split(' ').next().map(str::to_owned));
    acts.collect()
}

#[test]
fn changes_are_recorded_before_they_are_made() {
    let home = Home::with_vault(9);
    let city = home.value("city").to_owned();
    home.ok("vault add mine/vault address:home city --audit mine/audit", &format!("{city}\n"));
    home.ok("vault rotate mine/vault --audit mine/audit", "");
    home.ok("vault export mine/vault out.age --audit mine/audit", "of the export\n");
    home.ok("vault import mine/vault out.age --audit mine/audit", "of the export\n");
    let done = ["opened", "saved", "opened", "rotated", "opened", "exported", "opened", "imported"];
    assert_eq!(acts(&home), done);
    let verified = home.ok("audit verify mine/audit --vault mine/vault", "");
    assert!(verified.contains("and they are there"), "{verified}");
    home.no_canary_in_files();

    let held = portcullis::audit::FolderLog::open(&home.folder.path().join("mine/audit")).unwrap();
    let given = format!("{PASSPHRASE}\nx\n");
    home.refused("vault add mine/vault address:home street --audit mine/audit", &given, "in use");
    drop(held);
    let made = home.ok("vault init new/vault --audit new/audit", "");
    assert!(made.contains("new/vault is ready"));
    let other = "vault add mine/vault address:home street --audit new/audit";
    home.refused(other, &given, "does not go with the vault");
}

#[test]
fn a_restored_log_or_vault_is_refused_until_it_is_accepted() {
    let home = Home::with_vault(10);
    home.ok("vault rotate mine/vault --audit mine/audit", "");
    let audit = home.folder.path().join("mine/audit");
    let given = format!("{PASSPHRASE}\n");

    home.ok("vault restore mine/vault", "");
    home.refused("vault list mine/vault --audit mine/audit", &given, "older copy");
    assert_eq!(home.run("audit verify mine/audit --vault mine/vault", &given).code, 1);
    home.ok("vault accept mine/vault --audit mine/audit", "");
    home.ok("vault rotate mine/vault --audit mine/audit", "");
    home.ok("vault restore mine/vault 1 --audit mine/audit", "");
    home.ok("vault list mine/vault --audit mine/audit", "");
    assert_eq!(acts(&home).iter().filter(|act| *act == "restored").count(), 2);

    fs::rename(&audit, home.folder.path().join("elsewhere")).unwrap();
    home.refused("vault rotate mine/vault --audit mine/audit", &given, "portcullis vault accept");
    assert_eq!(home.run("audit verify elsewhere --vault mine/vault", &given).code, 0);
    home.ok("vault accept mine/vault", "");
    home.ok("vault rotate mine/vault --audit mine/audit", "");
    home.ok("audit verify mine/audit --vault mine/vault", "");
}

/// A picture of a QR code, eight points a module, with its white edge.
fn picture_of(text: &str) -> Vec<u8> {
    let code = qrcode::QrCode::new(text).unwrap();
    let (modules, edge, scale) = (code.width(), 4, 8);
    let side = (modules + 2 * edge) * scale;
    let colours = code.to_colors();
    let dark = |at: usize| {
        let (x, y) = ((at % side) / scale, (at / side) / scale);
        let within = (edge..edge + modules).contains(&x) && (edge..edge + modules).contains(&y);
        within && colours[(y - edge) * modules + x - edge] == qrcode::Color::Dark
    };
    let points: Vec<u8> = (0..side * side).map(|at| if dark(at) { 0 } else { 255 }).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side as u32, side as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(&points).unwrap();
    bytes
}

#[test]
fn a_seed_of_codes_comes_by_prompt_by_file_and_by_picture() {
    let mut home = Home::with_vault(9);
    let secret = "KQ4WMZLTOB2XG5DBMNXW2YLS";
    home.canaries.add("seed", secret);
    let address = format!("otpauth://totp/Shop:ana@mail.example?secret={secret}&issuer=Shop");
    let at = |name: &str| home.folder.path().join(name);
    fs::write(at("seed.txt"), format!("{address}\nanother line\n")).unwrap();
    fs::write(at("seed.png"), picture_of(&address)).unwrap();
    fs::write(at("nothing.png"), picture_of("https://shop.example/")).unwrap();
    fs::write(at("torn.png"), &picture_of(&address)[..300]).unwrap();
    let add = "vault add mine/vault login:shop one_time_code --bound-to https://shop.example";
    let said =
        "the seed of login:shop is in mine/vault; its codes go to https://shop.example alone, each once";
    assert!(home.ok(add, &format!("{address}\n")).contains(said));
    assert!(home.ok(add, "kq4w mzlt ob2x g5db mnxw 2yls\n").contains(said));
    assert!(home.ok(&format!("{add} --from seed.txt"), "").contains(said));
    assert!(home.ok(&format!("{add} --from seed.png"), "").contains(said));
    let listed = home.ok("vault list mine/vault", "");
    assert!(listed.contains("login:shop\tone_time_code\tT2\thttps://shop.example"), "{listed}");
    let given = format!("{PASSPHRASE}\n");
    home.refused(add, &format!("{PASSPHRASE}\n492813\n"), "this is no seed of one-time codes");
    home.refused(&format!("{add} --from nothing.png"), &given, "this is no seed of one-time codes");
    home.refused(&format!("{add} --from torn.png"), &given, "torn.png: the picture cannot be read");
    home.refused(&format!("{add} --from absent.png"), &given, "absent.png");
    let street = "vault add mine/vault address:home street --from";
    home.refused(&format!("{street} seed.png"), &given, "is a picture, and street is a line of text");
    fs::write(at("street.txt"), "12 Mill Lane\n").unwrap();
    assert!(home.ok(&format!("{street} street.txt"), "").contains("for any site that you agree to"));
    for name in ["seed.txt", "seed.png"] {
        fs::remove_file(at(name)).unwrap();
    }
    home.no_canary_in_files();
}
