//! Decrypting one file by GnuPG.

use std::ffi::OsStr;
use std::path::Path;

use vault::sources::SourceError;
use zeroize::Zeroizing;

use crate::program::Call;

/// The longest entry, in bytes.
const LONGEST: usize = 64 * 1024;

/// The content of a file.
pub(super) async fn decrypted(gpg: &Path, file: &Path) -> Result<Zeroizing<Vec<u8>>, SourceError> {
    // Without the key, without a way to unlock it, and after a no, GnuPG fails alike.
    let failed = SourceError::NotDecrypted;
    let call = Call { program: gpg, variables: &["GNUPGHOME"], longest: LONGEST, failed };
    let arguments = ["--batch", "--quiet", "--no-tty", "--decrypt", "--"].map(OsStr::new);
    call.output(arguments.into_iter().chain([file.as_os_str()])).await
}
