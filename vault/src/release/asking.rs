//! Matches the placed controls on the fresh look at a form, and converts each value to the form that its control takes.

use browser_signals::matching::{Asked, match_form};
use browser_signals::{Control, NodeId, SealedValue, Snapshot};
use policy_dfa::{Basis, Placement, RedeemError, Terms};
use sirl::{Field, FieldSet};
use zeroize::Zeroizing;

use super::error::ReleaseError;
use crate::crypto::padded::Plaintext;
use crate::shape::{Shaped, Target, boxes_of, field_among, shape, whole};

/// A placed control and the kind of data that it asks for, by the page's evidence or, where there is none, by the agent's word that
/// the grant rests on; none where neither says it.
struct Placed<'a> {
    node: NodeId,
    asked: Option<Asked>,
    control: &'a Control,
}

/// The placed controls of a form.
pub(super) struct Asking<'a>(Vec<Placed<'a>>);

impl<'a> Asking<'a> {
    pub(super) fn of(terms: &Terms, page: &'a Snapshot) -> Asking<'a> {
        let found = match_form(&page.controls, &page.words);
        let placed = terms.placements.iter().filter_map(|placement| {
            let (control, found) =
                page.controls.iter().zip(&found).find(|(control, _)| control.node == placement.node)?;
            let asked = match (found.asked, placement.basis) {
                (None, Basis::Agent) if found.is_silent(control) => Some(whole(placement.field)),
                (asked, _) => asked,
            };
            Some(Placed { node: placement.node, asked, control })
        });
        Asking(placed.collect())
    }

    /// The value as the control takes it; none where the control stays empty.
    pub(super) fn shaped(
        &self,
        placement: &Placement,
        plain: Plaintext,
    ) -> Result<Option<SealedValue>, ReleaseError> {
        let stored = |plain| Ok(Some(SealedValue::held(plain)));
        let placed = self.0.iter().find(|placed| placed.node == placement.node);
        // By now the page asks for something else there, or for nothing although it did.
        let asked = placed
            .and_then(|placed| placed.asked)
            .filter(|asked| field_among(*asked, FieldSet::EMPTY.with(placement.field)).is_some());
        let (Some(placed), Some(asked)) = (placed, asked) else {
            return Err(ReleaseError::Redeem(RedeemError::Stale));
        };
        let Ok(value) = std::str::from_utf8(plain.expose()) else { return stored(plain) };
        let form: Vec<Asked> = self.0.iter().filter_map(|placed| placed.asked).collect();
        let (nodes, boxes) = self.boxes(asked);
        let index = nodes.iter().position(|node| *node == placement.node).unwrap_or_default();
        let target = Target { asked, control: placed.control, form: &form, part: (index, boxes) };
        match shape(value, &target).map_err(|_| ReleaseError::Underivable(placement.field))? {
            Shaped::AsStored => stored(plain),
            Shaped::As(text) => Ok(Some(SealedValue::held(Zeroizing::new(text.as_bytes().to_vec())))),
            Shaped::Empty => Ok(None),
        }
    }

    /// Whether a record may lack what this control asks for: many people and countries have no region, company or user name, and
    /// the page does not say that it needs one.
    pub(super) fn may_stay_empty(&self, placement: &Placement) -> bool {
        let placed = self.0.iter().find(|placed| placed.node == placement.node);
        matches!(placement.field, Field::Region | Field::Company | Field::Phone | Field::Username)
            && placed.is_some_and(|placed| !placed.control.words.required)
    }

    /// The controls that ask for this, and how many boxes one value is split over.
    fn boxes(&self, asked: Asked) -> (Vec<NodeId>, usize) {
        let all: Vec<&Placed<'_>> = self.0.iter().filter(|placed| placed.asked == Some(asked)).collect();
        let boxes = boxes_of(asked, all.iter().map(|placed| placed.control));
        (all.into_iter().map(|placed| placed.node).collect(), boxes)
    }
}
