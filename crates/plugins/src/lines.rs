//! Reads the lines of a byte stream, with a limit on their length.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// The maximum length of a line in bytes.
const LONGEST: usize = 64 * 1024;

/// The lines of a stream.
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    /// The beginning of the next line.
    line: Vec<u8>,
    /// Its number of bytes, of which `line` has no more than the maximum.
    length: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(stream: R) -> Lines<R> {
        Lines {
            reader: BufReader::new(stream),
            line: Vec::new(),
            length: 0,
        }
    }

    /// The next line without its line break, LF or CRLF. `None` at the end of the stream, or on an
    /// error. A line that is too long is replaced by a note: a part of the line could hold a part
    /// of a secret, which no scrubber finds. A call that is dropped loses nothing.
    pub(crate) async fn next(&mut self) -> Option<String> {
        loop {
            let read = self.reader.fill_buf().await.unwrap_or_default();
            if read.is_empty() {
                return (self.length > 0).then(|| self.take());
            }
            let (part, used, ended) = match read.iter().position(|byte| *byte == b'\n') {
                Some(end) => (&read[..end], end + 1, true),
                None => (read, read.len(), false),
            };
            self.length += part.len();
            if self.length <= LONGEST {
                self.line.extend_from_slice(part);
            }
            self.reader.consume(used);
            if ended {
                return Some(self.take());
            }
        }
    }

    fn take(&mut self) -> String {
        let length = std::mem::take(&mut self.length);
        text(std::mem::take(&mut self.line), length)
    }
}

fn text(mut line: Vec<u8>, length: usize) -> String {
    if length > LONGEST {
        return format!("(a line of {length} bytes is left out)");
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8_lossy(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(bytes: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(bytes);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await {
            all.push(line);
        }
        all
    }

    #[tokio::test]
    async fn lines_end_with_lf_or_crlf_or_the_stream() {
        assert_eq!(lines(b"a\r\nb\n\nc\rd").await, ["a", "b", "", "c\rd"]);
        assert!(lines(b"").await.is_empty());
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(lines(b"\xff\xfea\0b\n").await, ["\u{fffd}\u{fffd}a\0b"]);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_left_out() {
        let mut bytes = vec![b'x'; LONGEST + 1];
        bytes.extend(b"\nshort\n");
        bytes.extend(vec![b'y'; LONGEST]);
        let lines = lines(&bytes).await;
        assert_eq!(lines[..2], ["(a line of 65537 bytes is left out)", "short"]);
        assert_eq!(lines[2].len(), LONGEST);
    }
}
