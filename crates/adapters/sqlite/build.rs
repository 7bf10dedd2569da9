//! Compiles the crate anew when a migration is added: the macro that embeds them cannot tell.

fn main() {
    println!("cargo:rerun-if-changed=../../../migrations/sqlite");
}
