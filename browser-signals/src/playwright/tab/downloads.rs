//! Files that the pages of a container download: into a folder that the user named, and nowhere without one.
//!
//! The browser writes a download into a folder that ends with the container. One that arrived whole is copied from there into the
//! user's folder, readable for the user alone, under a name that the bridge made safe; no file that is there is replaced. Nothing
//! opens or runs it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::sync::watch;

use super::Tab;
use super::events::PageEvent;
use super::file_name::{numbered, safe_name};
use super::state::{Link, TabState};
use crate::json::text;
use crate::playwright::cdp::session::lock;
use crate::playwright::error::BridgeError;
use crate::{FrameId, Origin};

#[cfg(unix)]
type Unfinished = crate::playwright::ThrowawayFolder;
#[cfg(not(unix))]
type Unfinished = tempfile::TempDir;

/// The most downloads of a container.
const MOST: usize = 20;
/// The largest download, in bytes.
const LARGEST: u64 = 256 << 20;
/// The name of a page without a host.
const NAMELESS_PAGE: &str = "page";
/// The most files of one name in a folder.
const MOST_OF_A_NAME: u32 = 1000;

/// How a download ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DownloadEnd {
    /// The file is in the user's folder, under [`Download::name`].
    Kept,
    /// The user named no folder, so it was refused before a byte arrived.
    NoFolder,
    /// The container had 20 downloads before.
    TooMany,
    /// It has more than 256 MiB.
    TooLarge,
    /// The server or the browser ended it, or the folder could not take it.
    Failed,
}

/// A download that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// The name of the file: the page's words, made safe.
    pub name: String,
    /// The origin that it came from, or of the page that made it (`blob:`); none for other addresses.
    pub origin: Option<Origin>,
    /// The number of bytes that arrived.
    pub bytes: u64,
    /// How it ended.
    pub end: DownloadEnd,
}

/// The downloads of a container.
pub(crate) struct Downloads {
    /// The user's folder, and the one that the browser writes into.
    to: Option<(PathBuf, Unfinished)>,
    inner: Mutex<Inner>,
    running: watch::Sender<usize>,
}

#[derive(Default)]
struct Inner {
    /// The task has ended, and downloads are not kept any more.
    is_over: bool,
    begun: usize,
    /// How many had begun when they were last waited for.
    waited_for: usize,
    running: HashMap<String, Running>,
    ended: Vec<Download>,
}

struct Running {
    tab: Weak<TabState>,
    download: Download,
}

impl Downloads {
    /// # Errors
    /// The file system makes no temporary folder.
    pub(crate) fn new(folder: Option<&Path>) -> io::Result<Downloads> {
        let with_unfinished = |folder: &Path| Ok::<_, io::Error>((folder.to_owned(), Unfinished::new()?));
        Ok(Downloads {
            to: folder.map(with_unfinished).transpose()?,
            inner: Mutex::default(),
            running: watch::Sender::new(0),
        })
    }

    /// The parameters of the browser's command that sets what becomes of a download in this context.
    pub(crate) fn behavior(&self, context: &str) -> Value {
        let Some((_, unfinished)) = &self.to else {
            return json!({ "behavior": "deny", "browserContextId": context, "eventsEnabled": true });
        };
        // The browser names each file by the identifier of its download, and not by words of the page.
        json!({
            "behavior": "allowAndName",
            "browserContextId": context,
            "downloadPath": unfinished.path().to_string_lossy(),
            "eventsEnabled": true,
        })
    }

    fn begin(&self, tab: &Arc<TabState>, id: &str, params: &Value) {
        let mut inner = lock(&self.inner);
        let download = Download {
            name: safe_name(text(params, "suggestedFilename").unwrap_or_default()),
            origin: origin_of(text(params, "url").unwrap_or_default()),
            bytes: 0,
            end: DownloadEnd::Failed,
        };
        inner.begun += 1;
        let refused = match &self.to {
            None => Some(DownloadEnd::NoFolder),
            Some(_) if inner.begun > MOST => Some(DownloadEnd::TooMany),
            Some(_) => None,
        };
        match refused {
            None => {
                inner.running.insert(id.to_owned(), Running { tab: Arc::downgrade(tab), download });
            }
            Some(end) => {
                if self.to.is_some() {
                    cancel(&tab.link, &tab.context, id);
                }
                inner.end(Download { end, ..download });
                tab.record(PageEvent::DownloadRefused);
            }
        }
        self.running.send_replace(inner.running.len());
    }

    fn progress(self: &Arc<Downloads>, id: &str, params: &Value) {
        let count = |name: &str| params.get(name).and_then(Value::as_f64).unwrap_or_default() as u64;
        let is_too_large = count("receivedBytes").max(count("totalBytes")) > LARGEST;
        match text(params, "state") {
            Some("inProgress") if !is_too_large => {}
            Some("completed") if !is_too_large => {
                let downloads = Arc::clone(self);
                let id = id.to_owned();
                tokio::task::spawn_blocking(move || downloads.keep(&id));
            }
            _ => self.end(id, |running, _| {
                running.download.bytes = count("receivedBytes");
                if is_too_large {
                    running.download.end = DownloadEnd::TooLarge;
                    if let Some(tab) = running.tab.upgrade() {
                        cancel(&tab.link, &tab.context, id);
                    }
                }
            }),
        }
    }

    /// Counts a file that the guard makes itself, such as a page as a PDF. The error says why it may not.
    fn begin_own(&self) -> Result<&Path, DownloadEnd> {
        let mut inner = lock(&self.inner);
        inner.begun += 1;
        match &self.to {
            None => Err(DownloadEnd::NoFolder),
            Some(_) if inner.is_over => Err(DownloadEnd::Failed),
            Some(_) if inner.begun > MOST => Err(DownloadEnd::TooMany),
            Some((folder, _)) => Ok(folder),
        }
    }

    /// Copies a download that arrived into the user's folder. It gets its name in one step, so that a guard that is killed meanwhile
    /// leaves no half file that looks whole.
    fn keep(&self, id: &str) {
        let Some((folder, unfinished)) = &self.to else { return };
        let arrived = unfinished.path().join(id);
        let copied = File::open(&arrived).and_then(|arrived| copy(arrived, folder));
        let _removed_with_its_folder = fs::remove_file(&arrived);
        self.end(id, |running, is_over| {
            let Ok((part, bytes)) = copied else { return };
            // Nothing is kept that the end of the task did not record.
            if is_over {
                return;
            }
            if let Ok(name) = publish(part, folder, &running.download.name) {
                let end = DownloadEnd::Kept;
                running.download = Download { name, bytes, end, ..running.download.clone() };
            }
        });
    }

    fn end(&self, id: &str, change: impl FnOnce(&mut Running, bool)) {
        let mut inner = lock(&self.inner);
        let Some(mut running) = inner.running.remove(id) else { return };
        change(&mut running, inner.is_over);
        if running.download.end != DownloadEnd::Kept
            && let Some(tab) = running.tab.upgrade()
        {
            tab.record(PageEvent::DownloadRefused);
        }
        inner.end(running.download);
        self.running.send_replace(inner.running.len());
    }
}

impl Inner {
    fn end(&mut self, download: Download) {
        // A page can begin any number of downloads.
        if self.ended.len() <= MOST {
            self.ended.push(download);
        }
    }
}

fn cancel(link: &Link, context: &str, id: &str) {
    link.post("Browser.cancelDownload", json!({ "guid": id, "browserContextId": context }));
}

fn origin_of(address: &str) -> Option<Origin> {
    Origin::parse(address.strip_prefix("blob:").unwrap_or(address)).ok()
}

/// Copies what is read into a folder, under a name that nobody takes for a whole file (`.portcullis-….part`), for the user alone.
fn copy(mut from: impl io::Read, folder: &Path) -> io::Result<(NamedTempFile, u64)> {
    let mut part = tempfile::Builder::new().prefix(".portcullis-").suffix(".part").tempfile_in(folder)?;
    let bytes = io::copy(&mut from, &mut part)?;
    part.as_file().sync_all()?;
    Ok((part, bytes))
}

/// Gives a whole file its name, or the next one that no file of the folder has. A link of that name is not followed either.
fn publish(mut part: NamedTempFile, folder: &Path, name: &str) -> io::Result<String> {
    for number in 1..=MOST_OF_A_NAME {
        let name = numbered(name, number);
        match part.persist_noclobber(folder.join(&name)) {
            Ok(_) => return Ok(name),
            Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => part = refused.file,
            Err(refused) => return Err(refused.error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

impl Link {
    /// A download begins.
    pub(crate) fn on_download_begun(&self, params: &Value) {
        let Some(id) = text(params, "guid") else { return };
        let frame = text(params, "frameId").map(FrameId::new);
        let tabs = self.all_tabs();
        let of_frame = tabs.iter().find(|tab| frame.as_ref().is_some_and(|frame| tab.knows_frame(frame)));
        match of_frame.and_then(|tab| Some((tab, tab.pages.upgrade()?))) {
            Some((tab, pages)) => pages.downloads.begin(tab, id, params),
            // A window that is being closed began it. The browser does not say in which context.
            None => tabs.iter().for_each(|tab| cancel(self, &tab.context, id)),
        }
    }

    /// A download goes on, or ends.
    pub(crate) fn on_download_progress(&self, params: &Value) {
        let Some(id) = text(params, "guid") else { return };
        let is_running = |downloads: &Arc<Downloads>| lock(&downloads.inner).running.contains_key(id);
        let all = self.all_tabs();
        let all = all.iter().filter_map(|tab| Some(Arc::clone(&tab.pages.upgrade()?.downloads)));
        if let Some(downloads) = { all }.find(is_running) {
            downloads.progress(id, params);
        }
    }
}

impl Tab {
    /// The downloads of the container that ended since the last call. They are kept in the folder of
    /// [`BrowserSettings::downloads`](crate::playwright::BrowserSettings::downloads); without one, each is refused.
    pub fn take_downloads(&self) -> Vec<Download> {
        std::mem::take(&mut lock(&self.pages.downloads.inner).ended)
    }

    /// Keeps the page as a PDF, as a download is kept, under the name of its host. It is among the next [`Tab::take_downloads`].
    ///
    /// No value in it is masked: the file is the user's.
    ///
    /// # Errors
    /// [`BridgeError::Stale`] where the browser makes no PDF of the page, and what ends every call.
    pub async fn keep_as_pdf(&self) -> Result<(), BridgeError> {
        self.state.at_rest().await?;
        let mut frames = self.state.frames().await?;
        let top = frames.top()?.id.clone();
        self.state.identify(&mut frames, Some(&top)).await?;
        let origin = frames.top()?.origin.clone();
        let host = origin.as_ref().map_or(NAMELESS_PAGE, Origin::host);
        let name = safe_name(&format!("{host}.pdf"));
        let downloads = &self.pages.downloads;
        let kept = match downloads.begin_own() {
            Err(end) => Err(end),
            Ok(folder) => {
                let made = self.state.page()?.call("Page.printToPDF", json!({})).await?;
                let data = text(&made, "data").ok_or(BridgeError::Stale)?;
                let bytes = STANDARD.decode(data).map_err(|_| BridgeError::Stale)?;
                let folder = folder.to_owned();
                let name = name.clone();
                let write = move || {
                    let (part, count) = copy(bytes.as_slice(), &folder)?;
                    Ok::<_, io::Error>((publish(part, &folder, &name)?, count))
                };
                let written = tokio::task::spawn_blocking(write).await;
                written.ok().and_then(Result::ok).ok_or(DownloadEnd::Failed)
            }
        };
        let download = match kept {
            Ok((name, bytes)) => Download { name, origin, bytes, end: DownloadEnd::Kept },
            Err(end) => Download { name, origin, bytes: 0, end },
        };
        lock(&downloads.inner).end(download);
        Ok(())
    }

    /// Keeps no download from now on. One that ended before is among the next [`Tab::take_downloads`].
    pub fn end_downloads(&self) {
        lock(&self.pages.downloads.inner).is_over = true;
    }

    /// Waits until no download of the container is running, at most this long. It returns at once if none has begun since the last
    /// call.
    pub async fn downloads_end(&self, patience: Duration) {
        {
            let mut inner = lock(&self.pages.downloads.inner);
            if inner.waited_for == inner.begun {
                return;
            }
            inner.waited_for = inner.begun;
        }
        let mut running = self.pages.downloads.running.subscribe();
        let _still_running = tokio::time::timeout(patience, running.wait_for(|count| *count == 0)).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use super::*;

    #[test]
    fn no_file_of_the_folder_is_replaced_and_no_link_is_followed() {
        let place = tempfile::tempdir().unwrap();
        let (from, folder, outside) =
            (place.path().join("id"), place.path().join("downloads"), place.path().join("outside"));
        fs::create_dir(&folder).unwrap();
        fs::write(&from, "arrived").unwrap();
        fs::write(folder.join("report.pdf"), "of the user").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&outside, folder.join("report (2).pdf")).unwrap();
        let (part, bytes) = copy(File::open(&from).unwrap(), &folder).unwrap();
        assert_eq!(bytes, 7);
        // A guard that is killed here leaves a file with the name of an unfinished one.
        let names =
            || fs::read_dir(&folder).unwrap().flatten().map(|it| it.file_name().into_string().unwrap());
        let is_part = |name: &String| name.starts_with(".portcullis-") && name.ends_with(".part");
        assert_eq!(names().filter(is_part).count(), 1);
        let name = publish(part, &folder, "report.pdf").unwrap();
        assert_eq!(names().filter(is_part).count(), 0);
        assert_eq!(name, if cfg!(unix) { "report (3).pdf" } else { "report (2).pdf" });
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), "arrived");
        assert_eq!(fs::read_to_string(folder.join("report.pdf")).unwrap(), "of the user");
        assert!(!outside.exists());
        assert!(copy(io::empty(), &place.path().join("absent")).is_err());
    }

    #[test]
    fn a_download_has_the_origin_of_its_address_or_of_its_page() {
        let origin = |address: &str| origin_of(address).map(|origin| origin.to_string());
        assert_eq!(origin("https://shop.example/a?b"), Some("https://shop.example".to_owned()));
        assert_eq!(origin("blob:https://shop.example/0-1"), Some("https://shop.example".to_owned()));
        assert_eq!(origin("data:text/plain,x"), None);
    }
}
