//! Talks to the services of a cloud: settings, sign-in, the catalogue of services, requests, errors.
//!
//! Not here: what a request means for a resource (`managed`), repetition of operations (`apply`).

mod cloud;
mod clouds;
mod failure;
mod request;
mod service;
mod settings;

pub(crate) use self::cloud::Cloud;
pub(crate) use self::failure::{Delivery, ServiceError};
pub(crate) use self::request::{Answer, ServiceRequest};
pub(crate) use self::service::Service;
pub(crate) use self::settings::CloudSettings;
