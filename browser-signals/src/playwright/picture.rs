//! Pictures of the page, as they are: no value in them is covered.

use serde_json::{Value, json};

use super::session::text;
use super::{BridgeError, Tab};

/// The longest side of a picture, in pixels: what models take without making it smaller themselves.
const LONGEST_SIDE: f64 = 1568.0;

/// The most pixels of a picture.
const MOST_PIXELS: f64 = 1_150_000.0;

/// How much of the colours a JPEG or WebP keeps, of 100.
const QUALITY: u8 = 80;

/// The form of a picture's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PictureForm {
    /// Every pixel as it is.
    #[default]
    Png,
    /// Smaller, with losses.
    Jpeg,
    /// Smaller still, with losses.
    Webp,
}

impl PictureForm {
    /// As the browser names it.
    const fn name(self) -> &'static str {
        match self {
            PictureForm::Png => "png",
            PictureForm::Jpeg => "jpeg",
            PictureForm::Webp => "webp",
        }
    }

    /// Its media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            PictureForm::Png => "image/png",
            PictureForm::Jpeg => "image/jpeg",
            PictureForm::Webp => "image/webp",
        }
    }
}

/// What a picture is taken of, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PictureSettings {
    /// The form of its bytes.
    pub form: PictureForm,
    /// The page from its beginning to its end, and not only what stands in the window.
    pub whole_page: bool,
    /// The screen's own pixels, where a pixel of the page's style takes several of them.
    pub device_pixels: bool,
}

/// A picture of a page.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// Its bytes, in base64.
    pub base64: String,
    /// Their form.
    pub form: PictureForm,
}

impl Tab {
    /// Takes a picture. It has at most 1568 pixels on a side and 1.15 million in all; a larger one is made smaller, a
    /// whole page that is very long so much that nothing can be read in it.
    ///
    /// Nothing is covered in it: whoever may not see a value in the page must not be shown the picture.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the page is gone, [`BridgeError::Timeout`] where it does not paint in time.
    pub async fn picture(&self, settings: PictureSettings) -> Result<Picture, BridgeError> {
        self.state.at_rest().await?;
        let page = self.state.page()?;
        let metrics = page.call("Page.getLayoutMetrics", json!({})).await?;
        let area = Area::of(&metrics, settings).ok_or(BridgeError::Stale)?;
        let form = settings.form;
        let mut params = json!({
            "format": form.name(),
            "clip": area.clip(),
            "captureBeyondViewport": settings.whole_page,
        });
        if let (true, Some(params)) = (form != PictureForm::Png, params.as_object_mut()) {
            params.insert("quality".to_owned(), QUALITY.into());
        }
        let taken = page.call("Page.captureScreenshot", params).await?;
        let base64 = text(&taken, "data").ok_or(BridgeError::Stale)?.to_owned();
        Ok(Picture { base64, form })
    }
}

/// What is taken, in pixels of the page's style, and how much smaller.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    scale: f64,
}

impl Area {
    /// None where the browser says nothing of the page's size.
    fn of(metrics: &Value, settings: PictureSettings) -> Option<Area> {
        let number =
            |part: &str, name: &str| metrics.get(part)?.get(name)?.as_f64().filter(|it| it.is_finite());
        let (x, y, width, height) = if settings.whole_page {
            (0.0, 0.0, number("cssContentSize", "width")?, number("cssContentSize", "height")?)
        } else {
            let view = |name| number("cssVisualViewport", name);
            (view("pageX")?, view("pageY")?, view("clientWidth")?, view("clientHeight")?)
        };
        if width < 1.0 || height < 1.0 {
            return None;
        }
        // How many of the screen's pixels one of the style's takes.
        let ratio = number("visualViewport", "clientWidth")? / number("cssVisualViewport", "clientWidth")?;
        let ratio = if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 };
        let wanted = if settings.device_pixels { ratio } else { 1.0 };
        let by_side = LONGEST_SIDE / width.max(height);
        let by_pixels = (MOST_PIXELS / (width * height)).sqrt();
        Some(Area { x, y, width, height, scale: wanted.min(by_side).min(by_pixels) / ratio })
    }

    fn clip(self) -> Value {
        json!({ "x": self.x, "y": self.y, "width": self.width, "height": self.height, "scale": self.scale })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn metrics(ratio: f64, width: f64, height: f64, page: f64) -> Value {
        json!({
            "visualViewport": { "clientWidth": width * ratio, "clientHeight": height * ratio },
            "cssVisualViewport": { "pageX": 0.0, "pageY": 40.0, "clientWidth": width, "clientHeight": height },
            "cssContentSize": { "x": 0, "y": 0, "width": width, "height": page },
        })
    }

    #[test]
    fn a_window_of_usual_size_is_taken_as_it_is() {
        let area = Area::of(&metrics(1.0, 1280.0, 720.0, 4000.0), PictureSettings::default()).unwrap();
        assert_eq!(area, Area { x: 0.0, y: 40.0, width: 1280.0, height: 720.0, scale: 1.0 });
    }

    #[test]
    fn a_screen_with_finer_pixels_is_told_from_a_larger_page() {
        let small = metrics(2.0, 400.0, 300.0, 300.0);
        let scale = |device_pixels| {
            Area::of(&small, PictureSettings { device_pixels, ..PictureSettings::default() }).unwrap().scale
        };
        assert_eq!((scale(false), scale(true)), (0.5, 1.0));
    }

    #[test]
    fn what_has_no_size_is_not_taken() {
        for nothing in [json!({}), metrics(1.0, 0.0, 0.0, 0.0)] {
            assert_eq!(Area::of(&nothing, PictureSettings::default()), None);
        }
    }

    proptest! {
        #[test]
        fn no_picture_is_larger_than_a_model_takes(
            ratio in 0.5f64..4.0, width in 1.0f64..5000.0, height in 1.0f64..5000.0, page in 1.0f64..1e6,
            whole_page in any::<bool>(), device_pixels in any::<bool>(),
        ) {
            let settings = PictureSettings { whole_page, device_pixels, ..PictureSettings::default() };
            let area = Area::of(&metrics(ratio, width, height, page), settings).unwrap();
            let (wide, high) = (area.width * area.scale * ratio, area.height * area.scale * ratio);
            prop_assert!(wide.max(high) <= LONGEST_SIDE * (1.0 + 1e-9));
            prop_assert!(wide * high <= MOST_PIXELS * (1.0 + 1e-9));
            let largest = if device_pixels { ratio } else { 1.0 };
            prop_assert!(area.scale * ratio <= largest * (1.0 + 1e-9), "nothing is made larger");
        }
    }
}
