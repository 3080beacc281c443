//! A login to a cloud of OpenStack, and requests to its services.
//!
//! Not here: TLS, other regions and kept connections. The clouds of the tests answer plain HTTP and
//! close the connection after each answer.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// The time within which a service must answer. A busy machine answers some requests late.
const ANSWER: Duration = Duration::from_secs(180);

/// How often a request that only reads is sent before its failure counts.
const READS: u32 = 3;

/// Who signs in, and where.
#[derive(Debug, Clone)]
pub(super) struct CloudLogin {
    pub(super) auth_url: String,
    pub(super) region: String,
    pub(super) user: String,
    pub(super) password: String,
    /// The name of the project, in the domain `default`.
    pub(super) project: String,
}

impl CloudLogin {
    /// The cloud of this name in a file `clouds.yaml` of a test cloud.
    ///
    /// # Errors
    /// If the file cannot be read, or the cloud or one of its settings is missing.
    pub(super) fn read(file: &Path, cloud: &str) -> io::Result<Self> {
        let text = std::fs::read_to_string(file)?;
        let missing = |what: &str| {
            let file = file.display();
            io::Error::other(format!("{file} has no `{what}` of the cloud `{cloud}`"))
        };
        let start = text.find(&format!("{cloud}:"));
        let section = start.and_then(|start| text.get(start..));
        let section = section.ok_or_else(|| missing("auth"))?;
        let value = |key: &str| setting(section, key).ok_or_else(|| missing(key));
        Ok(Self {
            auth_url: value("auth_url")?,
            region: value("region_name").unwrap_or_else(|_| "RegionOne".to_owned()),
            user: value("username")?,
            password: value("password")?,
            project: value("project_name")?,
        })
    }

    /// A file `clouds.yaml` with this login as the cloud of the given name, and these addresses of
    /// services in place of those of the catalogue.
    pub(super) fn clouds_file(&self, cloud: &str, addresses: &[(&'static str, String)]) -> String {
        let auth = json!({
            "auth_url": self.auth_url,
            "username": self.user,
            "password": self.password,
            "project_name": self.project,
            "user_domain_id": "default",
            "project_domain_id": "default",
        });
        let mut options = json!({"region_name": self.region, "auth": auth});
        for (service, address) in addresses {
            options[format!("{service}_endpoint_override")] = json!(address);
        }
        let clouds = json!({"clouds": {cloud: options}});
        format!("{clouds:#}\n")
    }
}

/// The value of a key in a part of a YAML file, in either style of YAML's maps.
fn setting(section: &str, key: &str) -> Option<String> {
    let (_, rest) = section.split_once(&format!("{key}:"))?;
    let rest = rest.trim_start();
    let value = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split([',', '}', '\n']).next()?.trim(),
    };
    Some(value.to_owned())
}

/// A login that a cloud has accepted.
#[derive(Debug)]
pub(super) struct CloudSession {
    token: String,
    catalogue: Value,
    identity: String,
    region: String,
    /// The services whose address is not that of the catalogue.
    addresses: Vec<(&'static str, String)>,
}

impl CloudSession {
    /// Signs in.
    ///
    /// # Errors
    /// If Keystone does not answer, or refuses the login.
    pub(super) fn open(login: &CloudLogin) -> io::Result<Self> {
        let default = json!({"id": "default"});
        let user = json!({"name": login.user, "password": login.password, "domain": default});
        let body = json!({"auth": {
            "identity": {"methods": ["password"], "password": {"user": user}},
            "scope": {"project": {"name": login.project, "domain": default}},
        }});
        let url = format!("{}/auth/tokens", login.auth_url);
        let answer = exchange("POST", &url, "", "identity", Some(&body))?;
        let token = answer.token.filter(|_| answer.status == 201);
        let token = token.ok_or_else(|| refused("POST", &url, answer.status, &answer.body))?;
        Ok(Self {
            token,
            catalogue: answer.body["token"]["catalog"].clone(),
            identity: login.auth_url.clone(),
            region: login.region.clone(),
            addresses: Vec::new(),
        })
    }

    /// The public address of a service, or nothing if the cloud does not have it.
    fn endpoint(&self, service: &str) -> Option<String> {
        if service == "identity" {
            return Some(self.identity.clone());
        }
        if let Some((_, address)) = self.addresses.iter().find(|(name, _)| *name == service) {
            return Some(address.clone());
        }
        let mut services = self.catalogue.as_array()?.iter();
        let found = services.find(|one| one["type"] == service)?;
        let mut endpoints = found["endpoints"].as_array()?.iter();
        let public = endpoints
            .find(|one| one["interface"] == "public" && one["region_id"] == self.region.as_str())?;
        Some(public["url"].as_str()?.trim_end_matches('/').to_owned())
    }

    /// The public address of a service.
    ///
    /// # Errors
    /// If the cloud does not have the service.
    pub(super) fn address(&self, service: &str) -> io::Result<String> {
        let missing = || io::Error::other(format!("the cloud has no service `{service}`"));
        self.endpoint(service).ok_or_else(missing)
    }

    /// The session with other addresses for some services.
    pub(super) fn with_addresses(mut self, addresses: &[(&'static str, String)]) -> Self {
        self.addresses = addresses.to_vec();
        self
    }

    /// Sends a request. Returns the status and the body, which is null if it is not JSON.
    ///
    /// # Errors
    /// If the cloud does not have the service, or the service does not answer.
    pub(super) fn ask(
        &self,
        method: &str,
        service: &str,
        path: &str,
        body: Option<&Value>,
    ) -> io::Result<(u16, Value)> {
        let url = format!("{}{path}", self.address(service)?);
        let mut left = if method == "GET" { READS } else { 1 };
        loop {
            left -= 1;
            match exchange(method, &url, &self.token, service, body) {
                Ok(answer) if answer.status < 500 || left == 0 => {
                    return Ok((answer.status, answer.body));
                }
                Err(error) if left == 0 => {
                    let message = format!("{method} {url}: {error}");
                    return Err(io::Error::new(error.kind(), message));
                }
                _ => std::thread::sleep(Duration::from_secs(1)),
            }
        }
    }

    /// Sends a request whose answer must be a success. Returns the body.
    ///
    /// # Errors
    /// If the service does not answer, or refuses the request.
    pub(super) fn send(
        &self,
        method: &str,
        service: &str,
        path: &str,
        body: Option<&Value>,
    ) -> io::Result<Value> {
        let (status, answer) = self.ask(method, service, path, body)?;
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        Err(refused(method, path, status, &answer))
    }

    /// Reads a list. A service or kind of object that the cloud does not have has no members.
    ///
    /// # Errors
    /// If the service does not answer, or refuses the request.
    pub(super) fn list(&self, service: &str, path: &str, envelope: &str) -> io::Result<Vec<Value>> {
        if self.endpoint(service).is_none() {
            return Ok(Vec::new());
        }
        let (status, answer) = self.ask("GET", service, path, None)?;
        match status {
            200..300 => Ok(answer[envelope].as_array().cloned().unwrap_or_default()),
            404 => Ok(Vec::new()),
            _ => Err(refused("GET", path, status, &answer)),
        }
    }
}

/// The error of a request that a service refuses.
fn refused(method: &str, path: &str, status: u16, body: &Value) -> io::Error {
    io::Error::other(format!("{method} {path}: {status} {body}"))
}

/// What a service answers.
struct CloudAnswer {
    status: u16,
    /// The token that Keystone gives.
    token: Option<String>,
    /// The body, or null if it is not JSON.
    body: Value,
}

/// Sends one request on a connection of its own.
fn exchange(
    method: &str,
    url: &str,
    token: &str,
    service: &str,
    body: Option<&Value>,
) -> io::Result<CloudAnswer> {
    let address = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'));
    let (host, path) =
        address.ok_or_else(|| io::Error::other(format!("`{url}` is no address of plain HTTP")))?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(ANSWER))?;
    let length = body.len();
    // The versions that Heat uses.
    let version = match service {
        "block-storage" => "volume 3.71",
        _ => "compute 2.96",
    };
    let request = format!(
        "{method} /{path} HTTP/1.1\r\nHost: {host}\r\nX-Auth-Token: {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\
         OpenStack-API-Version: {version}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut octets = Vec::new();
    stream.read_to_end(&mut octets)?;
    let text = String::from_utf8_lossy(&octets);
    let cut = || io::Error::new(io::ErrorKind::UnexpectedEof, "the answer is cut off");
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(cut)?;
    let status = head.split(' ').nth(1).and_then(|text| text.parse().ok());
    let token = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("x-subject-token")
            .then(|| value.to_owned())
    });
    Ok(CloudAnswer {
        status: status.ok_or_else(cut)?,
        token,
        body: serde_json::from_str(body).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::setting;

    #[test]
    fn settings_are_found_in_both_styles_of_maps() {
        let flow = "admin: {auth: {auth_url: \"http://h:1/v3\", username: admin, x: y}}";
        assert_eq!(setting(flow, "auth_url").as_deref(), Some("http://h:1/v3"));
        assert_eq!(setting(flow, "username").as_deref(), Some("admin"));
        let block = "admin:\n  auth:\n    auth_url: http://h:1/v3\n    username: admin\n";
        assert_eq!(setting(block, "auth_url").as_deref(), Some("http://h:1/v3"));
        assert_eq!(setting(block, "password"), None);
    }
}
