//! The kinds of the object stores, which every build knows.
//!
//! Not here: what reads them (`object`).

use source::{SourceKey, SourceKind};

/// Amazon S3 and compatible services.
pub static AWS_S3: SourceKind = SourceKind {
    name: "aws/s3",
    about: "A bucket of Amazon S3 or of a compatible service.",
    schemes: &["s3"],
    keys: &[
        SourceKey {
            name: "bucket",
            required: true,
            about: "The bucket.",
        },
        SourceKey {
            name: "region",
            required: true,
            about: "The region that the bucket is in.",
        },
    ],
};

/// Google Cloud Storage.
pub static GOOGLE_STORAGE: SourceKind = SourceKind {
    name: "googlecloud/storage",
    about: "A bucket of Google Cloud Storage.",
    schemes: &["gs"],
    keys: &[SourceKey {
        name: "bucket",
        required: true,
        about: "The bucket.",
    }],
};

/// Azure Blob Storage.
pub static AZURE_BLOB: SourceKind = SourceKind {
    name: "azure/blob",
    about: "A container of Azure Blob Storage, in the account of the environment.",
    schemes: &["azure", "az"],
    keys: &[SourceKey {
        name: "container",
        required: true,
        about: "The container.",
    }],
};
