//! Secrets are distinguished from look-alikes.

use std::collections::BTreeSet;

use classifier::Detectors;
use classifier_training::secret_vectors::{Vector, is_held_out, judge, service_vectors, vectors};

#[test]
fn there_are_enough_vectors_of_enough_styles() {
    let all = vectors(5, 1);
    let with: Vec<&Vector> = all.iter().filter(|vector| vector.secret.is_some()).collect();
    let styles: BTreeSet<&str> = with.iter().map(|vector| vector.style).collect();
    assert!(with.len() >= 300 && styles.len() >= 30, "{} of {} styles", with.len(), styles.len());
    assert!(all.len() - with.len() >= 300);
    for vector in &with {
        assert!(vector.secret.clone().is_some_and(|secret| vector.text.get(secret).is_some()), "{vector:?}");
    }
    assert_eq!(all, vectors(5, 1));
    assert_ne!(all, vectors(5, 2));
}

#[test]
fn secrets_are_found_and_look_alikes_are_not() {
    for detectors in [Detectors::standard().unwrap(), Detectors::thorough().unwrap()] {
        let verdict = judge(&detectors, &vectors(20, 7));
        let (recall, precision) = (verdict.recall(), verdict.precision());
        let some: Vec<_> = verdict.mistakes.iter().take(8).collect();
        assert!(
            recall >= 0.95 && precision >= 0.95,
            "recall {recall:.3}, precision {precision:.3}: {some:#?}"
        );
    }
}

#[test]
fn secrets_of_services_that_nobody_looked_at_are_found_too() {
    let (held, seen): (Vec<Vector>, Vec<Vector>) =
        service_vectors(20, 7).into_iter().partition(|vector| is_held_out(vector.style));
    for (name, half) in [("seen", seen), ("held out", held)] {
        let styles: BTreeSet<&str> = half.iter().map(|vector| vector.style).collect();
        assert!(styles.len() >= 40 && half.iter().any(|vector| vector.secret.is_none()), "{name}");
        let verdict = judge(&Detectors::standard().unwrap(), &half);
        let (recall, precision) = (verdict.recall(), verdict.precision());
        assert!(recall >= 0.85 && precision >= 0.90, "{name}: recall {recall:.3}, precision {precision:.3}");
    }
}
