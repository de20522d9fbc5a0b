//! What the tools do, through the door a model uses.

mod arguments;
mod bash;
mod desk;
mod edit;
mod glob;
mod grep;
mod ls;
mod read;
mod todo;
mod write;
