//! Pictures of the page. No value in them is masked.

use serde_json::{Value, json};

use super::boxes::ElementBox;
use crate::ElementRef;
use crate::json::text;
use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;

/// The longest side of a picture, in pixels. Models scale larger ones down themselves.
const LONGEST_SIDE: f64 = 1568.0;

/// The most pixels of a picture.
const MOST_PIXELS: f64 = 1_150_000.0;

/// The quality of a JPEG or WebP, of 100.
const QUALITY: u8 = 80;

/// The format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PictureForm {
    /// Lossless.
    #[default]
    Png,
    /// Smaller, and lossy.
    Jpeg,
    /// Smaller still, and lossy.
    Webp,
}

impl PictureForm {
    /// The browser's name of the format.
    const fn name(self) -> &'static str {
        match self {
            PictureForm::Png => "png",
            PictureForm::Jpeg => "jpeg",
            PictureForm::Webp => "webp",
        }
    }

    /// The media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            PictureForm::Png => "image/png",
            PictureForm::Jpeg => "image/jpeg",
            PictureForm::Webp => "image/webp",
        }
    }
}

/// The settings of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PictureSettings {
    /// The format.
    pub form: PictureForm,
    /// The whole page, and not only the part in the window.
    pub whole_page: bool,
    /// Device pixels, where a CSS pixel takes several of them.
    pub device_pixels: bool,
}

/// A picture of a page.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// The bytes, in base64.
    pub base64: String,
    /// The format.
    pub form: PictureForm,
}

impl Tab {
    /// Takes a picture. It has at most 1568 pixels on a side and 1.15 million in all; a larger one is scaled down. In the
    /// picture of a very long whole page no text is legible.
    ///
    /// No value in it is masked: do not show the picture to a model that must not see the values in the page.
    ///
    /// # Errors
    /// [`BridgeError::Lost`] where the page is gone, [`BridgeError::Timeout`] where it does not paint in time.
    pub async fn picture(&self, settings: PictureSettings) -> Result<Picture, BridgeError> {
        self.state.at_rest().await?;
        let metrics = self.state.page()?.call("Page.getLayoutMetrics", json!({})).await?;
        let area = Area::of(&metrics, settings).ok_or(BridgeError::Stale)?;
        self.take(area, settings).await
    }

    /// Takes a picture of one element of the top document, as [`Tab::picture`] does of the page.
    ///
    /// # Errors
    /// As for [`Tab::picture`]; [`BridgeError::UnknownRef`] and [`BridgeError::Stale`] where the element is not there,
    /// [`BridgeError::NotApplicable`] where it is not drawn, or is in a frame within the page.
    pub async fn picture_of(
        &self,
        element: &ElementRef,
        settings: PictureSettings,
    ) -> Result<Picture, BridgeError> {
        self.state.at_rest().await?;
        let located = self.state.located(element)?;
        let page = self.state.page()?;
        if located.frame != self.state.top_frame()? {
            return Err(BridgeError::NotApplicable);
        }
        let node = json!({ "backendNodeId": located.node.0 });
        let _not_drawn = page.call("DOM.scrollIntoViewIfNeeded", node.clone()).await;
        let drawn = page.call("DOM.getBoxModel", node).await.map_err(|_| BridgeError::NotApplicable)?;
        let metrics = page.call("Page.getLayoutMetrics", json!({})).await?;
        let area = Area::of(&metrics, settings).and_then(|window| window.of_element(&drawn));
        self.take(area.ok_or(BridgeError::NotApplicable)?, settings).await
    }

    async fn take(&self, area: Area, settings: PictureSettings) -> Result<Picture, BridgeError> {
        let page = self.state.page()?;
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

/// The part of the page that is taken, in CSS pixels, and the scale.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    scale: f64,
}

impl Area {
    /// None where the browser does not report the page's size.
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
        // The device pixels of one CSS pixel.
        let ratio = number("visualViewport", "clientWidth")? / number("cssVisualViewport", "clientWidth")?;
        let ratio = if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 };
        let wanted = if settings.device_pixels { ratio } else { 1.0 };
        let by_side = LONGEST_SIDE / width.max(height);
        let by_pixels = (MOST_PIXELS / (width * height)).sqrt();
        Some(Area { x, y, width, height, scale: wanted.min(by_side).min(by_pixels) / ratio })
    }

    /// The part of the window that an element's border takes.
    fn of_element(self, drawn: &Value) -> Option<Area> {
        let ElementBox { x, y, width, height } = ElementBox::around(drawn, "border")?;
        let smaller = (LONGEST_SIDE / width.max(height)).min((MOST_PIXELS / (width * height)).sqrt());
        let scale = self.scale.min(smaller);
        (width >= 1.0 && height >= 1.0).then_some(Area { x: self.x + x, y: self.y + y, width, height, scale })
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
    fn a_window_of_usual_size_is_not_scaled() {
        let area = Area::of(&metrics(1.0, 1280.0, 720.0, 4000.0), PictureSettings::default()).unwrap();
        assert_eq!(area, Area { x: 0.0, y: 40.0, width: 1280.0, height: 720.0, scale: 1.0 });
    }

    #[test]
    fn a_screen_with_finer_pixels_differs_from_a_larger_page() {
        let small = metrics(2.0, 400.0, 300.0, 300.0);
        let scale = |device_pixels| {
            Area::of(&small, PictureSettings { device_pixels, ..PictureSettings::default() }).unwrap().scale
        };
        assert_eq!((scale(false), scale(true)), (0.5, 1.0));
    }

    #[test]
    fn an_element_is_taken_where_it_is_in_the_page() {
        let window = Area::of(&metrics(1.0, 1280.0, 720.0, 4000.0), PictureSettings::default()).unwrap();
        let drawn = |corners: Value| json!({ "model": { "border": corners } });
        let area = window.of_element(&drawn(json!([10, 20, 110, 20, 110, 70, 10, 70]))).unwrap();
        assert_eq!(area, Area { x: 10.0, y: 60.0, width: 100.0, height: 50.0, scale: 1.0 });
        for nothing in [json!([]), json!([1, 1, 1, 1, 1, 1, 1, 1]), json!([0, 0, 9, 0])] {
            assert_eq!(window.of_element(&drawn(nothing)), None);
        }
    }

    #[test]
    fn a_page_without_a_size_gives_no_picture() {
        for nothing in [json!({}), metrics(1.0, 0.0, 0.0, 0.0)] {
            assert_eq!(Area::of(&nothing, PictureSettings::default()), None);
        }
    }

    proptest! {
        #[test]
        fn no_picture_exceeds_the_limits(
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
