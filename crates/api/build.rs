//! Generates messages, client and server from the protocol definition, without `protoc`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proto");
    let descriptors = protox::compile(["prose/v1/prose.proto"], [root])?;
    tonic_prost_build::configure().bytes(".").btree_map(".").compile_fds(descriptors)?;
    println!("cargo:rerun-if-changed={root}");
    Ok(())
}
