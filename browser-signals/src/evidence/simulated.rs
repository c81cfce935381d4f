//! A page that no browser made, for the tests of the crates above.

use super::fact::Fact;
use super::snapshot::{Control, Sink, Snapshot};
use crate::{Container, ContainerId, Destination, DocumentId, FrameId, NodeId, Origin, TlsState};

/// The form, and the node before its first control.
const FORM: i64 = 10;

impl Snapshot {
    /// A form of a site's own page, in a container of T2: visible, over a valid connection, sent by `POST` to the path of its page. Its
    /// controls have these `autocomplete` tokens and the nodes from 11 on.
    pub fn simulated_form(site: &Origin, path: &str, sink: Sink, tokens: &[&str]) -> Snapshot {
        let document = DocumentId::new("document");
        Snapshot {
            container: Fact::Known(Container::T2),
            container_id: ContainerId::new("container"),
            frame: FrameId::new("frame"),
            document: Fact::Known(document.clone()),
            top_document: Fact::Known(document),
            origin: Fact::Known(site.clone()),
            path: Fact::Known(path.into()),
            top_origin: Fact::Known(site.clone()),
            ancestors: Fact::Known(Vec::new()),
            tls: Fact::Known(TlsState::Valid),
            sandboxed: Fact::Known(false),
            secure_context: Fact::Known(true),
            form: Some(NodeId(FORM)),
            destination: Fact::Known(Destination {
                origin: site.clone(),
                path: path.into(),
                method: "POST".into(),
            }),
            sink: Fact::Known(sink),
            target: None,
            controls: (FORM + 1..).zip(tokens).map(|(node, token)| control(node, token)).collect(),
            words: Default::default(),
        }
    }
}

fn control(node: i64, token: &str) -> Control {
    Control {
        node: NodeId(node),
        form: Some(NodeId(FORM)),
        tag: "input".into(),
        input_type: if token.ends_with("password") { "password".into() } else { "text".into() },
        autocomplete: token.into(),
        name: token.into(),
        label: String::new(),
        visible: Fact::Known(true),
        hit: Fact::Known(true),
        editable: true,
        filled: false,
        words: Default::default(),
    }
}
