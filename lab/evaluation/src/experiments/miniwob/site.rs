//! The package's pages, served over TLS, and the rewards that they report.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::suite::servers::{Listening, WorldError};
use crate::suite::tls::Authority;
use crate::trials::EvaluationError;

/// The host under which the pages are served.
pub const HOST: &str = "miniwob.test";
/// The longest reward, in bytes.
const REWARD_LIMIT: usize = 64;

/// The served pages. Every episode is under `/e/<task>/<seed>/<name>/` and reports to an address of its own.
pub struct Site {
    shared: Arc<Shared>,
    listening: Listening,
}

struct Shared {
    folder: PathBuf,
    /// Rewards by `<task>/<seed>/<name>`.
    rewards: Mutex<HashMap<String, f64>>,
}

/// The folder of pages within `given`: the unpacked package, its `html`, or a folder above.
///
/// # Errors
/// [`EvaluationError::Input`] if there are no pages.
pub fn pages_in(given: &Path) -> Result<PathBuf, EvaluationError> {
    let places = [given.to_owned(), given.join("html"), given.join("miniwob/html")];
    let found = places.into_iter().find(|place| place.join("core/core.js").is_file());
    found.ok_or_else(|| {
        let given = given.display();
        EvaluationError::Input(format!(
            "{given} holds no MiniWoB++ pages; fetch them with `pip download miniwob==1.1.0 --no-deps -d {given}` and \
             unpack the .whl there with unzip"
        ))
    })
}

impl Site {
    /// Serves the pages in `folder`.
    ///
    /// # Errors
    /// [`WorldError`] if no certificate or no port can be had.
    pub async fn start(folder: PathBuf, authority: &Authority) -> Result<Site, WorldError> {
        let shared = Arc::new(Shared { folder, rewards: Mutex::default() });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        Ok(Site { shared, listening: Listening::start(authority, &[HOST], router).await? })
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.listening.address.port()
    }

    /// Takes the reward of an episode, in `[-1, 1]`; `None` if it did not end.
    pub fn take_reward(&self, task: &str, seed: u64, name: &str) -> Option<f64> {
        let mut rewards = self.shared.rewards.lock().unwrap_or_else(PoisonError::into_inner);
        rewards.remove(&format!("{task}/{seed}/{name}"))
    }
}

/// The address of an episode's page.
pub fn url(task: &str, seed: u64, name: &str) -> String {
    format!("https://{HOST}/e/{task}/{seed}/{name}/miniwob/{task}.html")
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let mut segments = path.splitn(6, '/').skip(1);
    let (Some("e"), Some(task), Some(seed), Some(name), Some(rest)) =
        (segments.next(), segments.next(), segments.next(), segments.next(), segments.next())
    else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if parts.method == Method::POST && rest == "reward" {
        let said = to_bytes(body, REWARD_LIMIT).await.ok();
        let reward = said.and_then(|said| String::from_utf8_lossy(&said).trim().parse::<f64>().ok());
        if let Some(reward) = reward {
            let mut rewards = shared.rewards.lock().unwrap_or_else(PoisonError::into_inner);
            rewards.insert(format!("{task}/{seed}/{name}"), reward);
        }
        return StatusCode::NO_CONTENT.into_response();
    }
    let Some(file) = within(&shared.folder, rest) else { return StatusCode::NOT_FOUND.into_response() };
    let Ok(bytes) = std::fs::read(&file) else { return StatusCode::NOT_FOUND.into_response() };
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => {
            let page = String::from_utf8_lossy(&bytes);
            let page = page.replacen("</head>", &format!("{}</head>", episode(task, seed, name)), 1);
            ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
        }
        extension => ([(header::CONTENT_TYPE, kind(extension))], bytes).into_response(),
    }
}

/// Resolves a file within a folder, and rejects paths that leave it.
fn within(folder: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    path.components().all(|part| matches!(part, Component::Normal(_))).then(|| folder.join(path))
}

fn kind(extension: Option<&str>) -> &'static str {
    match extension {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("png") => "image/png",
        Some("gif") => "image/gif",
        Some("jpg") => "image/jpeg",
        _ => "application/octet-stream",
    }
}

/// A script that turns a page into one episode: it fixes the seed, starts at once, allows time for a slow browser, and
/// reports the reward without the deduction for time.
fn episode(task: &str, seed: &str, name: &str) -> String {
    let (seed, to) = (serde_json::json!(seed), serde_json::json!(format!("/e/{task}/{seed}/{name}/reward")));
    format!(
        "<script>Math.seedrandom({seed});core.EPISODE_MAX_TIME=120000;(()=>{{\
         const start=core.startEpisode,end=core.endEpisode;let begun=false;\
         core.startEpisode=()=>{{start();if(!begun){{begun=true;core.startEpisodeReal()}}}};\
         core.endEpisode=(...all)=>{{const runs=core.EP_TIMER!==null;end(...all);\
         if(runs)fetch({to},{{method:'POST',body:String(WOB_RAW_REWARD_GLOBAL)}})}}}})()</script>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_folder_are_served() {
        let folder = Path::new("/pages");
        assert_eq!(within(folder, "core/core.js"), Some(PathBuf::from("/pages/core/core.js")));
        for path in ["../secret", "core/../../secret", "/etc/passwd", "./core", ".."] {
            assert_eq!(within(folder, path), None, "{path}");
        }
    }

    #[test]
    fn the_error_for_a_folder_without_pages_says_how_to_get_them() {
        let folder = tempfile::tempdir().unwrap();
        let Err(EvaluationError::Input(said)) = pages_in(folder.path()) else { panic!("there are no pages") };
        assert!(said.contains("pip download miniwob"), "{said}");
        let core = folder.path().join("miniwob/html/core");
        std::fs::create_dir_all(&core).unwrap();
        std::fs::write(core.join("core.js"), "").unwrap();
        for given in ["", "miniwob", "miniwob/html"] {
            assert!(pages_in(&folder.path().join(given)).unwrap().ends_with("miniwob/html"));
        }
    }
}
