//! Trains and judges the small models that the classifier ships.
//!
//! Nothing here is needed to use a model. The folder of the training data is an argument; the data themselves are
//! not part of the project.

pub mod personal_data;

pub mod secret_vectors;
