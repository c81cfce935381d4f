//! The boxes of one document, and what each of them inherits: its opacity, and where it is clipped.

use serde_json::Value;

use super::area::{Area, FAR, clip, clip_path, overflow, pixels};
use super::captured::{Captured, Style};
use super::colour::Colour;

/// The blur from which on nothing is legible, in pixels.
const BLURRED: f64 = 8.0;

/// The properties that a box's descendants inherit.
#[derive(Debug, Clone)]
pub(super) struct Inherited {
    /// The product of all opacities.
    pub(super) opacity: f64,
    /// The clips of descendants in the flow, of absolutely positioned ones, and of those fixed to the window.
    pub(super) clip: Area,
    clip_absolute: Area,
    clip_fixed: Area,
    /// Whether it stays in place when the page is scrolled.
    pub(super) fixed: bool,
    /// The ancestor with a negative `z-index`, and the stacking context that it is painted below.
    pub(super) below: Option<(usize, usize)>,
    /// The nearest stacking context.
    context: usize,
    /// Whether it is editable.
    pub(super) editable: bool,
    /// The nearest block around the text, or the cell of a table.
    pub(super) block: usize,
    /// The nearest cell of a table, and its row.
    pub(super) cell: Option<(usize, usize)>,
}

/// One box.
#[derive(Debug, Clone)]
pub(super) struct LayoutBox {
    /// The index in the document of the node that it belongs to.
    pub(super) node: usize,
    pub(super) parent: Option<usize>,
    pub(super) area: Area,
    /// The part that the boxes around it leave.
    pub(super) seen: Area,
    pub(super) paint: u64,
    pub(super) inherited: Inherited,
    pub(super) background: Option<Colour>,
    /// Whether it paints something of unknown colours: a picture or a gradient.
    pub(super) pictured: bool,
    pub(super) colour: Option<Colour>,
    /// Whether its letters are also drawn by a shadow, a stroke or the background.
    pub(super) decorated: bool,
    pub(super) font_size: f64,
    /// Whether the browser draws its text, by `visibility` and `-webkit-text-security`.
    pub(super) drawn: bool,
    pub(super) is_text: bool,
    /// Whether its area may be larger than the part that it paints: lines that wrap.
    pub(super) is_inline: bool,
    /// Whether its own visibility matters: a control, or an element that holds another document.
    pub(super) is_relevant: bool,
    /// Whether a line ends where it begins: a block in the flow, or the element `br`.
    pub(super) breaks: bool,
    /// Whether the browser lays out what is in it only near the window.
    pub(super) deferred: bool,
    /// Whether the line ends of its text are those of a person's reading.
    pub(super) keeps_lines: bool,
}

/// The boxes of a document and its window.
pub(super) struct Boxes {
    pub(super) boxes: Vec<LayoutBox>,
    /// The part of the document in the window.
    pub(super) window: Area,
    /// The colour below everything, where it is known.
    pub(super) canvas: Option<Colour>,
}

impl Boxes {
    pub(super) fn read(captured: &Captured<'_>, is_top: bool) -> Boxes {
        let nodes = captured.list("/layout/nodeIndex");
        let bounds = captured.list("/layout/bounds");
        let styles = captured.list("/layout/styles");
        let paints = captured.list("/layout/paintOrders");
        let texts = captured.list("/layout/text");
        let parents = captured.list("/nodes/parentIndex");
        let names = captured.list("/nodes/nodeName");
        let contexts: std::collections::HashSet<u64> =
            captured.list("/layout/stackingContexts/index").iter().filter_map(Value::as_u64).collect();

        let first = bounds.first().map_or(Area::NOWHERE, area_of);
        let (x, y) = (captured.number("/scrollOffsetX"), captured.number("/scrollOffsetY"));
        let window = Area::new(x, y, first.width(), first.height());
        let mut read =
            Boxes { boxes: Vec::with_capacity(nodes.len()), window, canvas: is_top.then_some(Colour::WHITE) };
        let width = captured.number("/contentWidth").max(first.width());
        let height = captured.number("/contentHeight").max(first.height());
        // The first box of each node of the document.
        let mut box_of: Vec<Option<usize>> = vec![None; parents.len()];
        let (mut root_overflow, mut root_painted) = ("visible", false);
        for (index, node) in nodes.iter().enumerate() {
            let node = index_in(node).unwrap_or(usize::MAX);
            let mut up = parents.get(node).and_then(index_in);
            let again = box_of.get(node).copied().flatten();
            let mut parent = again;
            while parent.is_none() {
                let Some(above) = up else { break };
                parent = box_of.get(above).copied().flatten();
                up = parents.get(above).and_then(index_in);
            }
            let own = styles.get(index);
            let style = |style: Style| captured.style(own, style);
            let is_text = texts.get(index).and_then(Value::as_i64).is_some_and(|it| it >= 0);
            let name = captured.string(names.get(node));
            let area = bounds.get(index).map_or(Area::NOWHERE, area_of);
            let paint = paints.get(index).and_then(Value::as_u64).unwrap_or(0);
            let above = parent.and_then(|it| read.boxes.get(it)).map(|it: &LayoutBox| it.inherited.clone());
            let mut above = above.unwrap_or(Inherited {
                opacity: 1.0,
                clip: Area::EVERYWHERE,
                clip_absolute: Area::EVERYWHERE,
                clip_fixed: Area::EVERYWHERE,
                fixed: false,
                below: None,
                context: 0,
                editable: false,
                block: 0,
                cell: None,
            });
            // The window takes the root's overflow, or the body's where the root has none; and the root's
            // background, or the body's.
            let is_root = name == "HTML" && parent == Some(0);
            let is_body = name == "BODY" && !is_text;
            let is_window = is_root || (is_body && root_overflow == "visible");
            let locked = is_window && matches!(style(Style::OverflowY), "hidden" | "clip");
            let colour_of_box = Colour::read(style(Style::BackgroundColour)).filter(|it| it.alpha > 0.0);
            let has_picture = !matches!(style(Style::BackgroundImage), "none" | "");
            if is_root {
                root_overflow = style(Style::OverflowY);
                if style(Style::ColourScheme).contains("dark") {
                    read.canvas = None;
                }
                let left = if style(Style::Direction) == "rtl" { first.width() - width } else { 0.0 };
                let right = (left + width).min(left + first.width() + FAR);
                let reachable = Area { left, top: 0.0, right, bottom: height };
                (above.clip, above.clip_absolute, above.clip_fixed) = (reachable, reachable, window);
            }
            if locked {
                above.clip = above.clip.within(&window);
                above.clip_absolute = above.clip_absolute.within(&window);
            }
            let on_canvas = is_root || (is_body && !root_painted);
            if on_canvas {
                root_painted = colour_of_box.is_some() || has_picture;
                read.canvas = match (has_picture, colour_of_box, read.canvas) {
                    (true, ..) => None,
                    (_, Some(colour), Some(below)) => Some(colour.over(below)),
                    (_, Some(colour), None) => Some(colour).filter(|it| it.alpha >= 1.0),
                    (_, None, below) => below,
                };
            }
            let (inherited, seen) = if is_text || again.is_some() {
                let seen = area.within(&above.clip);
                (above, seen)
            } else {
                let is_context = contexts.contains(&(index as u64));
                Inherited::of(&style, &area, above, index, parent, is_context, is_window)
            };
            let decorated = style(Style::BackgroundClip).contains("text")
                || !matches!(style(Style::TextShadow), "none" | "")
                || pixels(style(Style::StrokeWidth)).is_some_and(|it| it > 0.0);
            let svg = matches!(parent_name(captured, names, parents, node), "text" | "tspan" | "textPath");
            let colour = if svg { style(Style::Fill) } else { style(Style::TextColour) };
            let replaced = matches!(name, "IMG" | "VIDEO" | "CANVAS" | "IFRAME" | "OBJECT" | "EMBED" | "svg");
            if let Some(slot) = box_of.get_mut(node)
                && slot.is_none()
                && !is_text
            {
                *slot = Some(index);
            }
            read.boxes.push(LayoutBox {
                node,
                parent,
                area,
                paint,
                inherited,
                seen,
                background: colour_of_box.filter(|_| !is_text && !on_canvas),
                pictured: !is_text && !on_canvas && (replaced || has_picture),
                colour: Colour::read(colour),
                decorated: decorated && !svg,
                font_size: pixels(style(Style::FontSize)).unwrap_or(16.0),
                drawn: style(Style::Visibility) != "hidden"
                    && style(Style::Visibility) != "collapse"
                    && matches!(style(Style::TextSecurity), "none" | ""),
                is_text,
                is_inline: style(Style::Display) == "inline" && !replaced,
                is_relevant: replaced || matches!(name, "INPUT" | "BUTTON" | "SELECT" | "TEXTAREA"),
                breaks: name == "BR"
                    || (!is_text
                        && is_block(style(Style::Display))
                        && !matches!(style(Style::Position), "absolute" | "fixed")),
                deferred: style(Style::ContentVisibility) == "auto",
                keeps_lines: matches!(
                    style(Style::WhiteSpace),
                    "preserve" | "preserve-breaks" | "break-spaces"
                ),
            });
        }
        read
    }

    /// The indices in the document of the elements whose contents are not laid out yet.
    pub(super) fn deferred(&self) -> impl Iterator<Item = usize> {
        let has_boxes =
            |index: usize| self.boxes.get(index + 1).is_some_and(|next| next.parent == Some(index));
        let boxes = self.boxes.iter().enumerate().filter(|(_, it)| it.deferred && !it.is_text);
        boxes.filter(move |(index, _)| !has_boxes(*index)).map(|(_, it)| it.node)
    }

    /// Whether `index` is `ancestor` or a descendant of it.
    pub(super) fn is_within(&self, index: usize, ancestor: usize) -> bool {
        let mut at = Some(index);
        while let Some(index) = at {
            if index <= ancestor {
                return index == ancestor;
            }
            at = self.boxes.get(index).and_then(|it| it.parent);
        }
        false
    }
}

impl Inherited {
    fn of<'a>(
        style: &impl Fn(Style) -> &'a str,
        area: &Area,
        above: Inherited,
        index: usize,
        parent: Option<usize>,
        is_context: bool,
        is_window: bool,
    ) -> (Inherited, Area) {
        let position = style(Style::Position);
        let moves_fixed = !matches!(style(Style::Transform), "none" | "") || style(Style::Filter).len() > 4;
        let mut clip_own = match position {
            "fixed" => above.clip_fixed,
            "absolute" => above.clip_absolute,
            _ => above.clip,
        };
        let cut = clip_path(style(Style::ClipPath), area);
        let cut = if matches!(position, "absolute" | "fixed") {
            cut.within(&clip(style(Style::Clip), area))
        } else {
            cut
        };
        clip_own = clip_own.within(&cut);
        let mut clip_children = clip_own;
        if !is_window {
            clip_children = overflow(style(Style::OverflowX), style(Style::OverflowY), area, &clip_own);
        }
        let contains = position != "static" || moves_fixed;
        let z_index: i64 = style(Style::ZIndex).parse().unwrap_or(0);
        let own_opacity = style(Style::Opacity).parse::<f64>().unwrap_or(1.0);
        let inherited = Inherited {
            opacity: above.opacity * own_opacity * filtered(style(Style::Filter)),
            clip: clip_children,
            clip_absolute: if contains { clip_children } else { above.clip_absolute.within(&cut) },
            clip_fixed: if moves_fixed { clip_children } else { above.clip_fixed.within(&cut) },
            fixed: above.fixed || matches!(position, "fixed" | "sticky"),
            below: if z_index < 0 && is_context { Some((index, above.context)) } else { above.below },
            context: if is_context { index } else { above.context },
            editable: style(Style::UserModify).starts_with("read-write"),
            block: if is_block(style(Style::Display)) { index } else { above.block },
            cell: match (style(Style::Display), parent) {
                ("table-cell", Some(row)) => Some((index, row)),
                _ => above.cell,
            },
        };
        (inherited, area.within(&clip_own))
    }
}

/// Whether a box of this style stands on lines of its own, as `innerText` has it.
fn is_block(display: &str) -> bool {
    !display.starts_with("inline")
        && !display.starts_with("ruby")
        && !matches!(display, "contents" | "none" | "")
}

/// The opacity that a filter leaves: that of its `opacity()`, and none where its blur makes text illegible.
fn filtered(style: &str) -> f64 {
    let mut through = 1.0;
    for part in style.split(')') {
        if let Some(share) = part.trim().strip_prefix("opacity(") {
            through *= match share.strip_suffix('%') {
                Some(percent) => percent.parse::<f64>().unwrap_or(100.0) / 100.0,
                None => share.parse::<f64>().unwrap_or(1.0),
            };
        }
        if let Some(radius) = part.trim().strip_prefix("blur(").and_then(pixels)
            && radius >= BLURRED
        {
            through = 0.0;
        }
    }
    through
}

fn parent_name<'a>(captured: &Captured<'a>, names: &[Value], parents: &[Value], node: usize) -> &'a str {
    let parent = parents.get(node).and_then(index_in);
    captured.string(parent.and_then(|it| names.get(it)))
}

/// A number of the snapshot that is an index.
pub(super) fn index_in(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|it| usize::try_from(it).ok())
}

pub(super) fn area_of(value: &Value) -> Area {
    let side = |index: usize| value.get(index).and_then(Value::as_f64).unwrap_or(0.0);
    Area::new(side(0), side(1), side(2), side(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opacity_of_filters() {
        assert_eq!(filtered("none"), 1.0);
        assert_eq!(filtered("opacity(0.05)"), 0.05);
        assert_eq!(filtered("grayscale(1) opacity(0)"), 0.0);
        assert_eq!(filtered("blur(20px)"), 0.0);
        assert_eq!(filtered("blur(2px)"), 1.0);
    }
}
