//! Tests that flip one bit of the state of a deployed instance. A command must refuse the state, or
//! have the same effect as without the flip.

use std::collections::BTreeMap;
use std::path::Path;

use crate::kills::{Rng, SEED, number};
use crate::place::{Place, Ran, ran};

/// The default number of flipped bits, for both states together. `CYAN_STATE_FLIPS` overrides it.
const FLIPS: u64 = 60;

const KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

const DOCUMENT: &str = "version: 2023-04-20
resources:
  motd: {type: local/file, spec: {path: files/motd.txt, content: 'welcome'}}
  index: {type: local/file, dependsOn: motd, spec: {path: files/index.html, content: '<h1>shop</h1>'}}
  page:
    type: local/file
    each: '${split(\"1,2,3,4,5,6\", \",\")}'
    spec: {path: 'files/page-${elem}.txt', content: 'page ${elem}'}
  service:
    type: local/command
    dependsOn: index
    spec:
      create: 'touch files/running; echo create >> log'
      read: 'echo read >> log; test -e files/running || exit 3'
      delete: 'rm files/running; echo delete >> log'
";

/// The files of the folder except the state, with their contents.
type World = BTreeMap<String, String>;

struct Flipped {
    place: Place,
    with_key: bool,
    /// The state and the world after the deploy.
    state: Vec<u8>,
    world: World,
}

impl Flipped {
    fn new(with_key: bool) -> Flipped {
        let place = Place::with("shop.blueprint.yaml", DOCUMENT);
        place.write("files/bystander.txt", "not managed");
        place.write("log", "");
        let mut flipped = Flipped {
            place,
            with_key,
            state: Vec::new(),
            world: World::new(),
        };
        let deployed = flipped.run(&["deploy", "--yes"]);
        assert_eq!(deployed.code, 0, "{}{}", deployed.out, deployed.err);
        assert!(!flipped.place.has(".cyan/state.db-wal"));
        flipped.state = std::fs::read(flipped.state_file()).unwrap();
        flipped.world = flipped.world_now();
        flipped
    }

    fn state_file(&self) -> std::path::PathBuf {
        self.place.path().join(".cyan/state.db")
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.place.cyan(arguments);
        if self.with_key {
            command.env("CYAN_KEY", KEY);
        }
        let ended = ran(command.output().unwrap());
        assert!(
            ended.code != 70 && !ended.err.contains("has a bug"),
            "{arguments:?}: {}{}",
            ended.out,
            ended.err
        );
        ended
    }

    fn world_now(&self) -> World {
        let mut world = World::from([("log".to_owned(), self.place.read("log"))]);
        let files = self.place.path().join("files");
        for entry in std::fs::read_dir(Path::new(&files)).into_iter().flatten() {
            let path = entry.unwrap().path();
            world.insert(
                path.display().to_string(),
                std::fs::read_to_string(&path).unwrap(),
            );
        }
        world
    }

    /// Restores the world and the state, with one bit of the state flipped.
    fn restore_with_flipped_bit(&self, bit: Option<usize>) {
        let _ = std::fs::remove_dir_all(self.place.path().join(".cyan"));
        let _ = std::fs::remove_dir_all(self.place.path().join("files"));
        self.place.write("log", &self.world["log"]);
        for (path, text) in self.world.iter().filter(|(path, _)| *path != "log") {
            std::fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut state = self.state.clone();
        if let Some(bit) = bit {
            state[bit / 8] ^= 1 << (bit % 8);
        }
        self.place.write(".cyan/state.db", state);
    }

    /// Returns the output and the effect of each command on the restored state; `None` for a
    /// command that is refused.
    fn effects(&self, bit: Option<usize>) -> Vec<Option<(String, World)>> {
        let commands: [&[&str]; 3] = [&["show", "--json"], &["stage"], &["destroy", "--yes"]];
        let effect = |words: &&[&str]| {
            self.restore_with_flipped_bit(bit);
            let ended = self.run(words);
            let world = self.world_now();
            if ended.code == 0 {
                return Some((ended.out, world));
            }
            // A refused command may have run the `read` of resources.
            let (now, before) = (unread(world), unread(self.world.clone()));
            assert_eq!(
                now, before,
                "bit {bit:?}: {words:?} was refused and has done something: {}",
                ended.err
            );
            None
        };
        commands.iter().map(effect).collect()
    }
}

/// Removes the traces of reads from the world.
fn unread(mut world: World) -> World {
    world
        .values_mut()
        .for_each(|text| *text = text.replace("read\n", ""));
    world
}

fn flip(seed: u64, flips: u64, with_key: bool) {
    let flipped = Flipped::new(with_key);
    let expected_effects = flipped.effects(None);
    assert!(
        expected_effects.iter().all(Option::is_some),
        "{expected_effects:?}"
    );
    let mut draw = Rng(seed);
    let mut refused = 0;
    for _ in 0..flips {
        let bit = usize::try_from(draw.next() % (flipped.state.len() as u64 * 8)).unwrap();
        let effects = flipped.effects(Some(bit));
        for (command, (with, without)) in effects.iter().zip(&expected_effects).enumerate() {
            assert!(
                with.is_none() || with == without,
                "seed {seed}, bit {bit}, command {command}: {with:?}\n{without:?}"
            );
        }
        refused += u64::from(effects.iter().any(Option::is_none));
    }
    println!("{flips} flips, {refused} of them were refused by a command at least");
    assert!(refused > 0, "no flip was found");
}

#[test]
fn a_flipped_bit_of_the_state_is_refused_or_changes_nothing() {
    let (seed, flips) = (
        number("CYAN_CRASH_SEED", SEED),
        number("CYAN_STATE_FLIPS", FLIPS),
    );
    println!("{flips} bits drawn from CYAN_CRASH_SEED={seed}");
    std::thread::scope(|scope| {
        let other = scope.spawn(move || flip(seed ^ 3, flips / 2, true));
        flip(seed, flips - flips / 2, false);
        other.join().unwrap();
    });
}

/// `cyan state verify` accepts an intact state and names the damage in a damaged one.
#[test]
fn verify_names_what_is_damaged() {
    for with_key in [true, false] {
        let flipped = Flipped::new(with_key);
        let whole = flipped.run(&["state", "verify"]);
        let how = if with_key {
            "authenticated with the key at hand"
        } else {
            "written without a key"
        };
        assert!(
            whole.code == 0 && whole.out.starts_with("shop: ") && whole.out.contains(how),
            "{}{}",
            whole.out,
            whole.err
        );
        let needle = b"rm files/running";
        // Damage the command in the record, because a destroy runs that one.
        let is_recorded = |at: usize| {
            let before = &flipped.state[at.saturating_sub(600)..at];
            before.windows(9).any(|part| part == b"\"record\":")
        };
        let mut places = (0..flipped.state.len() - needle.len()).rev();
        let at = places
            .find(|at| flipped.state[*at..].starts_with(needle) && is_recorded(*at))
            .unwrap();
        flipped.restore_with_flipped_bit(Some(at * 8 + 1));
        let found = flipped.run(&["state", "verify"]);
        assert_eq!(found.code, 1, "{}{}", found.out, found.err);
        assert!(found.out.contains("shop: damaged: entry "), "{}", found.out);
        assert!(
            found.err.contains("state.db` is damaged in "),
            "{}",
            found.err
        );
        assert!(
            found.err.contains("help: put a copy of the file back"),
            "{}",
            found.err
        );
        let json: serde_json::Value =
            serde_json::from_str(&flipped.run(&["state", "verify", "--json"]).out).unwrap();
        assert_eq!(json["result"]["damaged"][0]["instance"], "shop", "{json}");
        // The command is not run, and the help says what to do.
        let refused = flipped.run(&["destroy", "--yes"]);
        assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
        assert!(
            refused
                .err
                .contains("help: see what is damaged with `cyan state verify`"),
            "{}",
            refused.err
        );
        assert_eq!(flipped.world_now(), flipped.world);
    }
}

/// A state that was written with a key can be listed without the key, but not changed.
#[test]
fn state_with_a_key_is_not_changed_without_it() {
    let mut flipped = Flipped::new(true);
    flipped.with_key = false;
    let listed = flipped.run(&["list"]);
    assert!(
        listed.code == 0 && listed.out.contains("deploy ready"),
        "{}{}",
        listed.out,
        listed.err
    );
    assert!(
        listed.err.contains("Not verified") && listed.err.contains("`shop`"),
        "{}",
        listed.err
    );
    for words in [
        &["stage"][..],
        &["deploy", "--yes"],
        &["destroy", "--yes"],
        &["drift"],
        &["state", "verify"],
    ] {
        let refused = flipped.run(words);
        assert_eq!(refused.code, 1, "{words:?}: {}{}", refused.out, refused.err);
        assert!(
            refused
                .err
                .contains("help: give the key that the state was written with"),
            "{words:?}: {}",
            refused.err
        );
    }
    assert_eq!(flipped.world_now(), flipped.world);
}
