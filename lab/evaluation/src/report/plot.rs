//! Plots as SVG within a page: axes, points with intervals, curves, bars.

use std::fmt::Write as _;

use crate::html::escape;
use crate::report::Approach;
use crate::trials::arm::Payment;

/// The colour of an approach. Most colour-blind readers can distinguish them too (Okabe and Ito).
pub(crate) const fn colour(approach: Approach) -> &'static str {
    match approach {
        Approach::None => "#555555",
        Approach::A => "#d55e00",
        Approach::B => "#0072b2",
        Approach::C => "#009e73",
        Approach::ATold => "#e69f00",
        Approach::CUnscrubbed => "#56b4e9",
        Approach::Without(_) => "#cc79a7",
        Approach::Asking(_) => "#e69f00",
        Approach::Arm(arm) => match arm.payment {
            Payment::Form => "#d55e00",
            Payment::Each => "#0072b2",
            Payment::Mandate => "#009e73",
        },
    }
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 46.0;

/// The height of a line of a label, and the width of a letter.
const LINE: f64 = 14.0;
const LETTER: f64 = 6.6;
/// A label that is farther than this from its point has a line to it.
const NEAR: f64 = 20.0;

/// A rectangle: left, top, right, bottom.
#[derive(Clone, Copy)]
struct Place(f64, f64, f64, f64);

impl Place {
    fn overlaps(&self, other: &Place) -> bool {
        self.0 < other.2 && other.0 < self.2 && self.1 < other.3 && other.1 < self.3
    }
}

/// A plot with two axes.
pub(crate) struct Plot {
    svg: String,
    /// The places of labels and points.
    taken: Vec<Place>,
    x: (f64, f64),
    y: (f64, f64),
}

impl Plot {
    /// An empty plot. Ranges are (least, greatest); an empty one is widened.
    pub(crate) fn new(title: &str, x_label: &str, y_label: &str, x: (f64, f64), y: (f64, f64)) -> Plot {
        let widened = |(low, high): (f64, f64)| if high > low { (low, high) } else { (low, low + 1.0) };
        let (x, y) = (widened(x), widened(y));
        let mut plot = Plot { svg: String::new(), taken: Vec::new(), x, y };
        let _ = write!(
            plot.svg,
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>\
             <text x=\"{LEFT}\" y=\"16\" class=\"t\">{0}</text>\
             <text x=\"{1}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>\
             <text transform=\"translate(14 {4}) rotate(-90)\" text-anchor=\"middle\">{5}</text>",
            escape(title),
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0,
            escape(x_label),
            (TOP + HEIGHT - BOTTOM) / 2.0,
            escape(y_label),
        );
        for tick in ticks(plot.x) {
            let at = plot.across(tick);
            let (bottom, below) = (HEIGHT - BOTTOM, HEIGHT - BOTTOM + 16.0);
            let _ = write!(
                plot.svg,
                "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{TOP}\" y2=\"{bottom}\" class=\"g\"/>\
                 <text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{}</text>",
                number(tick)
            );
        }
        for tick in ticks(plot.y) {
            let at = plot.up(tick);
            let _ = write!(
                plot.svg,
                "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" class=\"g\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0,
                number(tick)
            );
        }
        plot
    }

    fn across(&self, x: f64) -> f64 {
        let share = ((x - self.x.0) / (self.x.1 - self.x.0)).clamp(0.0, 1.0);
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    fn up(&self, y: f64) -> f64 {
        let share = ((y - self.y.0) / (self.y.1 - self.y.0)).clamp(0.0, 1.0);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }

    /// A point with its intervals; hollow or filled.
    pub(crate) fn point(
        &mut self,
        x: (f64, f64, f64),
        y: (f64, f64, f64),
        filled: bool,
        colour: &str,
        name: &str,
    ) {
        let ((low_x, x, high_x), (low_y, y, high_y)) = (x, y);
        let fill = if filled { colour } else { "Canvas" };
        let _ = write!(
            self.svg,
            "<g stroke=\"{colour}\" stroke-width=\"2\"><line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{y0:.1}\" y2=\"{y0:.1}\"/>\
             <line x1=\"{x0:.1}\" x2=\"{x0:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>\
             <circle cx=\"{x0:.1}\" cy=\"{y0:.1}\" r=\"5\" fill=\"{fill}\"><title>{}</title></circle></g>",
            self.across(low_x),
            self.across(high_x),
            self.up(low_y),
            self.up(high_y),
            escape(name),
            x0 = self.across(x),
            y0 = self.up(y),
        );
        let (x0, y0) = (self.across(x), self.up(y));
        self.taken.push(Place(x0 - 6.0, y0 - 6.0, x0 + 6.0, y0 + 6.0));
        self.text(x, y, name, colour);
    }

    /// A label next to a point, in the nearest line that no other label has.
    pub(crate) fn text(&mut self, x: f64, y: f64, words: &str, colour: &str) {
        let (x0, y0) = (self.across(x), self.up(y));
        let width = words.chars().count() as f64 * LETTER;
        let (x, anchor, left) = if x0 > WIDTH * 0.7 {
            (x0 - 9.0, "end", x0 - 9.0 - width)
        } else {
            (x0 + 9.0, "start", x0 + 9.0)
        };
        let lines = (HEIGHT / LINE) as i32;
        let above_and_below =
            (0..lines).flat_map(|line| [-7.0 - f64::from(line) * LINE, 16.0 + f64::from(line) * LINE]);
        let place = |y: f64| Place(left, y - LINE + 3.0, left + width, y + 3.0);
        let is_free = |y: &f64| {
            let here = place(*y);
            here.1 >= TOP
                && here.3 <= HEIGHT - BOTTOM
                && !self.taken.iter().any(|other| other.overlaps(&here))
        };
        let y = above_and_below.map(|dy| y0 + dy).find(is_free).unwrap_or(y0 + 16.0);
        self.taken.push(place(y));
        if (y - y0).abs() > NEAR {
            let _ = write!(
                self.svg,
                "<line x1=\"{x0:.1}\" y1=\"{y0:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"0.7\"/>",
                y - 4.0
            );
        }
        let words = escape(words);
        let _ = write!(
            self.svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>"
        );
    }

    /// A curve through points.
    pub(crate) fn curve(&mut self, points: &[(f64, f64)], colour: &str, dashed: bool) {
        let places: Vec<String> =
            points.iter().map(|(x, y)| format!("{:.1},{:.1}", self.across(*x), self.up(*y))).collect();
        let dash = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let _ = write!(
            self.svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
            places.join(" ")
        );
    }

    /// The plot as a file of its own, in light and dark.
    pub(crate) fn finish_alone(self) -> String {
        const STYLE: &str = ":root{color-scheme:light dark}svg{background:Canvas}text{font:12px sans-serif;fill:CanvasText}\
            .t{font-weight:bold;font-size:13px}.g{stroke:GrayText;stroke-opacity:.35}";
        let inline = self.finish();
        let opened = inline.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
        opened.replacen('>', &format!("><style>{STYLE}</style>"), 1) + "\n"
    }

    /// The plot's markup.
    pub(crate) fn finish(mut self) -> String {
        self.svg.push_str("</svg>");
        self.svg
    }
}

/// Horizontal bars, each with its name and value; the longest fills the width.
pub(crate) fn bars(title: &str, bars: &[(String, f64, &str)]) -> String {
    const ROW: f64 = 22.0;
    const NAMES: f64 = 210.0;
    let longest = bars.iter().map(|(_, value, _)| *value).fold(0.0, f64::max).max(1e-9);
    let height = TOP + ROW * bars.len() as f64 + 8.0;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>\
         <text x=\"0\" y=\"16\" class=\"t\">{0}</text>",
        escape(title)
    );
    for (row, (name, value, colour)) in bars.iter().enumerate() {
        let y = TOP + ROW * row as f64;
        let width = value / longest * (WIDTH - NAMES - 60.0);
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{NAMES}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"15\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            NAMES - 8.0,
            y + 12.0,
            escape(name),
            NAMES + width + 6.0,
            y + 12.0,
            number(*value)
        );
    }
    svg.push_str("</svg>");
    svg
}

/// Round numbers within a range, four to nine of them.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let unit = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|part| part * unit).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|tick| tick as f64 * step).collect()
}

/// A number with as many decimal places as it needs, three at most.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(
            ticks((0.0, 1.0)).iter().map(|t| number(*t)).collect::<Vec<_>>(),
            ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        );
        for range in [(0.0, 0.05), (3.0, 812.0), (-2.0, 2.0), (0.0, 1e-6)] {
            let ticks = ticks(range);
            assert!((3..=12).contains(&ticks.len()), "{range:?}: {ticks:?}");
            assert!(ticks.iter().all(|tick| range.0 - 1e-6 <= *tick && *tick <= range.1 + 1e-6));
        }
    }

    #[test]
    fn labels_of_equal_points_stand_in_different_lines() {
        let mut plot = Plot::new("S", "C", "S", (0.0, 2.0), (0.0, 1.0));
        for name in ["one", "two", "three", "four"] {
            plot.point((1.0, 1.0, 1.0), (1.0, 1.0, 1.0), true, "#000", name);
        }
        let labels: Vec<&Place> = plot.taken.iter().skip(1).step_by(2).collect();
        for (at, one) in labels.iter().enumerate() {
            assert!(labels.iter().skip(at + 1).all(|other| !one.overlaps(other)));
        }
    }

    #[test]
    fn a_plot_alone_is_a_whole_file() {
        let alone = Plot::new("S", "C", "S", (0.0, 2.0), (0.0, 1.0)).finish_alone();
        assert!(alone.starts_with("<svg xmlns=") && alone.ends_with("</svg>\n"));
        assert_eq!((alone.matches("<svg").count(), alone.matches("<style>").count()), (1, 1));
    }

    #[test]
    fn infinite_values_stay_within_the_frame() {
        let mut plot = Plot::new("<S>", "C", "S", (0.0, 0.0), (0.0, 1.0));
        plot.point((0.0, 1.0, f64::INFINITY), (0.2, 0.5, 0.9), true, "#000", "a & b");
        let svg = plot.finish();
        assert!(!svg.contains("inf") && !svg.contains("NaN"), "{svg}");
        assert!(svg.contains("a &amp; b") && svg.contains("&lt;S&gt;"));
    }
}
