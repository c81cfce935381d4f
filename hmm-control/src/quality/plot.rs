//! A picture of a training.

use std::fmt::Write;

/// One line of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// Where it goes, by rising first number; what is not finite is left out.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 50.0;

/// Told apart also by those who do not see red and green (Okabe and Ito 2008).
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];

/// The log likelihood per step as an SVG picture.
///
/// ```
/// use hmm_control::quality::{Line, likelihood_plot};
///
/// let line = Line { name: "training".into(), points: vec![(1.0, -7.5), (2.0, -6.25)] };
/// let svg = likelihood_plot("nats per token", &[line]);
/// assert!(svg.starts_with("<svg") && svg.contains("training"));
/// ```
pub fn likelihood_plot(unit: &str, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| finite(&line.points));
    let x = Axis::over(points().map(|point| point.0), LEFT, WIDTH - RIGHT);
    let y = Axis::over(points().map(|point| point.1), HEIGHT - BOTTOM, TOP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<title>Log likelihood per step</title>\n<rect width=\"100%\" height=\"100%\" \
         fill=\"white\"/>\n"
    );
    let mut add = |part: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = svg.write_fmt(part);
        svg.push('\n');
    };
    for (value, at) in x.ticks() {
        add(format_args!("<path d=\"M{at:.1} {TOP}V{}\" stroke=\"#ddd\"/>", HEIGHT - BOTTOM));
        add(format_args!(
            "<text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
            HEIGHT - 32.0
        ));
    }
    for (value, at) in y.ticks() {
        add(format_args!("<path d=\"M{LEFT} {at:.1}H{}\" stroke=\"#ddd\"/>", WIDTH - RIGHT));
        add(format_args!(
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            LEFT - 6.0,
            at + 4.0
        ));
    }
    add(format_args!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">step</text>",
        WIDTH / 2.0,
        HEIGHT - 12.0
    ));
    add(format_args!("<text x=\"8\" y=\"18\">{}</text>", escaped(unit)));
    for (number, (line, colour)) in lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
        let mut path = String::new();
        for (place, point) in finite(&line.points).enumerate() {
            let letter = if place == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{:.1} {:.1}", x.at(point.0), y.at(point.1));
        }
        if !path.is_empty() {
            add(format_args!("<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"));
        }
        let at = WIDTH - RIGHT - 130.0 * (lines.len() - number) as f64;
        add(format_args!("<path d=\"M{at} 14h20\" stroke=\"{colour}\" stroke-width=\"2\"/>"));
        add(format_args!("<text x=\"{}\" y=\"18\">{}</text>", at + 26.0, escaped(&line.name)));
    }
    svg.push_str("</svg>\n");
    svg
}

fn finite(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> + '_ {
    points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// From values to places.
struct Axis {
    least: f64,
    most: f64,
    begins: f64,
    ends: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64>, begins: f64, ends: f64) -> Axis {
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        // No value, or one: any width shows it.
        match (least.is_finite(), most > least) {
            (false, _) => Axis { least: 0.0, most: 1.0, begins, ends },
            (true, false) => Axis { least: least - 0.5, most: least + 0.5, begins, ends },
            (true, true) => Axis { least, most, begins, ends },
        }
    }

    fn at(&self, value: f64) -> f64 {
        self.begins + (value - self.least) / (self.most - self.least) * (self.ends - self.begins)
    }

    /// Three to eight round values with their places.
    fn ticks(&self) -> Vec<(String, f64)> {
        let rough = (self.most - self.least) / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let decimals = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (self.least / step).ceil() as i64;
        let values = (first..first + 12).map(|number| number as f64 * step);
        let shown = values.take_while(|value| *value <= self.most + step * 1e-6);
        shown.map(|value| (format!("{value:.decimals$}"), self.at(value))).collect()
    }
}
