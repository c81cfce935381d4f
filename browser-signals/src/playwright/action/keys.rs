//! Keys, which go to the element with the focus. Each reaches the element of its decision alone.

use serde_json::{Value, json};

use super::stroke::Stroke;
use super::{Aimed, call_each, outcome};
use crate::key::{keys_of, selects_all};
use crate::playwright::error::BridgeError;
use crate::playwright::tab::Tab;
use crate::playwright::tab::frames::Frame;
use crate::playwright::tab::state::{Located, World};
use crate::{ElementRef, Observed, Snapshot, WritingKey};

/// An element with the focus that a key is for, the other frames, and the control for whose sake its form would not be sent.
struct AimedKey {
    aimed: Aimed,
    others: Vec<(Frame, World)>,
    lacks: Value,
}

impl Tab {
    /// Presses one key where the focus is: `Enter`, `Tab`, `Escape`, an arrow, `PageUp`, `PageDown`, `Home`, `End` or
    /// `ControlOrMeta+a`. The arrows and the four keys after them are pressed only where they change no value: not in a list of
    /// options, a box for numbers or dates, a slider, a group of radio buttons, or an input with a list. If the decision was about
    /// the focused element, that element still has the focus, and is as it was.
    ///
    /// # Errors
    /// [`BridgeError::NotApplicable`] for any other key, for an arrow that changes a value, for Enter where it would write text, and
    /// for `ControlOrMeta+a` anywhere but in a text box. [`BridgeError::Filled`] for the latter in a control that was filled. As for
    /// [`Tab::click`] where `decided` has a target; [`BridgeError::Occluded`] where the key would have reached another element.
    pub async fn press(&self, key: &str, decided: Option<&Observed<Snapshot>>) -> Result<(), BridgeError> {
        let stroke = Stroke::named(key).ok_or(BridgeError::NotApplicable)?;
        let decided = decided.filter(|decided| decided.target.is_some());
        let aimed = match decided {
            Some(decided) if selects_all(key) => Some(self.aim_at_selection(decided).await?),
            Some(decided) => Some(self.aim_at_focus(decided).await?),
            None if selects_all(key) => return Err(BridgeError::NotApplicable),
            None => None,
        };
        if stroke.steps() {
            self.keeps_its_value().await?;
        }
        let navigations = self.begin();
        let pressed = self.strike(&stroke).await;
        let strayed = match &aimed {
            Some(aimed) => self.end_key(aimed).await,
            None => false,
        };
        pressed?;
        self.settle(navigations).await?;
        self.check_arrival()?;
        if strayed {
            return Err(BridgeError::Occluded);
        }
        // The page may have handled the key in another way than by sending its form.
        match aimed {
            Some(aimed) if self.state.inner().navigations == navigations => self.is_sent(&aimed.lacks),
            _ => Ok(()),
        }
    }

    /// The control with the focus, and the text that it has after a key: its own text is known, because it is empty or is the
    /// agent's, as the guard recorded it.
    ///
    /// # Errors
    /// [`BridgeError::Stale`] where no element has the focus, [`BridgeError::Filled`] for a control that was filled,
    /// [`BridgeError::NotApplicable`] where it is no text box, or its text is not the agent's; [`BridgeError::Occluded`] where
    /// it is not visible.
    pub async fn text_after(&self, key: WritingKey) -> Result<(ElementRef, String), BridgeError> {
        let focus = self.focused().await?.ok_or(BridgeError::Stale)?;
        let located = self.state.located(&focus)?;
        let frames = self.state.frames().await?;
        let frame = frames.get(&located.frame)?.clone();
        if frame.document != located.document {
            return Err(BridgeError::Stale);
        }
        let world = self.state.world(&frame).await?;
        let text = self.text_in(&frame, &world, &located, key, false).await?;
        Ok((focus, text))
    }

    /// Presses a key that changes the text of a control, if it leads to the text of the decision.
    ///
    /// # Errors
    /// As for [`Tab::text_after`]; [`BridgeError::Stale`] where the text would be another or the control lost the focus, and
    /// [`BridgeError::Occluded`] where the key would have reached another element.
    pub async fn type_key(
        &self,
        target: &ElementRef,
        key: WritingKey,
        text: &str,
        decided: &Observed<Snapshot>,
    ) -> Result<(), BridgeError> {
        let aimed = self.aim(target, decided).await?;
        let key_for = AimedKey { others: self.others(&aimed).await?, aimed, lacks: Value::Null };
        let AimedKey { aimed, others, .. } = &key_for;
        let navigations = self.begin();
        let pressed = async {
            call_each(others, &self.state, "ward").await?;
            let leads_to = self.text_in(&aimed.frame, &aimed.world, &aimed.located, key, true).await?;
            if leads_to != text {
                return Err(BridgeError::Stale);
            }
            self.strike(&Stroke::writing(key)).await
        };
        let pressed = pressed.await;
        let strayed = self.end_key(&key_for).await;
        pressed?;
        let is_password = decided.target.as_ref().is_some_and(|it| it.input_type == "password");
        if !strayed && !is_password {
            self.state.inner().typed.keep(&aimed.located, text);
        }
        self.settle(navigations).await?;
        self.check_arrival()?;
        if strayed { Err(BridgeError::Occluded) } else { Ok(()) }
    }

    /// Puts text into a control by a key for each character, in the place of what it held. Every key reaches this control alone.
    ///
    /// # Errors
    /// As for [`Tab::type_text`]. [`BridgeError::NotApplicable`] also for a text with a line break or a tab, and for a long one,
    /// [`BridgeError::Filled`] for a control that was filled, [`BridgeError::Occluded`] where it is not visible, or a key would have
    /// reached another element: no further key is pressed then.
    pub async fn type_slowly(
        &self,
        target: &ElementRef,
        text: &str,
        decided: &Observed<Snapshot>,
    ) -> Result<(), BridgeError> {
        let keys = keys_of(text).ok_or(BridgeError::NotApplicable)?;
        let aimed = self.aim(target, decided).await?;
        if self.state.inner().typed.is_sealed(&aimed.located) {
            return Err(BridgeError::Filled);
        }
        let key = AimedKey { others: self.others(&aimed).await?, aimed, lacks: Value::Null };
        let AimedKey { aimed, others, .. } = &key;
        let (frame, world) = (&aimed.frame, &aimed.world);
        let navigations = self.begin();
        let typed = async {
            call_each(others, &self.state, "ward").await?;
            let node = self.state.object(frame, world, aimed.located.node).await?;
            outcome(&self.state.ask(frame, world, "aimTyping", vec![node.clone()]).await?)?;
            for key in keys {
                // A frame that is newer than the aim could have the focus by now.
                outcome(&self.state.ask(frame, world, "isAimed", vec![node.clone()]).await?)?;
                self.strike(&Stroke::writing(key)).await?;
            }
            Ok(())
        };
        let typed: Result<(), BridgeError> = typed.await;
        let strayed = self.end_key(&key).await;
        let done = if strayed { typed.and(Err(BridgeError::Occluded)) } else { typed };
        {
            let inner = &mut self.state.inner().typed;
            let is_password = decided.target.as_ref().is_some_and(|it| it.input_type == "password");
            match done {
                Ok(()) if !is_password => inner.keep(&aimed.located, text),
                _ => inner.lose(&aimed.located),
            }
        }
        done?;
        self.settle(navigations).await?;
        self.check_arrival()
    }

    /// Presses Enter in an input without a form.
    pub(super) async fn enter(
        &self,
        target: &ElementRef,
        decided: &Observed<Snapshot>,
    ) -> Result<(), BridgeError> {
        let aimed = self.aim(target, decided).await?;
        let node = self.state.object(&aimed.frame, &aimed.world, aimed.located.node).await?;
        outcome(&self.state.ask(&aimed.frame, &aimed.world, "focusOn", vec![node]).await?)?;
        self.press("Enter", Some(decided)).await
    }

    /// The text of a control with the focus after a key. With `is_pressed` the next keys reach this control alone.
    async fn text_in(
        &self,
        frame: &Frame,
        world: &World,
        control: &Located,
        key: WritingKey,
        is_pressed: bool,
    ) -> Result<String, BridgeError> {
        let own = {
            let inner = self.state.inner();
            if inner.typed.is_sealed(control) {
                return Err(BridgeError::Filled);
            }
            inner.typed.in_control(control)
        };
        let node = self.state.object(frame, world, control.node).await?;
        let given = vec![node, json!({ "value": own }), json!({ "value": is_pressed })];
        let at = self.state.ask(frame, world, "aimWriting", given).await?;
        if !at.is_object() {
            outcome(&at)?;
        }
        let place =
            |name: &str| at.get(name).and_then(Value::as_u64).and_then(|units| usize::try_from(units).ok());
        let (Some(start), Some(end)) = (place("start"), place("end")) else {
            return Err(BridgeError::Diverted);
        };
        let held = own.filter(|_| at.get("empty") == Some(&Value::Bool(false))).unwrap_or_default();
        key.text_after(&held, &(start..end)).ok_or(BridgeError::NotApplicable)
    }

    /// Checks that an arrow changes no value where the focus is. A page that moves the focus afterwards does no more than it could
    /// do by itself.
    async fn keeps_its_value(&self) -> Result<(), BridgeError> {
        let Some(focus) = self.focused().await? else { return Ok(()) };
        let located = self.state.located(&focus)?;
        let frames = self.state.frames().await?;
        let frame = frames.get(&located.frame)?;
        let world = self.state.world(frame).await?;
        let node = self.state.object(frame, &world, located.node).await?;
        outcome(&self.state.ask(frame, &world, "keepsItsValue", vec![node]).await?)
    }

    /// Lets a key go down and up.
    async fn strike(&self, stroke: &Stroke) -> Result<(), BridgeError> {
        let page = self.state.page()?;
        for event in stroke.events() {
            page.call("Input.dispatchKeyEvent", event).await?;
        }
        Ok(())
    }

    /// Checks that the element of a decision has the focus. Until the key ends, it reaches this element alone: a page could move
    /// the focus to a button of another form between the parts of a key.
    async fn aim_at_focus(&self, decided: &Observed<Snapshot>) -> Result<AimedKey, BridgeError> {
        let focus = self.focused().await?.ok_or(BridgeError::Stale)?;
        let aimed = self.aim(&focus, decided).await?;
        let tag = decided.target.as_ref().map(|target| target.tag.as_str());
        if !matches!(tag, Some("a" | "button" | "input")) {
            return Err(BridgeError::NotApplicable);
        }
        let lacks = match decided.form {
            Some(form) => {
                let node = self.state.object(&aimed.frame, &aimed.world, aimed.located.node).await?;
                let form = self.state.object(&aimed.frame, &aimed.world, form).await?;
                self.state.ask(&aimed.frame, &aimed.world, "lacks", vec![node, form]).await?
            }
            None => Value::Null,
        };
        self.keep_at(aimed, "aimKey", lacks).await
    }

    /// The same for the key that selects the text of a box.
    async fn aim_at_selection(&self, decided: &Observed<Snapshot>) -> Result<AimedKey, BridgeError> {
        let focus = self.focused().await?.ok_or(BridgeError::Stale)?;
        let aimed = self.aim(&focus, decided).await?;
        if self.state.inner().typed.is_sealed(&aimed.located) {
            return Err(BridgeError::Filled);
        }
        self.keep_at(aimed, "aimSelecting", Value::Null).await
    }

    /// Lets keys reach an element alone, in this frame and the others.
    async fn keep_at(
        &self,
        aimed: Aimed,
        function: &'static str,
        lacks: Value,
    ) -> Result<AimedKey, BridgeError> {
        let others = self.others(&aimed).await?;
        let node = self.state.object(&aimed.frame, &aimed.world, aimed.located.node).await?;
        outcome(&self.state.ask(&aimed.frame, &aimed.world, function, vec![node]).await?)?;
        let key = AimedKey { aimed, others, lacks };
        if let Err(error) = call_each(&key.others, &self.state, "ward").await {
            self.end_key(&key).await;
            return Err(error);
        }
        Ok(key)
    }

    /// Lets keys reach every element again. Returns true if the key would have reached another one.
    async fn end_key(&self, key: &AimedKey) -> bool {
        let AimedKey { aimed, others, .. } = key;
        // An error means that the document is gone: the key arrived, and navigated.
        let own = self.state.ask(&aimed.frame, &aimed.world, "unwatch", Vec::new()).await;
        let elsewhere = call_each(others, &self.state, "unwatch").await;
        own == Ok(Value::Bool(true)) || elsewhere != Ok(false)
    }
}
