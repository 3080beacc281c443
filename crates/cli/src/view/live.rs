//! The progress of an operation. On a terminal, a list with the running steps, their age, a count
//! and an estimate is below the event lines. In a pipe there are only the event lines, and from time
//! to time a line for each step that runs for long.

use std::io::Write as _;
use std::time::{Duration, Instant};

use blueprint::{Address, IndexMap, format_duration};
use engine::Event;

use super::events;
use crate::terminal::{self, Paint, Terminal};

/// The maximum number of running steps in the list.
const LISTED: usize = 8;
/// The minimum number of finished steps and the minimum elapsed time for an estimate.
const ENOUGH: (u64, Duration) = (3, Duration::from_secs(3));

/// The time between two lines about the running steps in a pipe.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Shows the events of an operation.
pub(crate) struct Live {
    /// Whether running steps are listed below the event lines; `list_lines` is the current number
    /// of lines of the list.
    listed: bool,
    list_lines: usize,
    paint: Paint,
    quiet: bool,
    running: IndexMap<Address, (&'static str, Instant)>,
    calls: u64,
    done: u64,
    began: Instant,
    /// Whether the user has asked to stop: then the rest is not done, and takes no time.
    is_stopping: bool,
    heartbeat: Instant,
    waiting: String,
}

impl Live {
    /// Creates the view before the first event.
    pub(crate) fn new(terminal: &Terminal) -> Live {
        Live {
            listed: terminal.is_watched() && !terminal.quiet && !terminal.json,
            list_lines: 0,
            paint: terminal.err,
            quiet: terminal.quiet || terminal.json,
            running: IndexMap::default(),
            calls: 0,
            done: 0,
            began: Instant::now(),
            is_stopping: false,
            heartbeat: Instant::now(),
            waiting: String::new(),
        }
    }

    /// Shows that the user has asked to stop.
    pub(crate) fn stopping(&mut self, line: &str) {
        self.is_stopping = true;
        self.print_line(line);
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event) {
        let mut duration = None;
        match event {
            Event::Began { calls, .. } => {
                (self.calls, self.done) = (*calls, 0);
                self.began = Instant::now();
            }
            Event::Started {
                address,
                operation,
                replacing,
            } => {
                self.running.insert(
                    address.clone(),
                    (
                        events::present_participle(*operation, *replacing),
                        Instant::now(),
                    ),
                );
                // The list shows running steps.
                if self.listed {
                    return;
                }
            }
            Event::Done { address, .. } | Event::Failed { address, .. } => {
                duration = self
                    .running
                    .shift_remove(address)
                    .map(|(_, since)| since.elapsed());
                self.done += 1;
            }
            Event::Unneeded { .. } | Event::Skipped { .. } => self.done += 1,
            _ => {}
        }
        if self.quiet {
            return;
        }
        if let Some(line) = events::line(event, duration, self.paint) {
            self.waiting.push_str(&line);
            self.waiting.push('\n');
            if self.waiting.len() > 1 << 15 {
                self.write();
            }
        }
    }

    /// Adds a line that is not an event.
    pub(crate) fn print_line(&mut self, line: &str) {
        self.waiting.push_str(line);
        self.waiting.push('\n');
        self.write();
    }

    /// Redraws the list. In a pipe, writes a line for each step that runs for long.
    pub(crate) fn tick(&mut self) {
        if !self.listed && !self.quiet {
            self.beat(Instant::now());
        }
        self.write();
    }

    /// Adds the lines about long steps, if it is time for them.
    fn beat(&mut self, now: Instant) {
        if now.saturating_duration_since(self.heartbeat) < HEARTBEAT {
            return;
        }
        self.heartbeat = now;
        let age = |since: &Instant| now.saturating_duration_since(*since);
        let long = self.running.iter();
        let long: Vec<_> = long
            .filter(|(_, (_, since))| age(since) >= HEARTBEAT)
            .collect();
        for (address, (doing, since)) in long.iter().take(LISTED) {
            let age = Duration::from_secs(age(since).as_secs());
            let line = format!("{address}: still {doing}, {}\n", format_duration(age));
            self.waiting.push_str(&diag::visible_line(line.trim_end()));
            self.waiting.push('\n');
        }
        if long.len() > LISTED {
            let more = format!("and {} more\n", long.len() - LISTED);
            self.waiting.push_str(&more);
        }
    }

    /// Ends the view and removes the list.
    pub(crate) fn end(&mut self) {
        self.listed = false;
        self.write();
    }

    /// Replaces the list by the waiting lines and the current list, in one write.
    fn write(&mut self) {
        let mut text = String::new();
        if self.list_lines > 0 {
            // Move to the first line of the list and clear the screen from there.
            text.push_str(&format!("\u{1b}[{}A\r\u{1b}[J", self.list_lines));
            self.list_lines = 0;
        }
        text.push_str(&terminal::escape(&self.waiting));
        self.waiting.clear();
        if self.listed && self.calls > 0 {
            let lines = self.lines(terminal::width());
            self.list_lines = lines.lines().count();
            text.push_str(&terminal::escape(&lines));
        }
        // A failed write to stderr cannot be reported anywhere.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    fn lines(&self, width: usize) -> String {
        let cut = |line: String| match line.char_indices().nth(width.saturating_sub(1)) {
            Some((at, _)) => line[..at].to_owned(),
            None => line,
        };
        let mut text = String::new();
        for (address, (doing, since)) in self.running.iter().take(LISTED) {
            let age = since.elapsed();
            let age = if age.as_secs() > 0 {
                format!(" {}", format_duration(age))
            } else {
                String::new()
            };
            text.push_str(&cut(diag::visible_line(&format!(
                "  {address}: {doing}{age}"
            ))
            .into_owned()));
            text.push('\n');
        }
        if self.running.len() > LISTED {
            text.push_str(&format!("  and {} more\n", self.running.len() - LISTED));
        }
        text.push_str(&cut(self.count()));
        text.push('\n');
        text
    }

    fn count(&self) -> String {
        let elapsed = self.began.elapsed();
        let mut line = format!(
            "{} of {} done, {} running",
            self.done,
            self.calls,
            self.running.len()
        );
        if elapsed.as_secs() > 0 {
            line.push_str(&format!(
                ", {}",
                format_duration(Duration::from_secs(elapsed.as_secs()))
            ));
        }
        let left = estimate(self.done, self.calls, elapsed);
        if let Some(left) = left.filter(|_| !self.is_stopping) {
            line.push_str(&format!(", about {} left", format_duration(left)));
        }
        line
    }
}

/// The estimated remaining time, if enough steps are done.
fn estimate(done: u64, calls: u64, elapsed: Duration) -> Option<Duration> {
    if done < ENOUGH.0 || elapsed < ENOUGH.1 || done >= calls {
        return None;
    }
    let each = elapsed.as_secs_f64() / done as f64;
    let left = each * (calls - done) as f64;
    (left >= 1.0).then(|| Duration::from_secs(left.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_runs_for_long_has_a_line_every_half_minute_in_a_pipe() {
        let mut terminal = Terminal::new(terminal::ColorChoice::Never, false, false, false);
        terminal.quiet = false;
        let mut live = Live::new(&terminal);
        let began = Instant::now();
        let address: Address = "slow".parse().unwrap();
        live.running.insert(address, ("creating", began));
        live.heartbeat = began;
        live.beat(began + Duration::from_secs(29));
        assert_eq!(live.waiting, "");
        live.beat(began + Duration::from_secs(31));
        assert_eq!(live.waiting, "slow: still creating, 31s\n");
        live.beat(began + Duration::from_secs(40));
        assert_eq!(live.waiting.lines().count(), 1);
        live.beat(began + Duration::from_secs(95));
        assert_eq!(
            live.waiting.lines().last(),
            Some("slow: still creating, 1m 35s")
        );
    }

    #[test]
    fn there_is_no_estimate_once_the_user_has_asked_to_stop() {
        let terminal = Terminal::new(terminal::ColorChoice::Never, false, false, false);
        let mut live = Live::new(&terminal);
        (live.done, live.calls) = (20, 100);
        live.began = Instant::now().checked_sub(Duration::from_secs(10)).unwrap();
        assert!(live.count().contains("left"));
        live.is_stopping = true;
        assert!(!live.count().contains("left"));
    }

    #[test]
    fn estimate_needs_finished_steps_and_elapsed_time() {
        let seconds = Duration::from_secs;
        assert_eq!(estimate(2, 100, seconds(60)), None);
        assert_eq!(estimate(50, 100, seconds(1)), None);
        assert_eq!(estimate(20, 100, seconds(10)), Some(seconds(40)));
        assert_eq!(estimate(100, 100, seconds(10)), None);
    }
}
