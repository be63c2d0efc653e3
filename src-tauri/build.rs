//! Puts the window's settings, its permissions and its icon into the program.

fn main() {
    tauri_build::build();
}
