//! A square of axes from 0 to 1 with lines, dots and bars in it, as SVG.

use std::fmt::Write;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 50.0;

/// Told apart also by those who do not see red and green (Okabe and Ito 2008).
pub const BLUE: &str = "#0072b2";
pub const ORANGE: &str = "#d55e00";
pub const GREY: &str = "#888";

/// A picture being drawn. Both axes go from 0 to 1; what lies outside is cut to them.
pub struct Plot {
    svg: String,
}

impl Plot {
    pub fn new(title: &str, below: &str, beside: &str) -> Plot {
        let mut plot = Plot {
            svg: format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
                 font-size=\"12\">\n<title>{0}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
                 <text x=\"{LEFT}\" y=\"20\" font-size=\"14\">{0}</text>\n",
                escaped(title)
            ),
        };
        for tick in 0..=5 {
            let value = f64::from(tick) / 5.0;
            let (at_x, at_y) = (x(value), y(value));
            plot.add(format_args!("<path d=\"M{at_x:.1} {TOP}V{:.1}\" stroke=\"#ddd\"/>", HEIGHT - BOTTOM));
            plot.add(format_args!("<path d=\"M{LEFT} {at_y:.1}H{:.1}\" stroke=\"#ddd\"/>", WIDTH - RIGHT));
            let low = HEIGHT - BOTTOM + 16.0;
            plot.add(format_args!(
                "<text x=\"{at_x:.1}\" y=\"{low}\" text-anchor=\"middle\">{value:.1}</text>"
            ));
            let (left, down) = (LEFT - 6.0, at_y + 4.0);
            plot.add(format_args!(
                "<text x=\"{left}\" y=\"{down:.1}\" text-anchor=\"end\">{value:.1}</text>"
            ));
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        let foot = HEIGHT - 12.0;
        plot.add(format_args!(
            "<text x=\"{middle}\" y=\"{foot}\" text-anchor=\"middle\">{}</text>",
            escaped(below)
        ));
        let centre = (TOP + HEIGHT - BOTTOM) / 2.0;
        plot.add(format_args!(
            "<text transform=\"translate(16 {centre}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(beside)
        ));
        plot
    }

    fn add(&mut self, part: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.svg.write_fmt(part);
        self.svg.push('\n');
    }

    /// A line through points.
    pub fn line(&mut self, colour: &str, dashed: bool, points: &[(f64, f64)]) {
        let mut path = String::new();
        for (number, (across, up)) in points.iter().enumerate() {
            let letter = if number == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{:.1} {:.1}", x(*across), y(*up));
        }
        let dashes = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        if !path.is_empty() {
            self.add(format_args!(
                "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>"
            ));
        }
    }

    /// A dot.
    pub fn dot(&mut self, colour: &str, (across, up): (f64, f64), radius: f64) {
        let (x, y) = (x(across), y(up));
        self.add(format_args!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{colour}\"/>"));
    }

    /// A bar from 0 up, between two places across.
    pub fn bar(&mut self, colour: &str, from: f64, to: f64, height: f64) {
        let (left, top) = (x(from), y(height));
        let (wide, high) = (x(to) - left, y(0.0) - top);
        self.add(format_args!(
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" fill=\"{colour}\" \
             fill-opacity=\"0.75\"/>"
        ));
    }

    /// What the colours mean, beneath the title.
    pub fn legend(&mut self, entries: &[(&str, &str)]) {
        let mut at = LEFT;
        for (colour, meaning) in entries {
            self.add(format_args!("<rect x=\"{at}\" y=\"31\" width=\"12\" height=\"8\" fill=\"{colour}\"/>"));
            self.add(format_args!("<text x=\"{}\" y=\"39\">{}</text>", at + 16.0, escaped(meaning)));
            at += 30.0 + 6.5 * meaning.chars().count() as f64;
        }
    }

    pub fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

fn kept(value: f64) -> f64 {
    if value.is_nan() { 1.0 } else { value.clamp(0.0, 1.0) }
}

fn x(value: f64) -> f64 {
    LEFT + kept(value) * (WIDTH - LEFT - RIGHT)
}

fn y(value: f64) -> f64 {
    HEIGHT - BOTTOM - kept(value) * (HEIGHT - TOP - BOTTOM)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
