//! `livefusion/src/ranked`: to come.
