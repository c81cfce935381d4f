//! A picture as SVG, which a browser shows as it is.

use super::layout::{LINE, Layout, MARGIN, PAD, Place, layout, wide};
use super::picture::{Picture, Sort};

const STYLE: &str = "text { font-family: sans-serif; font-size: 12px; fill: #1a1a1a } \
    .title { font-size: 15px; font-weight: bold } .head { font-weight: bold } .refused { fill: #9a1b1b } \
    .label { font-size: 11px; fill: #1d4f91 } .under { fill: #ffffff; fill-opacity: 0.9 } \
    .line { fill: none; stroke: #6b6b6b; stroke-width: 1.2 } rect { stroke: #8a8a8a; stroke-width: 1 } \
    .under { stroke: none } .state { fill: #f7f7f7 } .granted { fill: #d8f0d8 } .asked { fill: #fff2c8 } \
    .denied { fill: #f8d8d8 }";

pub(super) fn draw(picture: &Picture) -> String {
    let laid = layout(picture);
    let (width, height) = (laid.width.ceil(), laid.height.ceil());
    let title = escaped(&picture.title);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
         markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#6b6b6b\"/></marker></defs>\n\
         <rect class=\"under\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"{MARGIN}\">{title}</text>\n"
    );
    for route in &laid.routes {
        out += &line(&laid, route);
    }
    for place in &laid.places {
        out += &card(picture, place);
    }
    for (number, (line, route)) in picture.lines.iter().zip(&laid.routes).enumerate() {
        // What leaves the same card is told at different heights.
        let before = picture.lines.iter().take(number).filter(|other| other.from == line.from).count();
        out += &label(&laid, route, &line.label, before % 3);
    }
    out + "</svg>\n"
}

/// A line that runs down from place to place.
fn line(laid: &Layout, route: &[usize]) -> String {
    let places: Vec<&Place> = route.iter().filter_map(|number| laid.places.get(*number)).collect();
    let mut path = String::new();
    for (from, to) in places.iter().zip(places.iter().skip(1)) {
        let (x, y) = (from.middle(), from.top + from.height);
        let bend = (to.top - y) / 2.0;
        if path.is_empty() {
            path = format!("M{x:.1} {y:.1}");
        } else {
            path += &format!(" L{x:.1} {y:.1}");
        }
        let (a, b) = (y + bend, to.top - bend);
        path += &format!(" C{x:.1} {a:.1} {:.1} {b:.1} {:.1} {:.1}", to.middle(), to.middle(), to.top);
    }
    format!("<path class=\"line\" marker-end=\"url(#tip)\" d=\"{path}\"/>\n")
}

/// What a line says, near where it begins.
fn label(laid: &Layout, route: &[usize], text: &str, step: usize) -> String {
    let mut ends = route.iter().filter_map(|number| laid.places.get(*number));
    let (Some(from), Some(to)) = (ends.next(), ends.next()) else { return String::new() };
    let y = from.top + from.height + 19.0 + 14.0 * step as f64;
    let along = ((y - from.top - from.height) / (to.top - from.top - from.height)).clamp(0.0, 1.0);
    // The line is a curve that leaves steeply.
    let share = along * along * (3.0 - 2.0 * along);
    let x = from.middle() + (to.middle() - from.middle()) * share;
    let width = wide(text) * 0.92 + 4.0;
    let left = x - width / 2.0;
    format!(
        "<rect class=\"under\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"14\"/>\
         <text class=\"label\" text-anchor=\"middle\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>\n",
        y - 11.0,
        escaped(text)
    )
}

fn card(picture: &Picture, place: &Place) -> String {
    let Some(card) = place.card.and_then(|number| picture.cards.get(number)) else { return String::new() };
    let (class, round) = match card.sort {
        Sort::State => ("state", 4),
        Sort::Grant => ("granted", 14),
        Sort::Ask => ("asked", 14),
        Sort::Deny => ("denied", 14),
    };
    let mut out = format!(
        "<rect class=\"{class}\" rx=\"{round}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>\n",
        place.left, place.top, place.width, place.height
    );
    let texts =
        std::iter::once(("head", &card.head)).chain(card.refused.iter().map(|text| ("refused", text)));
    for (row, (class, text)) in texts.enumerate() {
        let y = place.top + PAD + LINE * (row as f64 + 0.8);
        out += &format!(
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>\n",
            place.left + PAD,
            escaped(text)
        );
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
