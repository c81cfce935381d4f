//! A plot of a training, drawn by `plotters`.

use plotters::prelude::*;

/// One curve of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its label.
    pub name: String,
    /// Its points by rising first coordinate; points that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

/// Colours that differ for readers with a red-green deficiency too (Okabe and Ito 2008).
const COLOURS: [RGBColor; 4] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
];

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
    let points = || lines.iter().flat_map(finite);
    let (x, y) = (range(points().map(|point| point.0)), range(points().map(|point| point.1)));
    let mut svg = String::new();
    let drawn = (|| -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let area = SVGBackend::with_string(&mut svg, (640, 400)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(x, y)?;
        chart.configure_mesh().x_desc("step").y_desc(unit).draw()?;
        for (line, colour) in lines.iter().zip(COLOURS.into_iter().cycle()) {
            let series = chart.draw_series(LineSeries::new(finite(line), colour.stroke_width(2)))?;
            series
                .label(&line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        }
        chart.configure_series_labels().background_style(WHITE.mix(0.8)).draw()?;
        area.present()
    })();
    // Writing to a string cannot fail, so that the picture is always complete.
    debug_assert!(drawn.is_ok(), "{drawn:?}");
    svg
}

fn finite(line: &Line) -> impl Iterator<Item = (f64, f64)> + '_ {
    line.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
}

/// The range of values; of width 1 where there is none, or only one.
fn range(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (least, most) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)));
    match (least.is_finite(), most > least) {
        (false, _) => 0.0..1.0,
        (true, false) => least - 0.5..least + 0.5,
        (true, true) => least..most,
    }
}
