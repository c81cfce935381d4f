//! A small language model of n-grams over several corpora.
