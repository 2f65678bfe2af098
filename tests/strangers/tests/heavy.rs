//! Programs of the pages whose clients take long to build, each against the fault that it is about.

mod conflicts;
mod kafka;
mod migrations;
mod node;
mod objects;
