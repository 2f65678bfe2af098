//! The checkout as a whole: what its pages say, its map, its dependencies, and the warnings of annotated functions.

mod dependencies;
mod errors_page;
mod front_page;
mod guide;
mod lints;
mod map;
mod markdown;
mod numbers;
mod pasted;
mod planted;
mod programs;
mod reliability;
mod words;
