//! The lines that tell the agent of downloads. They hold no content of a file.

use portcullis::session::ToldDownload;
use portcullis::signals::playwright::{Download, DownloadEnd};

/// Downloads that ended, one on a line.
pub fn told(downloads: &[ToldDownload]) -> String {
    let lines: Vec<String> = downloads.iter().map(line).collect();
    format!("### Downloads\n{}", lines.join("\n"))
}

fn line(download: &ToldDownload) -> String {
    let ToldDownload { name, origin, bytes, end } = download;
    let file = if name.is_empty() { "a file" } else { name };
    let count = bytes.map(|bytes| format!(", {bytes} bytes")).unwrap_or_default();
    let from = if origin.is_empty() { String::new() } else { format!(" from {origin}") };
    match end {
        DownloadEnd::Kept => {
            format!("- downloaded {file}{from}{count}. The user has it in their folder for downloads")
        }
        DownloadEnd::NoFolder => format!(
            "- the download of {file}{from} was refused: the user named no folder for downloads. They do with `--downloads FOLDER`"
        ),
        DownloadEnd::TooMany => {
            format!("- the download of {file}{from} was refused: a task has 20 downloads at most")
        }
        DownloadEnd::TooLarge => {
            format!("- the download of {file}{from} was stopped: it has more than 256 MiB")
        }
        DownloadEnd::Failed => format!("- the download of {file}{from} failed{count}"),
    }
}

/// A download of a session that guards nothing, as the agent is told of it.
pub fn unguarded(download: Download) -> ToldDownload {
    let origin = download.origin.map(|origin| origin.to_string()).unwrap_or_default();
    ToldDownload {
        name: format!("{:?}", download.name),
        origin,
        bytes: Some(download.bytes),
        end: download.end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_a_line_of_its_own() {
        let told_end = |end| {
            let (name, origin) = ("\"a.pdf\"".to_owned(), "https://shop.example".to_owned());
            told(&[ToldDownload { name, origin, bytes: Some(12), end }])
        };
        assert_eq!(
            told_end(DownloadEnd::Kept),
            "### Downloads\n- downloaded \"a.pdf\" from https://shop.example, 12 bytes. The user has it in their folder for downloads"
        );
        let lines = [DownloadEnd::NoFolder, DownloadEnd::TooMany, DownloadEnd::TooLarge, DownloadEnd::Failed];
        for line in lines.map(told_end) {
            assert!(
                line.starts_with("### Downloads\n- the download of \"a.pdf\" from https://shop.example "),
                "{line}"
            );
        }
        let nameless =
            ToldDownload { name: String::new(), origin: String::new(), bytes: None, end: DownloadEnd::Kept };
        assert!(told(&[nameless]).contains("downloaded a file. The user"));
    }
}
