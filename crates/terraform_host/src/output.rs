//! The output of a provider after its handshake: `go-plugin` sends it through a call instead of the
//! standard output.
//!
//! It must always be read: a provider with much output blocks until it is read.

use std::sync::Arc;

use plugins::Plugin;
use plugins::grpc::{ConnectError, Connection, ConnectionOptions};
use prost::Message;

use crate::messages::Empty;

/// A function that receives each line of a provider's output, without the line break. It must not
/// block. A line may hold secrets.
pub type Output = Arc<dyn Fn(&str) + Send + Sync>;

const STDIO: &str = "/plugin.GRPCStdio/StreamStdio";

/// The maximum length of a line in bytes. A longer line is passed on in parts.
const LONGEST: usize = 64 << 10;

/// The number of the standard output.
const STDOUT: i32 = 1;

/// A part of the output.
#[derive(Clone, PartialEq, Message)]
struct Printed {
    #[prost(int32, tag = "1")]
    stream: i32,
    #[prost(bytes = "vec", tag = "2")]
    bytes: Vec<u8>,
}

/// Reads the output of a provider until its process ends. Does not keep the process alive.
pub(crate) async fn forward_output(plugin: &Plugin, output: Output) -> Result<(), ConnectError> {
    // A separate connection, because a connection that watches the process keeps it alive.
    let connection = Connection::connect(plugin.endpoint(), &ConnectionOptions::default()).await?;
    tokio::spawn(async move {
        let (mut standard, mut error) = (Lines::default(), Lines::default());
        let each = |printed: Printed| {
            let lines = if printed.stream == STDOUT {
                &mut standard
            } else {
                &mut error
            };
            lines.add(&printed.bytes, &*output);
        };
        // The call ends with the process. A provider without this method prints elsewhere.
        let _ = connection.server_streaming(STDIO, Empty {}, each).await;
        standard.end(&*output);
        error.end(&*output);
    });
    Ok(())
}

/// Cuts a stream into lines.
#[derive(Default)]
struct Lines {
    started: Vec<u8>,
}

impl Lines {
    fn add(&mut self, bytes: &[u8], output: &dyn Fn(&str)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.started.extend_from_slice(part);
            if part.ends_with(b"\n") || self.started.len() >= LONGEST {
                self.end(output);
            }
        }
    }

    fn end(&mut self, output: &dyn Fn(&str)) {
        if !self.started.is_empty() {
            let line = String::from_utf8_lossy(&self.started);
            output(line.trim_end_matches(['\n', '\r']));
            self.started.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn parts_become_lines() {
        let (found, mut lines) = (RefCell::new(Vec::new()), Lines::default());
        let output = |line: &str| found.borrow_mut().push(line.to_owned());
        for part in ["a", "b\r\nc\n\n", "d"] {
            lines.add(part.as_bytes(), &output);
        }
        lines.add(&[0xff], &output);
        lines.end(&output);
        lines.end(&output);
        assert_eq!(*found.borrow(), ["ab", "c", "", "d\u{fffd}"]);
    }

    #[test]
    fn a_line_without_end_is_passed_on_in_parts() {
        let (found, mut lines) = (RefCell::new(0), Lines::default());
        for _ in 0..300 {
            lines.add(&[b'x'; 1 << 10], &|line| *found.borrow_mut() += line.len());
        }
        assert_eq!(*found.borrow(), 256 << 10);
        assert!(lines.started.len() < LONGEST);
    }
}
