//! `site` rules that change nothing, and events that are forbidden on every site.
//!
//! Finitely many patterns cover a pattern only if one of them covers it alone: below a star there is always a label
//! that none of the others names, and after a path's star always another path. So a comparison of pairs is complete.

use super::warning::Warning;
use crate::automaton::guards::Rules;
use crate::language::policy::Policy;
use crate::language::site::{SiteEffect, SitePattern, SiteRule};
use crate::language::spans::RuleId;
use crate::vocabulary::event::EventKind;

/// The reason why a rule changes nothing for an event.
enum Redundancy<'a> {
    /// The event is never granted.
    NeverGranted,
    /// Another rule has the same effect on more addresses.
    Shadowed(&'a SiteRule),
    /// It forbids addresses that no `only` rule allows, or allows addresses that a `never` rule forbids.
    Disjoint(&'a SiteRule),
}

impl Policy {
    /// Site rules without which every address is allowed or forbidden alike.
    pub(super) fn redundant_sites(&self) -> Vec<Warning> {
        let mut remaining: Vec<usize> = (0..self.sites.len()).collect();
        let mut found = Vec::new();
        for number in (0..self.sites.len()).rev() {
            let Some(site) = self.sites.get(number) else { continue };
            let rest: Vec<&SiteRule> = remaining
                .iter()
                .filter(|other| **other != number)
                .filter_map(|other| self.sites.get(*other))
                .collect();
            let each = site.events.iter().map(|event| self.site_redundancy(site, &rest, *event));
            let redundancy: Option<Vec<Redundancy<'_>>> = each.collect();
            let Some(redundancy) = redundancy else { continue };
            remaining.retain(|other| *other != number);
            let why = match redundancy.first() {
                Some(Redundancy::Shadowed(other)) => format!("`site \"{}\"` says it already", other.pattern),
                Some(Redundancy::Disjoint(other)) if site.effect == SiteEffect::Never => {
                    format!("it is allowed only on `{}` and the like", other.pattern)
                }
                Some(Redundancy::Disjoint(other)) => format!("`site \"{}\"` forbids it there", other.pattern),
                Some(Redundancy::NeverGranted) | None => "what it names is never granted".to_owned(),
            };
            found.push(Warning {
                message: format!("`{site}` changes nothing: {why}"),
                help: "remove it, or check the pattern".to_owned(),
                span: self.span_of(RuleId::Site(number)),
            });
        }
        found
    }

    /// The reason why `site` changes nothing for an event, given the rules `rest`; none where it changes something.
    fn site_redundancy<'a>(
        &self,
        site: &SiteRule,
        rest: &[&'a SiteRule],
        event: EventKind,
    ) -> Option<Redundancy<'a>> {
        if self.roots_of(event).all(|root| matches!(self.rules(root), Rules::Fixed(_))) {
            return Some(Redundancy::NeverGranted);
        }
        let named: Vec<&SiteRule> =
            rest.iter().copied().filter(|other| other.events.contains(&event)).collect();
        let of = |effect| named.iter().copied().filter(move |other| other.effect == effect);
        let shadow = of(site.effect).find(|other| other.pattern.covers(&site.pattern));
        if let Some(other) = shadow {
            return Some(Redundancy::Shadowed(other));
        }
        let first_only = of(SiteEffect::Only).next()?;
        match site.effect {
            SiteEffect::Never => {
                let overlaps = of(SiteEffect::Only).any(|other| overlap(&site.pattern, &other.pattern));
                (!overlaps).then_some(Redundancy::Disjoint(first_only))
            }
            // The last `only` rule is never redundant: without it the event is allowed everywhere.
            SiteEffect::Only => {
                of(SiteEffect::Never).find(|other| forbids_all(other, site)).map(Redundancy::Disjoint)
            }
        }
    }

    /// The first `only` rule of an event, where `never` rules forbid every address that its `only` rules allow.
    pub(super) fn unsatisfiable_only_site(&self, event: EventKind) -> Option<String> {
        let named = || self.sites.iter().filter(|site| site.events.contains(&event));
        let only: Vec<_> = named().filter(|site| site.effect == SiteEffect::Only).collect();
        let forbidden = |site: &&SiteRule| {
            named().any(|other| other.effect == SiteEffect::Never && forbids_all(other, site))
        };
        only.iter().all(forbidden).then(|| only.first().map(ToString::to_string))?
    }
}

/// Whether a `never` rule forbids every address that an `only` rule allows, including the page that the event starts
/// from. A `never` rule with a path does not apply to that page.
fn forbids_all(never: &SiteRule, only: &SiteRule) -> bool {
    never.pattern.path.is_none() && never.pattern.covers(&only.pattern)
}

/// Whether some address matches both the pattern of a `never` rule and the pattern of an `only` rule.
fn overlap(never: &SitePattern, only: &SitePattern) -> bool {
    let hosts = never.hosts.covers(&only.hosts) || only.hosts.covers(&never.hosts);
    let paths = match (&never.path, &only.path) {
        (Some(one), Some(other)) => one.covers(other) || other.covers(one),
        _ => true,
    };
    hosts && paths
}
