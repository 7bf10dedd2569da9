//! Compiles anew when a migration is added: the embedding macro cannot tell cargo.

fn main() {
    println!("cargo:rerun-if-changed=../../../migrations/postgres");
}
