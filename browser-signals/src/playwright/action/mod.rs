//! Acting on a page: click, drag, type, select, check, press, submit.
//!
//! | module | subject |
//! |---|---|
//! | `drag` | dragging an element onto another one |
//! | `files` | files for a file input |
//! | [`fill`] | sealed fills |
//! | `keys` | keys, where the focus is |
//! | `stroke` | keys as the browser's protocol has them |

mod drag;
mod files;
pub mod fill;
mod keys;
mod stroke;

use std::sync::Arc;

use serde_json::{Value, json};

use super::error::BridgeError;
use super::observation::ObservationTarget;
use super::tab::Tab;
use super::tab::frames::{Frame, Frames};
use super::tab::state::{Located, TabState, World};
use crate::{
    ClickManner, Destination, ElementRef, Fact, HeldKeys, MouseButton, NodeId, Observed, PlaceInElement,
    Snapshot,
};

/// An element that is still the one of the decision, and what is needed to reach it.
struct Aimed {
    frames: Frames,
    frame: Frame,
    world: World,
    located: Located,
}

impl Tab {
    /// Clicks an element at its centre, with the browser's own mouse events, and waits for a navigation that
    /// follows.
    ///
    /// # Errors
    /// [`BridgeError::Stale`] and [`BridgeError::Diverted`] where it differs from `decided`,
    /// [`BridgeError::Occluded`] where the click would reach something else, [`BridgeError::FormIncomplete`] where it would
    /// send a form and the form's own validation refuses.
    pub async fn click(&self, target: &ElementRef, decided: &Observed<Snapshot>) -> Result<(), BridgeError> {
        self.click_as(target, ClickManner::default(), decided).await
    }

    /// Clicks an element in another manner. A page learns the button, the held keys and the second click as from a person; no
    /// window opens for a held key.
    ///
    /// # Errors
    /// As for [`Tab::click`]; [`BridgeError::Occluded`] also where a click at the manner's place is outside of the element, or
    /// activates something else than one at its centre, which the decision was about.
    pub async fn click_as(
        &self,
        target: &ElementRef,
        manner: ClickManner,
        decided: &Observed<Snapshot>,
    ) -> Result<(), BridgeError> {
        let aimed = self.aim(target, decided).await?;
        // A page that sees the mouse move can put another site's frame below it: only the element's frame takes the click.
        let others = self.others(&aimed).await?;
        let (x, y) = self.point_in(&aimed, manner.place).await?;
        let page = self.state.page()?;
        let navigations = self.begin();
        let (button, held) = (button_of(manner), modifiers_of(manner));
        let mouse = |kind: &str, count: u8| {
            let press = json!({
                "type": kind, "x": x, "y": y, "button": button, "modifiers": held, "clickCount": count,
            });
            page.call("Input.dispatchMouseEvent", press)
        };
        let moved = json!({ "type": "mouseMoved", "x": x, "y": y });
        let clicked = async {
            call_each(&others, &self.state, "ward").await?;
            page.call("Input.dispatchMouseEvent", moved).await?;
            for count in 1..=if manner.twice { 2 } else { 1 } {
                mouse("mousePressed", count).await?;
                mouse("mouseReleased", count).await?;
            }
            Ok(())
        };
        // The listeners are removed also after an error: the next click may be the user's.
        let clicked: Result<(), BridgeError> = clicked.await;
        // An error means that the document is gone: the click arrived, and navigated.
        let ended = self.state.ask(&aimed.frame, &aimed.world, "ended", Vec::new()).await;
        let elsewhere = call_each(&others, &self.state, "unwatch").await;
        clicked?;
        self.settle(navigations).await?;
        self.check_arrival()?;
        let ended = ended.unwrap_or_default();
        if ended.get("strayed") == Some(&Value::Bool(true)) || elsewhere != Ok(false) {
            return Err(BridgeError::Occluded);
        }
        self.is_sent(&ended)
    }

    /// Moves the browser's mouse over the centre of an element.
    ///
    /// # Errors
    /// As for [`Tab::click`].
    pub async fn hover(&self, target: &ElementRef, decided: &Observed<Snapshot>) -> Result<(), BridgeError> {
        let aimed = self.aim(target, decided).await?;
        let (x, y) = self.point_in(&aimed, None).await?;
        let page = self.state.page()?;
        let navigations = self.begin();
        let moved = json!({ "type": "mouseMoved", "x": x, "y": y });
        page.call("Input.dispatchMouseEvent", moved).await?;
        // No button is pressed, so there is no click to guard.
        let _document_gone = self.state.ask(&aimed.frame, &aimed.world, "unwatch", Vec::new()).await;
        self.settle(navigations).await?;
        self.check_arrival()
    }

    /// Puts text into a control, replacing its contents.
    ///
    /// # Errors
    /// As for [`Tab::click`]; [`BridgeError::NotApplicable`] where it takes no text.
    pub async fn type_text(
        &self,
        target: &ElementRef,
        text: &str,
        decided: &Observed<Snapshot>,
    ) -> Result<(), BridgeError> {
        let typed = self.change(target, decided, "typeInto", json!({ "value": text })).await;
        let is_password = decided.target.as_ref().is_some_and(|it| it.input_type == "password");
        if let (Ok(()), Ok(control), false) = (&typed, self.state.located(target), is_password) {
            self.state.inner().typed.keep(&control, text);
        }
        typed
    }

    /// Ends the record of what the agent types: from now on a person may type too. No control is told with its text any more.
    pub fn end_typed(&self) {
        self.state.inner().typed.end();
    }

    /// Chooses the options of a select that have these values or labels, and no others.
    ///
    /// # Errors
    /// As for [`Tab::type_text`].
    pub async fn select(
        &self,
        target: &ElementRef,
        options: &[String],
        decided: &Observed<Snapshot>,
    ) -> Result<(), BridgeError> {
        self.change(target, decided, "choose", json!({ "value": options })).await
    }

    /// Sets a check box or radio button.
    ///
    /// # Errors
    /// As for [`Tab::type_text`].
    pub async fn check(
        &self,
        target: &ElementRef,
        on: bool,
        decided: &Observed<Snapshot>,
    ) -> Result<(), BridgeError> {
        self.change(target, decided, "check", json!({ "value": on })).await
    }

    /// Submits the form that owns the element, if its destination is still the one of the decision. In an input without a form it
    /// presses Enter, on which a script of the page may act.
    ///
    /// # Errors
    /// As for [`Tab::click`], and for the latter as for [`Tab::press`].
    pub async fn submit(&self, target: &ElementRef, decided: &Observed<Snapshot>) -> Result<(), BridgeError> {
        let is_input = decided.target.as_ref().is_some_and(|it| it.tag == "input");
        if decided.form.is_none() && is_input {
            return self.enter(target, decided).await;
        }
        let (Some(form), Fact::Known(destination)) = (decided.form, &decided.destination) else {
            return Err(BridgeError::Diverted);
        };
        let aimed = self.aim(target, decided).await?;
        let (node, form) = tokio::try_join!(
            self.state.object(&aimed.frame, &aimed.world, aimed.located.node),
            self.state.object(&aimed.frame, &aimed.world, form),
        )?;
        let navigations = self.begin();
        let way = json!({ "value": way_of(destination) });
        let word = self.state.ask(&aimed.frame, &aimed.world, "submit", vec![node, form, way]).await?;
        self.is_sent(&word)?;
        outcome(&word)?;
        self.settle(navigations).await?;
        self.check_arrival()
    }

    /// The name of the control for whose sake the last form was not sent, as the page words it. It is returned once. It
    /// names no control that the guard filled: whether the user's values fit is not told.
    pub fn take_asked_for(&self) -> Option<String> {
        self.state.inner().asked_for.take()
    }

    /// The address of the last window that the page opened since the last action began. The window was closed before it loaded.
    /// The address is returned once.
    pub fn take_refused_window(&self) -> Option<String> {
        self.state.inner().refused_window.take()
    }

    /// Puts back the address that [`Tab::take_refused_window`] returned.
    pub fn put_back_refused_window(&self, address: String) {
        self.state.inner().refused_window = Some(address);
    }

    /// Whether the browser's own validation let the form go, if the step was to send one.
    fn is_sent(&self, ended: &Value) -> Result<(), BridgeError> {
        let Some(label) = ended.get("asksFor").and_then(Value::as_str) else { return Ok(()) };
        self.state.inner().asked_for = Some(label.to_owned()).filter(|label| !label.is_empty());
        Err(BridgeError::FormIncomplete)
    }

    /// The point for the mouse, once the element is in view. Until `unwatch` is called, a click that would reach something
    /// else is stopped.
    async fn point_in(
        &self,
        aimed: &Aimed,
        place: Option<PlaceInElement>,
    ) -> Result<(f64, f64), BridgeError> {
        let node = self.state.object(&aimed.frame, &aimed.world, aimed.located.node).await?;
        let within = json!({ "value": place.map(|PlaceInElement { x, y }| json!({ "x": x, "y": y })) });
        let at = self.state.ask(&aimed.frame, &aimed.world, "aim", vec![node, within]).await?;
        if at.get("gone").is_some() {
            return Err(BridgeError::Stale);
        }
        self.outwards(aimed, hit_point(&at)?).await
    }

    /// All frames but the element's own, with their worlds.
    async fn others(&self, aimed: &Aimed) -> Result<Vec<(Frame, World)>, BridgeError> {
        let mut worlds = tokio::task::JoinSet::new();
        for frame in aimed.frames.0.iter().filter(|frame| frame.id != aimed.frame.id) {
            let (state, frame) = (Arc::clone(&self.state), frame.clone());
            worlds.spawn(async move { state.world(&frame).await.map(|world| (frame, world)) });
        }
        let worlds = worlds.join_all().await.into_iter();
        // A frame that is gone takes no click.
        worlds.filter(|world| !matches!(world, Err(BridgeError::Stale))).collect()
    }

    async fn change(
        &self,
        target: &ElementRef,
        decided: &Observed<Snapshot>,
        function: &str,
        value: Value,
    ) -> Result<(), BridgeError> {
        let aimed = self.aim(target, decided).await?;
        let node = self.state.object(&aimed.frame, &aimed.world, aimed.located.node).await?;
        let navigations = self.begin();
        let word = self.state.ask(&aimed.frame, &aimed.world, function, vec![node, value]).await?;
        outcome(&word)?;
        self.settle(navigations).await?;
        self.check_arrival()
    }

    /// Finds the element again and compares its present state with the observation of the decision.
    async fn aim(&self, target: &ElementRef, decided: &Observed<Snapshot>) -> Result<Aimed, BridgeError> {
        let located = self.state.located(target)?;
        let now = match decided.target {
            Some(_) => self.observe(ObservationTarget::Element(target)).await?,
            None => self.observe(ObservationTarget::Form(target)).await?,
        };
        if now.frame != decided.frame || now.document != decided.document || now.document.known().is_none() {
            return Err(BridgeError::Stale);
        }
        // A button that has become a submit button is another one.
        let is = |seen: &Observed<Snapshot>| {
            seen.target.as_ref().map(|it| (it.node, it.tag.clone(), it.input_type.clone()))
        };
        if is(&now) != is(decided) {
            return Err(BridgeError::Stale);
        }
        if now.form != decided.form || now.destination != decided.destination || now.origin != decided.origin
        {
            return Err(BridgeError::Diverted);
        }
        let frames = self.state.frames().await?;
        let frame = frames.get(&located.frame)?.clone();
        if frame.document != located.document {
            return Err(BridgeError::Stale);
        }
        let world = self.state.world(&frame).await?;
        Ok(Aimed { frames, frame, world, located })
    }

    /// The point in the page's viewport, through every frame that holds the element's. Each of them must
    /// show its inner frame at that point.
    async fn outwards(&self, aimed: &Aimed, point: (f64, f64)) -> Result<(f64, f64), BridgeError> {
        let above = aimed.frames.ancestors(&aimed.frame).ok_or(BridgeError::Stale)?;
        let (mut inner, (mut x, mut y)) = (&aimed.frame, point);
        for outer in above {
            let owner = self.owner_of(inner, outer).await?;
            let world = self.state.world(outer).await?;
            let node = self.state.object(outer, &world, owner).await?;
            let at = vec![node, json!({ "value": x }), json!({ "value": y })];
            (x, y) = hit_point(&self.state.ask(outer, &world, "outwards", at).await?)?;
            inner = outer;
        }
        Ok((x, y))
    }

    /// The element of `outer` that holds the frame `inner`.
    pub(super) async fn owner_of(&self, inner: &Frame, outer: &Frame) -> Result<NodeId, BridgeError> {
        let owner = outer.session.call("DOM.getFrameOwner", json!({ "frameId": inner.id.as_str() })).await?;
        owner.get("backendNodeId").and_then(Value::as_i64).map(NodeId).ok_or(BridgeError::Stale)
    }
}

/// The button of a click, as the browser's protocol names it.
const fn button_of(manner: ClickManner) -> &'static str {
    match manner.button {
        MouseButton::Left => "left",
        MouseButton::Right => "right",
    }
}

/// The keys that are held during a click, as the bits of the browser's protocol.
fn modifiers_of(manner: ClickManner) -> u8 {
    let HeldKeys { alt, control, meta, shift } = manner.held;
    u8::from(alt) | u8::from(control) << 1 | u8::from(meta) << 2 | u8::from(shift) << 3
}

/// Calls a function in all of these worlds. True if one of them returned true.
async fn call_each(
    worlds: &[(Frame, World)],
    state: &Arc<TabState>,
    function: &'static str,
) -> Result<bool, BridgeError> {
    let mut calls = tokio::task::JoinSet::new();
    for (frame, world) in worlds {
        let (state, frame, world) = (Arc::clone(state), frame.clone(), world.clone());
        calls.spawn(async move { state.ask(&frame, &world, function, Vec::new()).await });
    }
    let mut any = false;
    for answer in calls.join_all().await {
        match answer {
            Ok(said) => any |= said == Value::Bool(true),
            Err(BridgeError::Stale) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(any)
}

fn hit_point(at: &Value) -> Result<(f64, f64), BridgeError> {
    if at.get("hit").and_then(Value::as_bool) != Some(true) {
        return Err(BridgeError::Occluded);
    }
    let number = |name: &str| at.get(name).and_then(Value::as_f64).ok_or(BridgeError::Occluded);
    Ok((number("x")?, number("y")?))
}

/// A destination as the isolated world compares it.
pub(crate) fn way_of(destination: &Destination) -> Value {
    json!({ "action": format!("{}{}", destination.origin, destination.path), "method": *destination.method })
}

/// The result of a step, by the word that the isolated world returned.
pub(crate) fn outcome(word: &Value) -> Result<(), BridgeError> {
    match word.as_str() {
        Some("done") => Ok(()),
        Some("gone") => Err(BridgeError::Stale),
        Some("unfit") => Err(BridgeError::NotApplicable),
        Some("ruled out") => Err(BridgeError::RuledOut),
        Some("hidden") => Err(BridgeError::Occluded),
        _ => Err(BridgeError::Diverted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_done_is_a_success() {
        assert_eq!(outcome(&json!("done")), Ok(()));
        for (word, error) in [
            (json!("gone"), BridgeError::Stale),
            (json!("unfit"), BridgeError::NotApplicable),
            (json!("ruled out"), BridgeError::RuledOut),
            (json!("hidden"), BridgeError::Occluded),
            (json!("diverted"), BridgeError::Diverted),
            (json!(true), BridgeError::Diverted),
            (Value::Null, BridgeError::Diverted),
        ] {
            assert_eq!(outcome(&word), Err(error));
        }
        assert_eq!(hit_point(&json!({ "hit": true, "x": 1, "y": 2.5 })), Ok((1.0, 2.5)));
        assert_eq!(hit_point(&json!({ "hit": false, "x": 1, "y": 2 })), Err(BridgeError::Occluded));
    }
}
