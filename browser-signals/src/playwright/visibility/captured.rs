//! The browser's answer about one document, and the computed styles that it is asked for.

use serde_json::Value;

/// The requested computed styles; [`Style`] names their indices.
pub(super) const STYLES: [&str; 26] = [
    "display",
    "visibility",
    "opacity",
    "-webkit-text-fill-color",
    "fill",
    "font-size",
    "position",
    "overflow-x",
    "overflow-y",
    "clip",
    "clip-path",
    "filter",
    "transform",
    "background-color",
    "background-image",
    "background-clip",
    "z-index",
    "-webkit-user-modify",
    "-webkit-text-security",
    "color-scheme",
    "direction",
    "text-shadow",
    "-webkit-text-stroke-width",
    "white-space-collapse",
    "content-visibility",
    "cursor",
];

#[derive(Debug, Clone, Copy)]
pub(super) enum Style {
    Display,
    Visibility,
    Opacity,
    TextColour,
    Fill,
    FontSize,
    Position,
    OverflowX,
    OverflowY,
    Clip,
    ClipPath,
    Filter,
    Transform,
    BackgroundColour,
    BackgroundImage,
    BackgroundClip,
    ZIndex,
    UserModify,
    TextSecurity,
    ColourScheme,
    Direction,
    TextShadow,
    StrokeWidth,
    WhiteSpace,
    ContentVisibility,
    Cursor,
}

/// The answer of `DOMSnapshot.captureSnapshot` for one document, by name.
pub(super) struct Captured<'a> {
    document: &'a Value,
    strings: &'a [Value],
}

impl<'a> Captured<'a> {
    pub(super) fn new(document: &'a Value, strings: &'a [Value]) -> Captured<'a> {
        Captured { document, strings }
    }

    pub(super) fn list(&self, path: &str) -> &'a [Value] {
        self.document.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    pub(super) fn string(&self, index: Option<&Value>) -> &'a str {
        let index = index.and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok());
        index.and_then(|it| self.strings.get(it)).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn number(&self, path: &str) -> f64 {
        self.document.pointer(path).and_then(Value::as_f64).unwrap_or(0.0)
    }

    pub(super) fn style(&self, styles: Option<&'a Value>, style: Style) -> &'a str {
        self.string(styles.and_then(|it| it.get(style as usize)))
    }
}
