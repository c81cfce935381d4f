//! The frames of a tab, as the browser names them.

use std::sync::Arc;

use serde_json::Value;
use url::Url;

use crate::form::facts::path_of;
use crate::json::text;
use crate::{ContainerId, DocumentId, FrameId, Origin};

/// The most frames of one tab.
const MOST_FRAMES: usize = 64;

/// A report that no extension of this version sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// One frame.
pub(super) struct Frame<'a> {
    /// The browser's number; 0 for the top frame.
    pub number: u64,
    /// The browser's id of its document.
    pub document: DocumentId,
    /// Its origin by the browser; none for opaque ones.
    pub origin: Option<Origin>,
    /// The path of its address; none for documents without an address of their own.
    pub path: Option<Arc<str>>,
    /// The origins of its ancestors, parent first; none where one of them is opaque.
    pub ancestors: Option<Vec<Origin>>,
    /// The report of its content script.
    pub contents: &'a Value,
}

/// The frames of a tab, the top frame first.
pub(super) struct Report<'a> {
    pub tab: u64,
    pub frames: Vec<Frame<'a>>,
}

impl<'a> Report<'a> {
    /// Reads a report. `member` is the name of what the content scripts were asked for.
    pub(super) fn read(report: &'a Value, member: &str) -> Result<Report<'a>, Malformed> {
        let tab = report.get("tab").and_then(Value::as_u64).ok_or(Malformed)?;
        let all = report.get("frames").and_then(Value::as_array).ok_or(Malformed)?;
        if all.len() > MOST_FRAMES {
            return Err(Malformed);
        }
        let mut frames = Vec::with_capacity(all.len());
        for frame in all {
            frames.push(Frame::read(frame, member)?);
        }
        frames.sort_by_key(|frame| frame.number);
        let twice = frames.windows(2).any(|pair| matches!(pair, [one, other] if one.number == other.number));
        // There is one top frame, and it has no ancestors.
        let top = frames
            .first()
            .is_some_and(|top| top.number == 0 && top.ancestors.as_ref().is_some_and(Vec::is_empty));
        if twice || !top { Err(Malformed) } else { Ok(Report { tab, frames }) }
    }

    /// The tab as a container. The browser has no stronger isolation here.
    pub(super) fn container(&self) -> ContainerId {
        ContainerId::new(format!("tab:{}", self.tab))
    }

    /// The top frame.
    pub(super) fn top(&self) -> Option<&Frame<'a>> {
        self.frames.first()
    }

    pub(super) fn frame_id(&self, frame: &Frame<'_>) -> FrameId {
        FrameId::new(format!("tab:{}/{}", self.tab, frame.number))
    }
}

/// The numbers of the tab and the frame in an id of [`Report::frame_id`].
pub(super) fn tab_and_frame(frame: &FrameId) -> Option<(u64, u64)> {
    let (tab, frame) = frame.as_str().strip_prefix("tab:")?.split_once('/')?;
    Some((tab.parse().ok()?, frame.parse().ok()?))
}

impl<'a> Frame<'a> {
    fn read(frame: &'a Value, member: &str) -> Result<Frame<'a>, Malformed> {
        let number = frame.get("frame").and_then(Value::as_u64).ok_or(Malformed)?;
        let document = text(frame, "document").filter(|id| !id.is_empty()).ok_or(Malformed)?;
        let origin = text(frame, "origin").ok_or(Malformed)?;
        let above = frame.get("ancestors").and_then(Value::as_array).ok_or(Malformed)?;
        let ancestors = above.iter().map(|origin| exact(origin.as_str()?)).collect();
        Ok(Frame {
            number,
            document: DocumentId::new(document),
            origin: exact(origin).filter(|origin| fits(origin, text(frame, "url"))),
            path: text(frame, "url").and_then(path_of),
            ancestors,
            contents: frame.get(member).ok_or(Malformed)?,
        })
    }
}

/// An origin, if it is written exactly as browsers write it.
fn exact(text: &str) -> Option<Origin> {
    Origin::parse(text).ok().filter(|origin| origin.to_string() == text)
}

/// Whether a document with this address may have the origin. A document without an address of its own has the origin of
/// its creator.
fn fits(origin: &Origin, url: Option<&str>) -> bool {
    let Some(url) = url.and_then(|url| Url::parse(url).ok()) else { return false };
    match url.scheme() {
        "http" | "https" => Origin::of(&url).is_ok_and(|of_url| of_url == *origin),
        "about" | "blob" => true,
        _ => false,
    }
}
