//! Stacks of real Heat, over its API.

use std::io;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::session::CloudSession;
use super::template::{TemplateForm, TestTemplate};

const SERVICE: &str = "orchestration";

/// The time within which Heat must be done with one action.
const TIMEOUT: Duration = Duration::from_secs(900);

/// The time between two questions for the status of a stack.
const POLL: Duration = Duration::from_millis(500);

/// A stack of one template.
#[derive(Debug)]
pub(super) struct HeatStack<'a> {
    session: CloudSession,
    template: &'a TestTemplate,
    /// The path of the stack, empty before it is created.
    path: String,
}

impl<'a> HeatStack<'a> {
    /// A stack that does not exist yet.
    pub(super) fn new(session: CloudSession, template: &'a TestTemplate) -> Self {
        Self {
            session,
            template,
            path: String::new(),
        }
    }

    /// Creates the stack, or updates it if it is there. Returns when Heat has completed that.
    ///
    /// # Errors
    /// If Heat does not answer, refuses the template, or the action fails.
    pub(super) fn apply(&mut self, form: &TemplateForm) -> io::Result<()> {
        let files = self.template.files.iter();
        let files: serde_json::Map<String, Value> = files
            .map(|(name, text)| (name.clone(), json!(text)))
            .collect();
        let mut body = json!({
            "stack_name": self.template.name,
            "template": form.template,
            "files": files,
            "disable_rollback": true,
            "timeout_mins": TIMEOUT.as_secs() / 60,
        });
        if let Some(environment) = &form.environment {
            body["environment"] = json!(environment);
        }
        if self.path.is_empty() {
            let answer = self.session.send("POST", SERVICE, "/stacks", Some(&body))?;
            let id = answer["stack"]["id"].as_str();
            let id = id.ok_or_else(|| io::Error::other(format!("a stack without id: {answer}")))?;
            self.path = format!("/stacks/{}/{id}", self.template.name);
            self.wait("CREATE")
        } else {
            self.session.send("PUT", SERVICE, &self.path, Some(&body))?;
            self.wait("UPDATE")
        }
    }

    /// Deletes the stack without its objects. Returns when it is deleted.
    ///
    /// # Errors
    /// If Heat does not answer, or refuses it.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        let path = format!("{}/template", self.path);
        let mut template = self.session.send("GET", SERVICE, &path, None)?;
        let resources = template["resources"].as_object_mut();
        for (_, resource) in resources.into_iter().flatten() {
            resource["deletion_policy"] = json!("Retain");
        }
        let body = json!({"template": template});
        self.session
            .send("PATCH", SERVICE, &self.path, Some(&body))?;
        self.wait("UPDATE")?;
        self.delete()
    }

    /// Deletes the stack. Returns when it is deleted.
    ///
    /// # Errors
    /// If Heat does not answer, or the deletion fails.
    pub(super) fn delete(&mut self) -> io::Result<()> {
        if self.path.is_empty() {
            return Ok(());
        }
        self.session.send("DELETE", SERVICE, &self.path, None)?;
        self.wait("DELETE")
    }

    /// Waits until Heat has completed the action.
    fn wait(&self, action: &str) -> io::Result<()> {
        let begin = Instant::now();
        loop {
            let (status, answer) = self.session.ask("GET", SERVICE, &self.path, None)?;
            if status == 404 && action == "DELETE" {
                return Ok(());
            }
            let text = |field: &str| answer["stack"][field].as_str().unwrap_or_default();
            let (found, reason) = (text("stack_status"), text("stack_status_reason"));
            match found.strip_prefix(action) {
                Some("_COMPLETE") => return Ok(()),
                Some("_FAILED") => return Err(io::Error::other(format!("{found}: {reason}"))),
                _ if begin.elapsed() > TIMEOUT => {
                    return Err(io::Error::other(format!("is still {found}: {reason}")));
                }
                _ => std::thread::sleep(POLL),
            }
        }
    }
}
