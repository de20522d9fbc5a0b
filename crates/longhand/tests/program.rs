//! The program as a shell sees it: what it prints, how it ends, what it leaves on the disk. Models are played by the demo.

#[path = "program/archive.rs"]
mod archive;
#[path = "program/command_line.rs"]
mod command_line;
#[path = "program/databases.rs"]
mod databases;
#[path = "program/files.rs"]
mod files;
#[path = "program/frames.rs"]
mod frames;
#[path = "program/home.rs"]
mod home;
#[path = "program/import.rs"]
mod import;
#[path = "program/terminal.rs"]
mod terminal;
