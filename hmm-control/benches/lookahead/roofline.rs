//! The roofline: what each step reaches, beside what memory and arithmetic allow (Williams, Waterman and Patterson,
//! "Roofline", Communications of the ACM 52(4), 2009).

use std::fmt::Write;

/// Operations for each byte that is read, at the edges of the drawing.
const INTENSITY: (f64, f64) = (1.0, 256.0);
/// Billions of operations a second, at the edges of the drawing.
const SPEED: (f64, f64) = (4.0, 256.0);
const LEFT: f64 = 64.0;
const RIGHT: f64 = 544.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 290.0;
const SINGLE: &str = "#36c";
const BATCH: &str = "#393";

/// A step on one thread.
pub struct Point {
    /// The storage of the model.
    pub storage: String,
    pub is_batch: bool,
    /// Operations for each byte of the model that is read.
    pub intensity: f64,
    /// Billions of operations a second.
    pub speed: f64,
}

/// The place of a value on a logarithmic axis, from 0 to 1.
fn place(value: f64, (least, most): (f64, f64)) -> f64 {
    (value / least).log2() / (most / least).log2()
}

fn x(intensity: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * place(intensity, INTENSITY)
}

fn y(speed: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * place(speed, SPEED)
}

/// Draws the points and the roof of a machine whose thread reads `bandwidth` GB/s and multiplies at `arithmetic` GFLOP/s.
pub fn draw(points: &[Point], bandwidth: f64, arithmetic: f64) -> String {
    let title = "Look-ahead on one thread, and what memory and arithmetic allow";
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"12\" viewBox=\"0 0 560 340\" \
         role=\"img\" aria-label=\"{title}\"><style>.g{{stroke:#ddd}}.r{{stroke:#c33;fill:none;stroke-width:2}}</style>\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/><title>{title}</title>\
         <text x=\"{LEFT}\" y=\"22\" font-weight=\"bold\">{title}</text>\
         <text x=\"304\" y=\"330\" text-anchor=\"middle\">operations for each byte that is read</text>\
         <text transform=\"translate(16 165) rotate(-90)\" text-anchor=\"middle\">GFLOP/s</text>"
    );
    for value in powers(INTENSITY) {
        let x = x(value);
        let _ = write!(
            svg,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\" class=\"g\"/>\
             <text x=\"{x:.1}\" y=\"306\" text-anchor=\"middle\">{value}</text>"
        );
    }
    for value in powers(SPEED) {
        let (y, below) = (y(value), y(value) + 4.0);
        let _ = write!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\" class=\"g\"/>\
             <text x=\"58\" y=\"{below:.1}\" text-anchor=\"end\">{value}</text>"
        );
    }
    let ridge = arithmetic / bandwidth;
    let _ = write!(
        svg,
        "<path class=\"r\" d=\"M{:.1} {:.1}L{:.1} {:.1}H{RIGHT}\"/>\
         <text x=\"{RIGHT}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#c33\">reference product {arithmetic:.0} GFLOP/s, \
         plain read {bandwidth:.1} GB/s</text>",
        x(INTENSITY.0),
        y(bandwidth * INTENSITY.0),
        x(ridge),
        y(arithmetic),
        y(arithmetic) + 42.0,
    );
    for (colour, y, what) in [(SINGLE, 56, "one request"), (BATCH, 74, "each of a batch")] {
        let _ = write!(
            svg,
            "<circle cx=\"76\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/><text x=\"86\" y=\"{}\">{what}</text>",
            y + 4
        );
    }
    for point in points {
        let (x, y) = (x(point.intensity), y(point.speed));
        let colour = if point.is_batch { BATCH } else { SINGLE };
        // The numbers of f16 and bf16 have the same size, so that one stands above its point and the other below.
        let (from_point, turn) = if point.storage == "bf16" { (14.0, 30) } else { (-6.0, -30) };
        let _ = write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>\
             <text transform=\"translate({:.1} {:.1}) rotate({turn})\">{}</text>",
            x + 4.0,
            y + from_point,
            point.storage
        );
    }
    svg + "</svg>\n"
}

fn powers((least, most): (f64, f64)) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(least), |value| Some(value * 4.0)).take_while(move |value| *value <= most)
}
