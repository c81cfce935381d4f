//! A model in a mapped file is used where it lies.

use crate::models::{STORAGES, small};
use hmm_control::{Belief, ModelFile, Storage, map_file};
use std::sync::Arc;

#[test]
fn the_matrices_lie_in_the_map() {
    let folder = tempfile::tempdir().unwrap();
    for storage in STORAGES {
        let hmm = small().hmm(Storage::F64).to_storage(storage, storage).unwrap();
        let path = folder.path().join(storage.to_string());
        let mut out = std::fs::File::create(&path).unwrap();
        ModelFile::new(hmm.clone()).write(&mut out).unwrap();

        let bytes = map_file(&path).unwrap();
        let file = ModelFile::read(Arc::clone(&bytes)).unwrap();
        let outer = (*bytes).as_ref().as_ptr_range();
        for matrix in [file.hmm.transition(), file.hmm.emission()] {
            let inner = matrix.bytes().as_ptr_range();
            assert!(outer.start <= inner.start && inner.end <= outer.end, "{storage}: a copy");
        }
        // The model keeps the map alive, and the map the file.
        drop(bytes);
        std::fs::remove_file(&path).unwrap();
        let (mut mapped, mut built) = (Belief::start(&file.hmm), Belief::start(&hmm));
        for token in [0, 3, 1, 4] {
            assert_eq!(mapped.observe(&file.hmm, token).to_bits(), built.observe(&hmm, token).to_bits());
        }
    }
}

#[test]
fn what_is_no_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = map_file(folder.path()).err().unwrap();
    assert_eq!(error.to_string(), format!("cannot map {}: not a regular file", folder.path().display()));
    let missing = folder.path().join("missing.safetensors");
    let error = map_file(&missing).err().unwrap();
    assert!(error.to_string().starts_with(&format!("cannot map {}: ", missing.display())), "{error}");
    assert_eq!((error.path, error.source.kind()), (missing, std::io::ErrorKind::NotFound));
}

#[test]
fn an_empty_file_is_mapped_and_is_no_model() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let bytes = map_file(file.path()).unwrap();
    assert!((*bytes).as_ref().is_empty());
    assert!(ModelFile::read(bytes).is_err());
}
