//! Folders that hostile programs wrote: measured, copied, restored and taken away without ever leaving them.
//!
//! Everything here blocks and belongs on a thread for that (`tokio::task::spawn_blocking`).

mod walk;

pub use walk::{DEPTH, ENTRY, Size, give_to, open_file, open_folder, size_of};
