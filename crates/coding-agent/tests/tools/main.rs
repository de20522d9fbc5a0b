//! What the tools do, through the door a model uses.

mod arguments;
mod bash;
mod desk;
mod ls;
mod read;
mod write;
