//! Where the cards of a picture stand: a row for each axis that is read, and one for the ends.
//!
//! A line that passes a row gets a place of its own in it, so that it runs around the cards there. Within a
//! row, places are ordered by the middle of what they hang on, first downwards, then upwards, a few times.

use super::picture::{Card, Picture};

/// A place in a row: a card, or where a line passes.
pub(super) struct Place {
    /// The number of the card; none where a line passes.
    pub(super) card: Option<usize>,
    /// The left edge, and the size.
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Place {
    pub(super) fn middle(&self) -> f64 {
        self.left + self.width / 2.0
    }
}

/// Where everything stands.
pub(super) struct Layout {
    pub(super) places: Vec<Place>,
    /// For each line of the picture the places that it goes through, both ends included.
    pub(super) routes: Vec<Vec<usize>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

pub(super) const MARGIN: f64 = 24.0;
pub(super) const TITLE: f64 = 34.0;
pub(super) const LINE: f64 = 15.0;
pub(super) const PAD: f64 = 9.0;
const LETTER: f64 = 6.9;
const BOLD: f64 = 1.15;
const BETWEEN: f64 = 30.0;
const LANE: f64 = 16.0;
const DOWN: f64 = 60.0;
const SWEEPS: usize = 8;

/// Width and height of a card. Letters are counted as equally wide, which is enough for one that is
/// narrower.
fn size(card: &Card) -> (f64, f64) {
    // The head is bold.
    let longest = card.refused.iter().map(|text| wide(text)).fold(wide(&card.head) * BOLD, f64::max);
    let lines = 1 + card.refused.len();
    (longest + 2.0 * PAD, lines as f64 * LINE + 2.0 * PAD)
}

/// The width of a text, roughly.
pub(super) fn wide(text: &str) -> f64 {
    text.chars().count() as f64 * LETTER
}

pub(super) fn layout(picture: &Picture) -> Layout {
    let mut axes: Vec<_> = picture.cards.iter().filter_map(|card| card.axis).collect();
    axes.sort();
    axes.dedup();
    let row = |card: &Card| {
        card.axis.and_then(|axis| axes.iter().position(|other| *other == axis)).unwrap_or(axes.len())
    };
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); axes.len() + 1];
    let mut places = Vec::new();
    for (number, card) in picture.cards.iter().enumerate() {
        let (width, height) = size(card);
        places.push(Place { card: Some(number), left: 0.0, top: 0.0, width, height });
        rows.get_mut(row(card)).into_iter().for_each(|row| row.push(number));
    }
    let mut routes = Vec::new();
    for line in &picture.lines {
        let at = |number: usize| picture.cards.get(number).map_or(0, row);
        let mut route = vec![line.from];
        for passed in at(line.from) + 1..at(line.to) {
            places.push(Place { card: None, left: 0.0, top: 0.0, width: LANE, height: 0.0 });
            rows.get_mut(passed).into_iter().for_each(|row| row.push(places.len() - 1));
            route.push(places.len() - 1);
        }
        route.push(line.to);
        routes.push(route);
    }
    for sweep in 0..SWEEPS {
        order(&mut rows, &mut places, &routes, sweep % 2 == 0);
    }
    arrange(&rows, &mut places, &routes);
    let edge = |value: fn(&Place) -> f64| places.iter().map(value).fold(0.0, f64::max);
    let (right, bottom) = (edge(|place| place.left + place.width), edge(|place| place.top + place.height));
    let title = wide(&picture.title) * BOLD * 1.15;
    Layout { width: right.max(title) + MARGIN, height: bottom + MARGIN, places, routes }
}

/// The places that hang on one, above or below it.
fn near(number: usize, routes: &[Vec<usize>], above: bool) -> Vec<usize> {
    let steps = routes.iter().flat_map(|route| route.iter().zip(route.iter().skip(1)));
    let hang = steps.filter_map(|(up, down)| match above {
        true => (*down == number).then_some(*up),
        false => (*up == number).then_some(*down),
    });
    hang.collect()
}

fn mean(places: &[Place], near: &[usize]) -> Option<f64> {
    let middles: Vec<f64> = near.iter().filter_map(|number| places.get(*number)).map(Place::middle).collect();
    (!middles.is_empty()).then(|| middles.iter().sum::<f64>() / middles.len() as f64)
}

/// Orders each row by the middle of what its places hang on, and packs it.
fn order(rows: &mut [Vec<usize>], places: &mut [Place], routes: &[Vec<usize>], down: bool) {
    let count = rows.len();
    for step in 0..count {
        let Some(row) = rows.get_mut(if down { step } else { count - 1 - step }) else { continue };
        let key = |number: usize| {
            let own = places.get(number).map_or(0.0, Place::middle);
            mean(places, &near(number, routes, down)).unwrap_or(own)
        };
        let mut keyed: Vec<(f64, usize)> = row.iter().map(|number| (key(*number), *number)).collect();
        keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
        *row = keyed.into_iter().map(|(_, number)| number).collect();
        let total: f64 = row.iter().filter_map(|number| places.get(*number)).map(|p| p.width + BETWEEN).sum();
        let mut left = -total / 2.0;
        for number in row.iter() {
            if let Some(place) = places.get_mut(*number) {
                place.left = left;
                left += place.width + BETWEEN;
            }
        }
    }
}

/// Gives each place its final position: as near to the middle of what it hangs on as its neighbours allow.
fn arrange(rows: &[Vec<usize>], places: &mut [Place], routes: &[Vec<usize>]) {
    for sweep in 0..SWEEPS {
        for row in rows {
            let mut least = f64::NEG_INFINITY;
            for (slot, number) in row.iter().enumerate() {
                let both = [near(*number, routes, true), near(*number, routes, false)].concat();
                let hang = if sweep == 0 { near(*number, routes, true) } else { both };
                let wish = mean(places, &hang);
                // What stands to the right is moved in its own turn; it must leave room for the rest.
                let room = row.get(slot + 1).and_then(|next| places.get(*next)).map(|next| next.left);
                let Some(place) = places.get_mut(*number) else { continue };
                let mut left = wish.map_or(place.left, |wish| wish - place.width / 2.0);
                if let Some(room) = room {
                    left = left.min((room - BETWEEN - place.width).max(place.left));
                }
                place.left = left.max(least);
                least = place.left + place.width + BETWEEN;
            }
        }
    }
    let first = places.iter().map(|place| place.left).fold(f64::INFINITY, f64::min);
    let mut top = MARGIN + TITLE;
    for row in rows {
        let tallest =
            row.iter().filter_map(|number| places.get(*number)).map(|p| p.height).fold(0.0, f64::max);
        for number in row {
            if let Some(place) = places.get_mut(*number) {
                place.left += MARGIN - first;
                place.top = top;
                // A line passes the whole height of a row.
                place.height = if place.card.is_some() { place.height } else { tallest };
            }
        }
        top += tallest + DOWN;
    }
}
