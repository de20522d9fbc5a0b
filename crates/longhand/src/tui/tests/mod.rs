//! Tests of the terminal, without one: events and keys go in, frames come out as text.

mod editor;
mod first_run;
mod fixture;
mod fold;
mod keys;
mod markdown;
mod picker;
mod properties;
mod run;
mod sanitize;
mod screens;
mod transcript;
mod viewer;
