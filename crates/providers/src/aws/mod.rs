//! The catalogue of the namespace `aws`: every resource type of CloudFormation, offline, read type
//! by type.
//!
//! `cargo xtask catalog aws` generates `catalog.bin` from CloudFormation's resource schemas.
//! `CATALOG.md` describes the form of the file and the rules of names. Opening the file is cheap;
//! only types that a document names are unpacked.
//!
//! Not here: a provider. Nothing in this folder uses the network.

pub mod format;
mod options;
pub mod services;
mod sources;
mod types;
mod wire;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use provider::Catalog;

pub use self::types::PackedTypes;

static TYPES: LazyLock<Arc<PackedTypes>> = LazyLock::new(|| {
    let packed = format::Packed::open(Cow::Borrowed(include_bytes!("catalog.bin")))
        .expect("the catalogue of `aws` is part of the program");
    Arc::new(PackedTypes::new(packed))
});

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let own = provider::read_catalog(include_str!("catalog.json"));
    let own = own.expect("the catalogue of `aws` is part of the program");
    Arc::new(Catalog {
        source: Some(TYPES.clone()),
        ..own
    })
});

/// The catalogue.
pub fn catalog() -> Arc<Catalog> {
    CATALOG.clone()
}

/// The types of the catalogue, with CloudFormation's names of types and fields.
pub fn types() -> Arc<PackedTypes> {
    TYPES.clone()
}
