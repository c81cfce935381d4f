//! Sites shadowed by others, and events that can happen nowhere.
//!
//! A finite number of patterns holds a pattern only if one of them does: below a star there is always a label
//! that none of the others names, and behind a path's star always a path. So looking at pairs is enough.

use super::Warning;
use crate::guard::Rules;
use crate::policy::Policy;
use crate::session::Counted;
use crate::site::{SiteEffect, SitePattern, SiteRule};
use crate::spans::Rule;

/// Why a rule changes nothing for an event.
enum Idle<'a> {
    /// Nothing is ever granted that it could forbid.
    NeverGranted,
    /// Another rule says the same of more places.
    Shadowed(&'a SiteRule),
    /// It forbids places that no `only` rule allows, or allows places that a `never` rule forbids.
    Elsewhere(&'a SiteRule),
}

impl Policy {
    /// Site rules without which every place is judged the same.
    pub(super) fn idle_sites(&self) -> Vec<Warning> {
        let mut kept: Vec<usize> = (0..self.sites.len()).collect();
        let mut found = Vec::new();
        for number in (0..self.sites.len()).rev() {
            let Some(site) = self.sites.get(number) else { continue };
            let rest: Vec<&SiteRule> = kept
                .iter()
                .filter(|other| **other != number)
                .filter_map(|other| self.sites.get(*other))
                .collect();
            let kinds = site.kinds.iter().copied().map(Counted::Kind);
            let named = kinds.chain(site.verbs.iter().copied().map(Counted::Verb));
            let idle: Option<Vec<Idle<'_>>> = named.map(|event| self.idle_site(site, &rest, event)).collect();
            let Some(idle) = idle else { continue };
            kept.retain(|other| *other != number);
            let why = match idle.first() {
                Some(Idle::Shadowed(other)) => format!("`site \"{}\"` says it already", other.place),
                Some(Idle::Elsewhere(other)) if site.effect == SiteEffect::Never => {
                    format!("it is allowed only on `{}` and the like", other.place)
                }
                Some(Idle::Elsewhere(other)) => format!("`site \"{}\"` forbids it there", other.place),
                Some(Idle::NeverGranted) | None => "what it names is never granted".to_owned(),
            };
            found.push(Warning {
                message: format!("`{site}` changes nothing: {why}"),
                help: "remove it, or check the pattern".to_owned(),
                span: self.place(Rule::Site(number)),
            });
        }
        found
    }

    /// Why `site` changes nothing for an event beside `rest`; nothing where it does change something.
    fn idle_site<'a>(&self, site: &SiteRule, rest: &[&'a SiteRule], event: Counted) -> Option<Idle<'a>> {
        if self.roots_of(event).all(|root| matches!(self.rules(root), Rules::Fixed(_))) {
            return Some(Idle::NeverGranted);
        }
        let named: Vec<&SiteRule> = rest.iter().copied().filter(|other| names(other, event)).collect();
        let of = |effect| named.iter().copied().filter(move |other| other.effect == effect);
        let shadow = of(site.effect).find(|other| other.place.covers(&site.place));
        if let Some(other) = shadow {
            return Some(Idle::Shadowed(other));
        }
        let first_only = of(SiteEffect::Only).next()?;
        match site.effect {
            SiteEffect::Never => {
                let met = of(SiteEffect::Only).any(|other| meets(&site.place, &other.place));
                (!met).then_some(Idle::Elsewhere(first_only))
            }
            // Without the last `only` rule the event would be allowed everywhere.
            SiteEffect::Only => {
                of(SiteEffect::Never).find(|other| forbids_all(other, site)).map(Idle::Elsewhere)
            }
        }
    }

    /// An `only` rule of an event where every such rule allows nothing but what is forbidden.
    pub(super) fn nowhere(&self, event: Counted) -> Option<String> {
        let named = || self.sites.iter().filter(|site| names(site, event));
        let only: Vec<_> = named().filter(|site| site.effect == SiteEffect::Only).collect();
        let forbidden = |site: &&SiteRule| {
            named().any(|other| other.effect == SiteEffect::Never && forbids_all(other, site))
        };
        only.iter().all(forbidden).then(|| only.first().map(ToString::to_string))?
    }
}

fn names(site: &SiteRule, event: Counted) -> bool {
    match event {
        Counted::Kind(kind) => site.kinds.contains(&kind),
        Counted::Verb(verb) => site.verbs.contains(&verb),
    }
}

/// Whether a `never` rule forbids every place that an `only` rule allows, the page it starts from included:
/// a rule with a path says nothing of that page.
fn forbids_all(never: &SiteRule, only: &SiteRule) -> bool {
    never.place.path.is_none() && never.place.covers(&only.place)
}

/// Whether some place falls under a `never` rule's pattern and under an `only` rule's.
fn meets(never: &SitePattern, only: &SitePattern) -> bool {
    let hosts = never.hosts.covers(&only.hosts) || only.hosts.covers(&never.hosts);
    let paths = match (&never.path, &only.path) {
        (Some(one), Some(other)) => one.covers(other) || other.covers(one),
        _ => true,
    };
    hosts && paths
}
