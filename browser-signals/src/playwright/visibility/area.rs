//! Rectangles, and the styles that clip them.

/// The distance that a person scrolls sideways, in pixels.
pub(super) const FAR: f64 = 5000.0;
/// The smallest side of a box with visible content.
pub(super) const LEAST: f64 = 2.0;

/// A rectangle in pixels of the document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    pub(super) const EVERYWHERE: Area =
        Area { left: f64::NEG_INFINITY, top: f64::NEG_INFINITY, right: f64::INFINITY, bottom: f64::INFINITY };
    pub(super) const NOWHERE: Area = Area { left: 0.0, top: 0.0, right: 0.0, bottom: 0.0 };

    pub(super) fn new(left: f64, top: f64, width: f64, height: f64) -> Area {
        Area { left, top, right: left + width, bottom: top + height }
    }

    pub(super) fn width(&self) -> f64 {
        (self.right - self.left).max(0.0)
    }

    pub(super) fn height(&self) -> f64 {
        (self.bottom - self.top).max(0.0)
    }

    pub(super) fn within(&self, other: &Area) -> Area {
        Area {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        }
    }

    pub(super) fn holds(&self, x: f64, y: f64) -> bool {
        x >= self.left && x <= self.right && y >= self.top && y <= self.bottom
    }
}

/// The part of a box that the style `clip` leaves.
pub(super) fn clip(style: &str, bounds: &Area) -> Area {
    let Some(inner) = style.strip_prefix("rect(").and_then(|it| it.strip_suffix(')')) else {
        return Area::EVERYWHERE;
    };
    let sides: Vec<Option<f64>> = inner.split([',', ' ']).filter(|it| !it.is_empty()).map(pixels).collect();
    let side = |index: usize| sides.get(index).copied().flatten();
    Area {
        top: side(0).map_or(f64::NEG_INFINITY, |it| bounds.top + it),
        right: side(1).map_or(f64::INFINITY, |it| bounds.left + it),
        bottom: side(2).map_or(f64::INFINITY, |it| bounds.top + it),
        left: side(3).map_or(f64::NEG_INFINITY, |it| bounds.left + it),
    }
}

/// The bounding rectangle of the part of a box that the style `clip-path` leaves; everywhere for unsupported shapes.
pub(super) fn clip_path(style: &str, bounds: &Area) -> Area {
    let Some((shape, rest)) = style.split_once('(') else {
        return Area::EVERYWHERE;
    };
    let inner = rest.split(')').next().unwrap_or_default();
    match shape {
        "inset" => {
            let sides = inner.split(" round ").next().unwrap_or_default();
            let sides: Vec<&str> = sides.split_whitespace().collect();
            let side = |index: usize, whole: f64| {
                let same = [index, index.saturating_sub(2), 0];
                same.iter().find_map(|at| sides.get(*at)).and_then(|it| length(it, whole)).unwrap_or(0.0)
            };
            let cut = Area {
                top: bounds.top + side(0, bounds.height()),
                right: bounds.right - side(1, bounds.width()),
                bottom: bounds.bottom - side(2, bounds.height()),
                left: bounds.left + side(3, bounds.width()),
            };
            cut.within(bounds)
        }
        "circle" | "ellipse" => {
            let size = inner.split(" at ").next().unwrap_or_default();
            let nothing = size.split_whitespace().any(|it| length(it, 100.0).is_some_and(|it| it < 1.0));
            if nothing { Area::NOWHERE } else { Area::EVERYWHERE }
        }
        "polygon" => {
            let mut around = Area {
                left: f64::INFINITY,
                top: f64::INFINITY,
                right: f64::NEG_INFINITY,
                bottom: f64::NEG_INFINITY,
            };
            for point in inner.split(',') {
                let mut numbers = point.split_whitespace().filter(|it| !matches!(*it, "evenodd" | "nonzero"));
                let x = numbers.next().and_then(|it| length(it, bounds.width()));
                let y = numbers.next().and_then(|it| length(it, bounds.height()));
                let (Some(x), Some(y)) = (x, y) else { return Area::EVERYWHERE };
                around.left = around.left.min(bounds.left + x);
                around.right = around.right.max(bounds.left + x);
                around.top = around.top.min(bounds.top + y);
                around.bottom = around.bottom.max(bounds.top + y);
            }
            around
        }
        _ => Area::EVERYWHERE,
    }
}

/// The part of its content that a box leaves; of a scrolling box, all that a person can scroll to.
pub(super) fn overflow(x: &str, y: &str, area: &Area, outer: &Area) -> Area {
    let seen = area.within(outer);
    let mut inner = *outer;
    let scrolls = |style: &str| matches!(style, "auto" | "scroll");
    if (scrolls(x) || scrolls(y)) && (seen.width() < LEAST || seen.height() < LEAST) {
        return Area::NOWHERE;
    }
    if scrolls(x) {
        inner.left = area.left - FAR;
        inner.right = area.right + 10.0 * FAR;
    } else if matches!(x, "hidden" | "clip") {
        inner.left = inner.left.max(area.left);
        inner.right = inner.right.min(area.right);
    }
    if scrolls(y) {
        inner.top = f64::NEG_INFINITY;
        inner.bottom = f64::INFINITY;
    } else if matches!(y, "hidden" | "clip") {
        inner.top = inner.top.max(area.top);
        inner.bottom = inner.bottom.min(area.bottom);
    }
    inner
}

pub(super) fn pixels(text: &str) -> Option<f64> {
    text.strip_suffix("px")?.parse().ok()
}

fn length(text: &str, whole: f64) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(share) => Some(share.parse::<f64>().ok()? / 100.0 * whole),
        None => pixels(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Area = Area { left: 10.0, top: 20.0, right: 110.0, bottom: 70.0 };

    #[test]
    fn clip_is_applied() {
        assert_eq!(clip("auto", &BOX), Area::EVERYWHERE);
        let nothing = clip("rect(0px, 0px, 0px, 0px)", &BOX).within(&BOX);
        assert_eq!((nothing.width(), nothing.height()), (0.0, 0.0));
        let part = clip("rect(5px, auto, 15px, auto)", &BOX).within(&BOX);
        assert_eq!((part.top, part.bottom, part.width()), (25.0, 35.0, 100.0));
    }

    #[test]
    fn clip_path_is_applied() {
        assert_eq!(clip_path("none", &BOX), Area::EVERYWHERE);
        let half = clip_path("inset(50%)", &BOX);
        assert_eq!((half.width(), half.height()), (0.0, 0.0));
        let frame = clip_path("inset(10px 20%)", &BOX);
        assert_eq!((frame.top, frame.bottom, frame.left, frame.right), (30.0, 60.0, 30.0, 90.0));
        assert_eq!(clip_path("circle(0px at 50% 50%)", &BOX), Area::NOWHERE);
        assert_eq!(clip_path("circle(40%)", &BOX), Area::EVERYWHERE);
        assert_eq!(clip_path("polygon(0px 0px, 0px 0px, 0px 0px)", &BOX).width(), 0.0);
        assert_eq!(clip_path("polygon(0% 0%, 100% 0%, 50% 100%)", &BOX), BOX);
        assert_eq!(clip_path("path(\"M0 0\")", &BOX), Area::EVERYWHERE);
    }

    #[test]
    fn a_scrolling_box_clips_nothing_that_can_be_scrolled_to() {
        let outer = Area::new(0.0, 0.0, 100.0, 100.0);
        let inner = overflow("auto", "auto", &outer, &Area::EVERYWHERE);
        assert!(inner.holds(50.0, 4000.0) && inner.holds(900.0, 50.0));
        let hidden = overflow("hidden", "hidden", &outer, &Area::EVERYWHERE);
        assert_eq!(hidden, outer);
        let tiny = Area::new(0.0, 0.0, 1.0, 1.0);
        assert_eq!(overflow("auto", "scroll", &tiny, &Area::EVERYWHERE), Area::NOWHERE);
    }
}
