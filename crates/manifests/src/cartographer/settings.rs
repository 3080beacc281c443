//! The settings of the dialect, and the files that they name.

use dialect::{DialectSetting, Document, SettingKind};

use crate::folder;

/// The name of the dialect.
pub const NAME: &str = "cartographer";

/// The switch that brings back what the original controller does where it differs
/// (decisions/cartographer#the-setting-compat).
pub(super) const COMPAT: &str = "compat";

/// The files and folders with chains and templates that a document uses besides its own.
pub(super) const PLATFORM: &str = "platform";

/// The switch that makes objects of Cartographer plain manifests
/// (decisions/cartographer#objects-in-a-cluster-that-runs-cartographer).
pub(super) const PLAIN: &str = "plain";

/// The settings.
pub(super) static SETTINGS: [DialectSetting; 3] = [
    (COMPAT, SettingKind::Switch),
    (PLAIN, SettingKind::Switch),
    (PLATFORM, SettingKind::Paths),
];

/// The files of the platform outside of the document.
pub(super) fn platform_files(document: &Document<'_>) -> folder::FolderFiles {
    let settings = document.context.settings.of(NAME);
    folder::read_paths(document, settings.paths(PLATFORM))
}
