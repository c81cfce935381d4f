//! A process that uses a vault, and the images of its memory.

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sirl::{Field, Kind};
use vault::{Binding, KdfParams, Secret, Vault};
use zeroize::Zeroizing;

use crate::common::{NOW, fill_grant, guard, page, payment_grant, seen};

/// The variable that names the role of the process, one of those of [`run`].
pub const ROLE: &str = "VAULT_CORE_ROLE";
/// The variable that names the folder for images.
pub const FOLDER: &str = "VAULT_CORE_FOLDER";

/// The canaries, and the value of the vault that each is.
pub const VALUES: [(&str, &str, Field); 7] = [
    ("name", "contact:me", Field::Name),
    ("phone", "contact:me", Field::Phone),
    ("email", "contact:me", Field::Email),
    ("street", "address:home", Field::Street),
    ("city", "address:home", Field::City),
    ("postal_code", "address:home", Field::PostalCode),
    ("card_number", "card:personal", Field::CardNumber),
];
/// The moments at which an image is taken; the last is only for the careless process.
pub const MOMENTS: [&str; 7] = ["created", "inserted", "unlocked", "scanned", "in-use", "after", "careless"];
const FILLED: [(Field, i64); 3] = [(Field::Street, 11), (Field::City, 12), (Field::Name, 13)];

/// Writes the content of a core dump: every mapping that is readable and not excluded from dumps.
fn write_image(path: &Path) {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let memory = File::open("/proc/self/mem").unwrap();
    let mut image = File::create(path).unwrap();
    let mut range = None;
    for line in maps.lines() {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some((from, to)) = first.split_once('-') {
            let number = |hex| u64::from_str_radix(hex, 16).ok();
            range = number(from).zip(number(to)).filter(|_| rest.starts_with('r'));
        } else if first == "VmFlags:"
            && !rest.split(' ').any(|flag| flag == "dd")
            && let Some((from, to)) = range
        {
            let mut piece = vec![0; 64 * 1024];
            let mut place = from;
            while place < to {
                let length = piece.len().min((to - place) as usize);
                // Some pages of the kernel are listed but cannot be read, and a dump does not have them.
                let Ok(read @ 1..) = memory.read_at(&mut piece[..length], place) else { break };
                image.write_all(&piece[..read]).unwrap();
                place += read as u64;
            }
        }
    }
}

/// A thread that writes images, so that the stack of the thread that used the vault is not changed.
struct Camera(Arc<AtomicUsize>);

impl Camera {
    fn new(folder: PathBuf) -> Camera {
        let wanted = Arc::new(AtomicUsize::new(0));
        let its = wanted.clone();
        std::thread::spawn(move || {
            loop {
                match its.load(Ordering::Acquire) {
                    0 => std::thread::yield_now(),
                    number => {
                        write_image(&folder.join(MOMENTS[number - 1]));
                        its.store(0, Ordering::Release);
                    }
                }
            }
        });
        Camera(wanted)
    }

    fn take(&self, moment: &str) {
        let number = MOMENTS.iter().position(|known| *known == moment).unwrap() + 1;
        self.0.store(number, Ordering::Release);
        while self.0.load(Ordering::Acquire) != 0 {
            std::hint::spin_loop();
        }
    }
}

/// Standard input without a buffer, which would keep a copy of the input.
fn input() -> File {
    File::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap())
}

/// Reads a text of the parent, which is wiped after use.
fn text(mut input: &File) -> Zeroizing<Vec<u8>> {
    let mut length = [0; 4];
    input.read_exact(&mut length).unwrap();
    let mut text = Zeroizing::new(vec![0; u32::from_le_bytes(length) as usize]);
    input.read_exact(&mut text).unwrap();
    text
}

/// The process. Roles: `images` writes an image at every moment but the last; `abort-in-use` and
/// `abort-after` end with a core dump at these moments; `careless` and `abort-careless` leave a value on
/// the heap; `panic` panics with values open.
pub fn run(role: &str) {
    let input = &input();
    let folder = PathBuf::from(std::env::var(FOLDER).unwrap());
    let camera = Camera::new(folder.clone());
    if role.ends_with("careless") {
        let value = text(input).to_vec();
        Box::leak(value.into_boxed_slice());
        camera.take("careless");
        if role.starts_with("abort") {
            std::process::abort();
        }
        return;
    }
    let shot = |moment: &str| {
        if role == "images" {
            camera.take(moment);
        }
    };
    let passphrase = Secret::read_line(&mut &*input, 200).unwrap();
    let counter = Cell::new(0_u8);
    // The data key and the signing key's seed come from the parent; everything else is public.
    let mut entropy = |out: &mut [u8]| match out.len() {
        32 => (&*input).read_exact(out).unwrap(),
        _ => {
            counter.set(counter.get().wrapping_add(1));
            out.fill(counter.get());
        }
    };
    let mut made = Vault::create(&passphrase, &mut entropy, KdfParams::FLOOR, guard(1).1).ok().unwrap();
    shot("created");
    for (_, handle, field) in VALUES {
        let value = Secret::read_line(&mut &*input, 200).unwrap();
        made.insert(handle, field, value, &Binding::Anywhere, &mut entropy).unwrap();
    }
    let expiry = Secret::new("12/31");
    made.insert("card:personal", Field::CardExpiry, expiry, &Binding::Anywhere, &mut entropy).unwrap();
    let bytes = made.to_bytes(&mut entropy).unwrap();
    shot("inserted");
    std::fs::write(folder.join("vault"), &bytes).unwrap();
    drop(made);

    let (mut point, verifier) = guard(2);
    let mut vault = Vault::unlock(&bytes, &passphrase, verifier).ok().unwrap();
    shot("unlocked");
    drop(passphrase);
    for _ in 0..3 {
        let text = text(input);
        assert_eq!(vault.scan(std::str::from_utf8(&text).unwrap()).unwrap().len(), VALUES.len());
    }
    assert!(vault.sign(b"the head of a log").is_ok());
    shot("scanned");
    let fill = vault.open_fill(fill_grant(&mut point, Kind::Address, &FILLED), &seen(page(), 2), NOW);
    let card = vault.open_payment(payment_grant(&mut point), &seen(page(), 2), NOW).ok().unwrap();
    assert_eq!(fill.as_ref().ok().unwrap().values.len(), FILLED.len());
    match role {
        "abort-in-use" => std::process::abort(),
        "panic" => {
            let bad = Secret::new(text(input).as_slice());
            let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                vault.insert("nothing", Field::Name, bad, &Binding::Anywhere, &mut entropy).unwrap();
            }));
            assert!(refused.is_err());
            card.open(|card| assert!(card.number().is_empty(), "the card was open"))
        }
        _ => {
            shot("in-use");
            assert_eq!(card.open(|card| card.number().len()), 19);
            drop(fill);
            vault.lock();
            drop(vault);
            if role == "abort-after" {
                std::process::abort();
            }
            shot("after");
        }
    }
}
