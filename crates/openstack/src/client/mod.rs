//! Talks to the services of a cloud: settings, sign-in, the catalogue of services, requests, errors.
//!
//! ```text
//! settings, clouds.yaml, OS_* ──clouds──> options ──access──> Access ──identity──> token, catalogue
//! ServiceRequest ──cloud──> endpoint, token, microversion ──transport──> answer or ServiceError
//! ```
//!
//! Not here: what a request means for a resource (`managed`), repetition of operations (`apply`).

mod access;
mod cloud;
mod clouds;
mod endpoints;
mod environment;
mod error_body;
mod failure;
mod files;
mod identity;
mod interface;
mod negotiation;
mod options;
mod request;
mod service;
mod settings;
mod temp_urls;
mod transport;
mod url_signer;

#[cfg(test)]
mod tests;

pub(crate) use self::cloud::Cloud;
pub(crate) use self::failure::{Delivery, ServiceError};
pub(crate) use self::request::{ServiceAnswer, ServiceRequest, path_segment};
pub(crate) use self::service::Service;
pub(crate) use self::settings::CloudSettings;
