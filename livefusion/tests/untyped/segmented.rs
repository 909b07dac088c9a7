//! `livefusion/src/segmented`: to come.
