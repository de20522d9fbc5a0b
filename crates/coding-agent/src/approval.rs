//! Decides which calls of a model may run without asking the user.
