//! Who writes, and what happens to what others hold.

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldManager<'a> {
    /// The name of the manager.
    pub name: &'a str,
    /// The API version of the request.
    pub api_version: &'a str,
    /// The subresource of the request, for example `status`.
    pub subresource: Option<&'a str>,
    /// The time of the request, in seconds, as `2026-01-31T12:00:00Z`.
    pub time: &'a str,
}

/// What happens to fields that other managers hold with another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictPolicy {
    /// The request fails.
    Refuse,
    /// The manager that applies takes them over.
    TakeOver,
}
