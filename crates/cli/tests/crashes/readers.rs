//! Tests in which another program opens, reads and closes the state continuously, while runs are
//! killed. No record may be lost.
//!
//! SQLite deletes the log when the last connection of all processes closes. If a run had lost its
//! locks on the file, the reader would delete the log, and with it all commits that are not yet in
//! the file.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::kills::{Rng, RunDurations, SEED, number};
use crate::place::Place;
use crate::shop::{ExpectedEnd, Shop};

/// The default number of killed runs, in both worlds together.
const KILLS: u32 = 100;

/// A program that records the highest revision that it has read. It ends when its input is closed.
const READ: &str = "
import os, select, sqlite3, sys
path, noted = sys.argv[1], sys.argv[2]
highest = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    if not os.path.exists(path):
        continue
    try:
        connection = sqlite3.connect(path, timeout=10)
        found = connection.execute('SELECT max(revision) FROM instances').fetchone()[0] or 0
        connection.close()
    except sqlite3.Error:
        continue
    if found > highest:
        highest = found
        with open(noted + '.part', 'w') as file:
            file.write(str(found))
        os.replace(noted + '.part', noted)
";

struct Reader {
    child: Child,
    noted: PathBuf,
    /// The folder of `noted`. It is outside the project, because the tests check the files that
    /// remain in the project.
    _folder: tempfile::TempDir,
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl Reader {
    /// Starts a reader. Returns `None` without `python3`.
    fn of(place: &Place) -> Option<Reader> {
        let folder = tempfile::tempdir().unwrap();
        let noted = folder.path().join("noted");
        let mut command = Command::new("python3");
        command
            .args(["-c", READ])
            .arg(place.path().join(".cyan/state.db"))
            .arg(&noted);
        match command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn() {
            Ok(child) => Some(Reader {
                child,
                noted,
                _folder: folder,
            }),
            Err(_) => {
                println!("skipped: there is no `python3` to read the state with");
                None
            }
        }
    }

    /// Returns the highest revision that was ever read.
    fn highest(&mut self) -> u64 {
        assert!(
            self.child.try_wait().unwrap().is_none(),
            "the reader has ended"
        );
        std::fs::read_to_string(&self.noted).map_or(0, |text| text.parse().unwrap())
    }
}

fn revision(place: &Place) -> u64 {
    let listed = place.ends(0, &["list", "--all", "--json"]);
    let listed: serde_json::Value =
        serde_json::from_str(listed.out.lines().last().unwrap()).unwrap();
    listed["result"]["instances"][0]["revision"]
        .as_u64()
        .unwrap_or(0)
}

fn live(seed: u64, kills: u32, mut lengths: RunDurations) {
    let mut draw = Rng(seed);
    let mut shop = Shop::new();
    let Some(mut reader) = Reader::of(&shop.place) else {
        return;
    };
    let (mut killed, mut runs) = (0, 0);
    while killed < kills {
        let aim = if draw.one_in(4) {
            ExpectedEnd::Destroy
        } else {
            ExpectedEnd::Deploy
        };
        for _ in 0..3 {
            runs += 1;
            assert!(
                runs < 4 * kills + 20,
                "{killed} of {runs} runs were still there when they were to be killed"
            );
            let delay = draw.within(*lengths.of(aim, false));
            let was_there = shop.begin(aim).kill_after(delay);
            killed += u32::from(was_there);
            lengths.learn(aim, false, was_there);
            let (seen, kept) = (reader.highest(), revision(&shop.place));
            assert!(
                kept >= seen,
                "revision {seen} was there before the kill, and now {kept} is"
            );
            shop.reopen();
        }
        shop.run_to_completion(aim);
        shop.next_round();
    }
    shop.run_to_completion(ExpectedEnd::Deploy);
    shop.run_to_completion(ExpectedEnd::Destroy);
    assert!(reader.highest() > 10, "the reader has seen nothing");
}

#[test]
fn a_reader_that_opens_and_closes_the_state_costs_no_commit() {
    let seed = number("CYAN_CRASH_SEED", SEED) ^ 2;
    println!("{KILLS} kills at moments drawn from {seed}");
    let lengths = RunDurations::measured();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| live(seed ^ 1, KILLS / 2, lengths.clone()));
        live(seed, KILLS / 2, lengths.clone());
        other.join().unwrap();
    });
}
