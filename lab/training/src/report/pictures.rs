//! The pictures of a model, as SVG: the ROC curve, the reliability curve, the scores.

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::judging::BINS;
use crate::metrics::{Prior, Scored, confusion, reliability_curve, roc_auc, roc_curve};

/// The number of bars per sort in the picture of scores.
const BARS: usize = 20;

// These colours differ for readers with a red-green deficiency too (Okabe and Ito 2008).
const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
const ORANGE: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
const GREY: RGBColor = RGBColor(0x88, 0x88, 0x88);

/// A square of axes from 0 to 1.
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Returns the ROC curve, with the point of a threshold on it.
pub fn roc_picture(name: &str, scores: &[Scored], threshold: f64) -> String {
    let area = roc_auc(scores).map_or("-".to_owned(), |area| format!("{area:.3}"));
    let axes = ["share of harmless texts flagged", "share of harmful texts flagged"];
    picture(&format!("{name}: ROC, area {area}"), axes, |chart| {
        let curve = roc_curve(scores);
        diagonal(chart, "chance")?;
        line(chart, curve.iter().map(|point| (point.false_positive_rate, point.recall)))?;
        let counted = confusion(scores, threshold);
        let point = Circle::new((counted.false_positive_rate(), counted.recall()), 5, ORANGE.filled());
        let series = chart.draw_series([point])?.label("its threshold for 1 %");
        series.legend(|(x, y)| Circle::new((x + 8, y), 5, ORANGE.filled()));
        Ok(())
    })
}

/// Returns the reliability curve with an even prior; a dot's area is the weight of its texts.
pub fn reliability_picture(name: &str, scores: &[Scored]) -> String {
    let axes = ["risk that the model gave", "share that is harmful"];
    picture(&format!("{name}: reliability, even prior"), axes, |chart| {
        let curve = reliability_curve(scores, BINS, Prior::Even);
        diagonal(chart, "perfect calibration")?;
        line(chart, curve.iter().map(|bin| (bin.predicted, bin.observed)))?;
        let radius = |weight: f64| 2.0 + 14.0 * (weight / scores.len().max(1) as f64).sqrt();
        chart.draw_series(curve.iter().map(|bin| {
            Circle::new((bin.predicted, bin.observed), radius(bin.weight).round() as i32, BLUE.filled())
        }))?;
        Ok(())
    })
}

/// Returns the distribution of the scores of harmless and of harmful texts, each by itself.
pub fn score_picture(name: &str, scores: &[Scored]) -> String {
    let axes = ["risk that the model gave", "share of the sort"];
    picture(&format!("{name}: risks"), axes, |chart| {
        let width = 0.5 / BARS as f64;
        for (colour, label, harmful, shift) in
            [(BLUE, "harmless", false, 0.0), (ORANGE, "harmful", true, width)]
        {
            let sort: Vec<Scored> = scores.iter().filter(|one| one.harmful == harmful).copied().collect();
            let bars = reliability_curve(&sort, BARS, Prior::Found).into_iter().map(|bin| {
                let from = bin.from + shift;
                let height = bin.count as f64 / sort.len().max(1) as f64;
                Rectangle::new([(from, 0.0), (from + width, height)], colour.mix(0.75).filled())
            });
            let series = chart.draw_series(bars)?.label(label);
            series.legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 12, y + 4)], colour.filled()));
        }
        Ok(())
    })
}

/// Draws a picture with its axes and its legend.
fn picture(title: &str, [below, left]: [&str; 2], draw: impl FnOnce(&mut Chart<'_, '_>) -> Drawn) -> String {
    let mut svg = String::new();
    let drawn = (|| {
        let area = SVGBackend::with_string(&mut svg, (480, 440)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 16))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(50)
            .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
        chart.configure_mesh().x_desc(below).y_desc(left).x_labels(6).y_labels(6).draw()?;
        draw(&mut chart)?;
        chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(GREY).draw()?;
        area.present()
    })();
    // Writing to a string cannot fail, so there is always a whole picture.
    drawn.map_or_else(|_| String::new(), |()| svg)
}

fn diagonal(chart: &mut Chart<'_, '_>, label: &str) -> Drawn {
    let ends = [(0.0, 0.0), (1.0, 1.0)];
    let series = chart.draw_series(DashedLineSeries::new(ends, 5, 4, GREY.stroke_width(2)))?.label(label);
    series.legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], GREY.stroke_width(2)));
    Ok(())
}

fn line(chart: &mut Chart<'_, '_>, points: impl Iterator<Item = (f64, f64)>) -> Drawn {
    let series = chart.draw_series(LineSeries::new(points, BLUE.stroke_width(2)))?.label("model");
    series.legend(|(x, y)| PathElement::new([(x, y), (x + 16, y)], BLUE.stroke_width(2)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picture_is_whole() {
        let scores =
            [Scored::harmful(0.9), Scored::harmful(0.4), Scored::harmless(0.4), Scored::harmless(0.1)];
        for scores in [&scores[..], &[]] {
            for svg in [
                roc_picture("a & b", scores, 0.5),
                reliability_picture("a", scores),
                score_picture("a", scores),
            ] {
                assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
            }
        }
        assert!(roc_picture("a & b", &scores, 0.5).contains("a &amp; b: ROC, area 0.875"));
        assert!(score_picture("a", &scores).contains("harmless"));
    }
}
