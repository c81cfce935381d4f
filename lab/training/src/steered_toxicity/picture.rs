//! The picture of a run: violations against perplexity.

use plotters::prelude::*;

use super::WANTED;
use super::statistics::MethodMeasures;

// These colours differ for readers with a red-green deficiency too (Okabe and Ito 2008).
const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
const ORANGE: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
const GREY: RGBColor = RGBColor(0x55, 0x55, 0x55);

/// Returns the share of violations of each method against the ratio of its perplexity, as SVG; the bars are 95 %
/// intervals. What looks ahead is blue; the two grey lines are the limits that are [`WANTED`].
pub fn picture(title: &str, rows: &[MethodMeasures], looks_ahead: impl Fn(&str) -> bool) -> String {
    let most = |value: &dyn Fn(&MethodMeasures) -> f64, least: f64| {
        rows.iter().map(value).filter(|value| value.is_finite()).fold(least, f64::max)
    };
    let right = most(&|row| row.ratio.interval.high, 1.1) + 0.15;
    let left = rows.iter().map(|row| row.ratio.interval.low).fold(0.95, f64::min) - 0.02;
    let top = most(&|row| row.violations.interval.high, 0.1) * 1.05;
    let mut svg = String::new();
    let drawn = (|| {
        let area = SVGBackend::with_string(&mut svg, (680, 440)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 15))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d(left..right, 0.0..top)?;
        chart
            .configure_mesh()
            .x_desc("perplexity under the language model alone, ratio to free")
            .y_desc("share of violations")
            .x_labels(8)
            .y_labels(6)
            .max_light_lines(1)
            .draw()?;
        let least = rows.first().map_or(0.0, |free| (1.0 - WANTED.0) * free.violations.value);
        let limits = [[(left, least), (right, least)], [(WANTED.1, 0.0), (WANTED.1, top)]];
        chart
            .draw_series(limits.map(|ends| PathElement::new(ends.to_vec(), GREY.mix(0.7).stroke_width(1))))?;
        let points: Vec<(f64, f64)> =
            rows.iter().map(|row| (row.ratio.value, row.violations.value + top * 0.03)).collect();
        let places = places(&points, ((right - left) * 0.13, top * 0.03));
        for (row, place) in rows.iter().zip(places) {
            let colour = match row.method.as_str() {
                "free" => GREY,
                name if looks_ahead(name) => BLUE,
                _ => ORANGE,
            };
            let (x, y) = (row.ratio.value, row.violations.value);
            let bars = [
                [(row.ratio.interval.low, y), (row.ratio.interval.high, y)],
                [(x, row.violations.interval.low), (x, row.violations.interval.high)],
            ];
            let lines = bars.map(|ends| PathElement::new(ends.to_vec(), colour.mix(0.35).stroke_width(1)));
            chart.draw_series(lines)?;
            chart.draw_series([Circle::new((x, y), 4, colour.filled())])?;
            chart.draw_series([Text::new(
                row.method.clone(),
                (place.0 + 0.004, place.1),
                ("sans-serif", 10).into_font().color(&colour),
            )])?;
        }
        area.present()
    })();
    // Writing to a string cannot fail, so there is always a whole picture.
    drawn.map_or_else(|_: DrawingAreaErrorKind<std::io::Error>| String::new(), |()| svg)
}

/// Returns where the labels of points go: each at its point, or above it where another label of that size is already.
fn places(points: &[(f64, f64)], (width, height): (f64, f64)) -> Vec<(f64, f64)> {
    let mut places: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points {
        let mut up = *y;
        while places.iter().any(|(left, low)| (left - x).abs() < width && (low - up).abs() < height) {
            up += height;
        }
        places.push((*x, up));
    }
    places
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "a test that panics fails")]
    use super::*;
    use crate::judging::Measured;
    use crate::metrics::Interval;

    #[test]
    fn every_picture_is_whole() {
        let at = |value: f64| Measured { value, interval: Interval { low: value, high: value } };
        let row = MethodMeasures {
            method: "k = 4 & more".to_owned(),
            texts: 1,
            violations: at(0.2),
            reduction: None,
            perplexity: 10.0,
            ratio: at(1.05),
            log_weight: -1.0,
            milliseconds: 1.0,
        };
        for rows in [vec![row], Vec::new()] {
            let svg = picture("a < b", &rows, |_| true);
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
            assert!(svg.contains("a &lt; b"));
        }
    }

    #[test]
    fn labels_of_the_same_point_are_one_above_the_other() {
        let same = places(&[(1.0, 0.1), (1.0, 0.1), (1.05, 0.1), (2.0, 0.1)], (0.5, 0.02));
        assert!(same.windows(2).take(2).all(|pair| pair[1].1 - pair[0].1 > 0.019), "{same:?}");
        assert_eq!(same[3], (2.0, 0.1));
    }
}
