//! Colours as the browser computes them.

/// Letters with less alpha are invisible.
const FAINT: f64 = 0.1;
/// Two colours look alike up to this contrast, where no channel differs by more than [`CLOSE`].
const CONTRAST: f64 = 1.2;
/// The largest difference of a channel between colours that look alike, of 255.
const CLOSE: f64 = 32.0;

/// A colour: channels of 0 to 255, alpha of 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Colour {
    pub(super) red: f64,
    pub(super) green: f64,
    pub(super) blue: f64,
    pub(super) alpha: f64,
}

impl Colour {
    pub(super) const WHITE: Colour = Colour { red: 255.0, green: 255.0, blue: 255.0, alpha: 1.0 };

    /// Reads `rgb(…)` and `rgba(…)`; none for the newer notations, whose colours count as unknown.
    pub(super) fn read(text: &str) -> Option<Colour> {
        let inner = text.strip_prefix("rgba(").or_else(|| text.strip_prefix("rgb("))?.strip_suffix(')')?;
        let mut channels = inner.split(',').map(|part| part.trim().parse::<f64>().ok());
        let (red, green, blue) = (channels.next()??, channels.next()??, channels.next()??);
        let alpha = match channels.next() {
            None => 1.0,
            Some(alpha) => alpha?,
        };
        Some(Colour { red, green, blue, alpha })
    }

    pub(super) fn faded(self, opacity: f64) -> Colour {
        Colour { alpha: self.alpha * opacity, ..self }
    }

    pub(super) fn is_faint(self) -> bool {
        self.alpha < FAINT
    }

    /// This colour painted over an opaque one.
    pub(super) fn over(self, below: Colour) -> Colour {
        let mix = |above: f64, below: f64| above * self.alpha + below * (1.0 - self.alpha);
        Colour {
            red: mix(self.red, below.red),
            green: mix(self.green, below.green),
            blue: mix(self.blue, below.blue),
            alpha: 1.0,
        }
    }

    /// Whether a person cannot tell the two colours apart.
    pub(super) fn looks_like(self, other: Colour) -> bool {
        let furthest = [self.red - other.red, self.green - other.green, self.blue - other.blue]
            .into_iter()
            .fold(0.0, |most: f64, difference| most.max(difference.abs()));
        let (one, two) = (self.luminance(), other.luminance());
        furthest <= CLOSE && (one.max(two) + 0.05) / (one.min(two) + 0.05) < CONTRAST
    }

    /// Relative luminance (WCAG 2.2).
    fn luminance(self) -> f64 {
        let linear = |channel: f64| {
            let share = (channel / 255.0).clamp(0.0, 1.0);
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(one: &str, two: &str) -> Option<bool> {
        Some(Colour::read(one)?.looks_like(Colour::read(two)?))
    }

    #[test]
    fn only_indistinguishable_colours_look_alike() {
        assert_eq!(alike("rgb(255, 255, 255)", "rgb(250, 250, 250)"), Some(true));
        assert_eq!(alike("rgb(255, 255, 255)", "rgb(238, 238, 238)"), Some(true));
        assert_eq!(alike("rgb(0, 0, 0)", "rgb(3, 3, 3)"), Some(true));
        assert_eq!(alike("rgb(255, 255, 255)", "rgb(204, 204, 204)"), Some(false));
        assert_eq!(alike("rgb(0, 0, 0)", "rgb(34, 34, 34)"), Some(false));
        assert_eq!(alike("rgb(200, 0, 0)", "rgb(0, 110, 0)"), Some(false));
        assert_eq!(alike("oklch(0.5 0.1 20)", "rgb(0, 0, 0)"), None);
    }

    #[test]
    fn translucent_colours_are_mixed() {
        let veil = Colour::read("rgba(0, 0, 0, 0.5)").map(|it| it.over(Colour::WHITE));
        assert_eq!(veil.map(|it| it.red.round()), Some(128.0));
        assert!(Colour::read("rgba(0, 0, 0, 0.05)").is_some_and(Colour::is_faint));
        assert!(Colour::read("rgb(0, 0, 0)").is_some_and(|it| it.faded(0.04).is_faint()));
    }
}
