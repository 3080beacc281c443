//! The runner of scenarios: scripts that tell what happens to instances on the simulated cloud, and what comes of it.
//!
//! One command a line; `#` begins a comment. What each command did is written beneath it, and the whole is compared
//! with the recorded output beside the script.
//!
//! ```text
//! document disks.yaml              the indented lines below are its text; `@sizes@` in them stands for what is written
//! write sizes 10, 20               from now on `@sizes@` stands for `10, 20`
//! input region eu                  from now on the variable `region` has this value
//! stage disks.yaml as lab          what a deploy would do
//! stage disks.yaml as lab keep monday      the same, and the plan is kept
//! apply monday                     does what the kept plan says, or refuses
//! deploy disks.yaml as lab         does it
//! destroy as lab                   takes everything away
//! drift-world disk[0] input 5 as lab       somebody else changes a field in the cloud
//! vanish disk[0] as lab            somebody else takes a thing away
//! hook disk pre-create post-update         from now on operations stop at these resources or includes, as a dialect may say
//! hold as lab / release            another operation takes the instance, and gives it back
//! rollback as lab                  back to the last generation that ended well; `rollback 2 as lab`: to that one
//! world                            what is in the cloud
//! state as lab                     what is remembered
//! ```
//!
//! Also: `make TYPE ID SPEC` (somebody else makes a thing; the spec is JSON), `reconcile as lab` (sets right what has
//! drifted, without a document), and changes of the state alone: `import TYPE ID ADDRESS as lab`, `move FROM TO as lab`,
//! `remove ADDRESS as lab`, `accept-drift as lab`, `save as lab` and `load as lab` (the state as a text, and back).
//!
//! Behind `stage`, `deploy`, `destroy` and `reconcile`: `no-refresh`, `target ADDRESS`, `replace ADDRESS`, `renew ADDRESS`,
//! `drift revert|accept|ignore|refuse`, `force`, `until ADDRESS`; behind `reconcile` also `retry`, `forget` and
//! `adopt ADDRESS[=ID]`. Behind `deploy` and `destroy` also `keep-going`, `roll-back`, `parallel N`,
//! and what goes wrong: `crash-after N` and `crash-before N` (the process ends after or before the call of the N-th step
//! of the plan, with one call at a time), `crash before|after CALL`, `fail CALL` (refused for good), `trouble CALL N`
//! (refused N times, may be tried again), `lose CALL` (done, but the answer is lost), `slow ADDRESS N` (stable at the
//! check after N others), `never-stable ADDRESS`, `throttle CALL N`, `partial CALL` (done, but it failed). A CALL is
//! `create ADDRESS`, `update ADDRESS` or `delete ADDRESS`, and `after N` behind it lets so many of them go well before.
//! The weather of the whole process: `latency SEED`, `ends-at MOMENT`, `commit-fails N`, `commit-unsure N` (it took effect
//! all the same), `loses-from N` (commits from that one on were not durable), `sees-late SECONDS`; see
//! [`Weather`](crate::simulation::Weather).
//!
//! `judged` has every call and what is there after each run judged; `settle disks.yaml as lab` (or `settle nothing as
//! lab`) comes to rest in fair weather and judges the end. What must never be is written as `broken:`. `sabotage WORD`
//! simulates an engine with a fault.
//!
//! Documents may include one another by name.
//!
//! Not here: what the engine does; how a person is told of it (that is the face's).

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use blueprint::{Address, Breakpoints, IndexMap, Name, Value};
use diag::{Diagnostics, Files};
use engine::apply::{OnFailure, Settings};
use engine::plan_file::hidden;
use engine::shell::{Operated, last_goal};
use engine::{
    Action, Adoption, Drift, DriftPolicy, Event, ExportAction, ExportChange, Given, Options, PlannedStop, Staged, Step,
    Surgery,
};
use provider::{Operation, TypeRef};
use providers::fake::{Fault, FaultKind, Refusal, When};
use state::{Exported, Generation, InstanceName, Lease, OperationOutcome, StatusWord, Store as _};

use crate::conformance::{in_runtime, values};
use crate::lab::{Lab, Run, Stage, settings};
use crate::shelf::Shelf;
use crate::simulation::{CommitFault, SECRET, Sabotage, Watch, Weather};

/// Runs a script and gives what to record: each command with what it did beneath it. `Err` if the script itself cannot
/// be understood.
pub fn run(script: &str) -> Result<String, String> {
    in_runtime(async {
        let folder = std::path::PathBuf::from("/nowhere");
        let mut told = Told {
            lab: Lab::new(folder, Vec::new()),
            documents: HashMap::new(),
            written: Vec::new(),
            inputs: IndexMap::default(),
            kept: HashMap::new(),
            held: Vec::new(),
            saved: String::new(),
            watch: Watch::default(),
            text: String::new(),
        };
        let mut lines = script.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let command = line.split('#').next().unwrap_or_default().trim_end();
            if command.is_empty() {
                continue;
            }
            let mut block = String::new();
            if command.starts_with("document ") {
                while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with(' ') || line.is_empty()) {
                    let _ = writeln!(block, "{}", line.strip_prefix("    ").unwrap_or(line));
                }
            }
            told.command(command, block).await.map_err(|wrong| format!("line {}: {wrong}", number + 1))?;
        }
        Ok(told.text)
    })?
}

struct Told {
    lab: Lab,
    documents: HashMap<String, String>,
    written: Vec<(String, String)>,
    inputs: IndexMap<Name, Name>,
    kept: HashMap<String, (Staged, InstanceName)>,
    held: Vec<Lease>,
    saved: String,
    watch: Watch,
    text: String,
}

/// What stands behind a command.
#[derive(Default)]
struct Tail {
    refresh: Options,
    keep: Option<String>,
    keep_going: bool,
    roll_back: bool,
    parallel: Option<usize>,
    weather: Weather,
    /// The process ends at the call of this step of the plan, from 1.
    crash_at: Option<(usize, When)>,
}

/// The words of a command, one after another.
struct Words<'a>(std::iter::Peekable<std::str::SplitWhitespace<'a>>);

impl<'a> Words<'a> {
    fn next(&mut self, what: &str) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| format!("{what} is missing"))
    }

    fn number(&mut self, what: &str) -> Result<usize, String> {
        let word = self.next(what)?;
        word.parse().map_err(|_| format!("`{word}` is no number"))
    }

    fn count(&mut self, what: &str) -> Result<u32, String> {
        u32::try_from(self.number(what)?).map_err(|_| format!("{what}: that is too many"))
    }

    fn operation(&mut self) -> Result<Operation, String> {
        match self.next("what is called")? {
            "create" => Ok(Operation::Create),
            "update" => Ok(Operation::Update),
            "delete" => Ok(Operation::Delete),
            other => Err(format!("`{other}` is no call: create, update and delete are")),
        }
    }

    fn address(&mut self) -> Result<Address, String> {
        let word = self.next("the address")?;
        word.parse().map_err(|error| format!("`{word}`: {error}"))
    }

    /// `as NAME`.
    fn instance(&mut self) -> Result<InstanceName, String> {
        match self.next("`as INSTANCE`")? {
            "as" => Ok(InstanceName::from_free_text(self.next("the instance")?)),
            other => Err(format!("`as` is needed, not `{other}`")),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        self.0.next().map_or(Ok(()), |word| Err(format!("`{word}` is not understood here")))
    }

    fn tail(&mut self) -> Result<Tail, String> {
        let mut tail = Tail::default();
        while let Some(word) = self.0.next() {
            let fault = |on, at: &str, times: u32, kind| Fault { on, at: at.into(), skip: 0, times, kind };
            let faults = &mut tail.weather.faults;
            match word {
                "no-refresh" => tail.refresh.refresh = false,
                "target" => tail.refresh.targets.push(self.address()?),
                "replace" => tail.refresh.replace.push(self.address()?),
                "renew" => tail.refresh.renew.push(self.address()?),
                "force" => tail.refresh.force = true,
                "until" => tail.refresh.until = Some(self.address()?),
                "retry" => tail.refresh.undone.push(self.address()?),
                "forget" => tail.refresh.forgotten.push(self.address()?),
                "adopt" => {
                    let word = self.next("the address")?;
                    let (address, id) = match word.split_once('=') {
                        Some((address, id)) => (address, Some(id.into())),
                        None => (word, None),
                    };
                    let address = address.parse().map_err(|error| format!("`{address}`: {error}"))?;
                    tail.refresh.adopted.push(Adoption { address, id });
                }
                "drift" => {
                    tail.refresh.drift = match self.next("what becomes of drift")? {
                        "revert" => DriftPolicy::Revert,
                        "accept" => DriftPolicy::Accept,
                        "ignore" => DriftPolicy::Ignore,
                        "refuse" => DriftPolicy::Refuse,
                        other => return Err(format!("`{other}` is no policy")),
                    };
                }
                "keep" => tail.keep = Some(self.next("the name of the plan")?.to_owned()),
                "keep-going" => tail.keep_going = true,
                "roll-back" => tail.roll_back = true,
                "parallel" => tail.parallel = Some(self.number("how many")?),
                "crash-after" => tail.crash_at = Some((self.number("after which step")?, When::After)),
                "crash-before" => tail.crash_at = Some((self.number("before which step")?, When::Before)),
                "crash" => {
                    let when = match self.next("`before` or `after`")? {
                        "before" => When::Before,
                        "after" => When::After,
                        other => return Err(format!("`{other}` is neither `before` nor `after`")),
                    };
                    let on = self.operation()?;
                    let at = self.next("the address")?;
                    let untraceable = self.0.next_if_eq(&"untraceable").is_some();
                    faults.push(fault(Some(on), at, 1, FaultKind::Crash { when, untraceable }));
                }
                "fail" => {
                    let on = self.operation()?;
                    faults.push(fault(Some(on), self.next("the address")?, 1, FaultKind::Permanent));
                }
                "trouble" => {
                    let (on, at) = (self.operation()?, self.next("the address")?);
                    faults.push(fault(Some(on), at, self.count("how often")?, FaultKind::Transient));
                }
                "throttle" => {
                    let (on, at) = (self.operation()?, self.next("the address")?);
                    faults.push(fault(Some(on), at, self.count("how often")?, FaultKind::Throttled));
                }
                "partial" => {
                    let on = self.operation()?;
                    faults.push(fault(Some(on), self.next("the address")?, 1, FaultKind::Partial));
                }
                "after" => {
                    let skip = self.count("how many")?;
                    faults.last_mut().ok_or("`after` stands behind a call")?.skip = skip;
                }
                "latency" => {
                    let seed = self.next("the seed")?;
                    tail.weather.latency = Some(seed.parse().map_err(|_| format!("`{seed}` is no number"))?);
                }
                "ends-at" => tail.weather.ends_at = Some(self.count("the moment")?),
                "loses-from" => tail.weather.loses_from = Some(self.count("the commit")?),
                "sees-late" => tail.weather.sees_late = Some(self.count("how many seconds")?),
                "commit-fails" | "commit-unsure" => {
                    let number = self.count("the commit")?;
                    tail.weather.commit_fails = Some(CommitFault { number, written: word == "commit-unsure" });
                }
                "lose" => {
                    let on = self.operation()?;
                    faults.push(fault(Some(on), self.next("the address")?, 1, FaultKind::Lost));
                }
                "slow" => {
                    let at = self.next("the address")?;
                    let checks = Some(self.count("how many checks")?);
                    faults.push(fault(None, at, 1, FaultKind::Slow { checks }));
                }
                "never-stable" => {
                    faults.push(fault(None, self.next("the address")?, 1, FaultKind::Slow { checks: None }));
                }
                other => return Err(format!("`{other}` is not understood here")),
            }
        }
        Ok(tail)
    }
}

impl Told {
    async fn command(&mut self, command: &str, block: String) -> Result<(), String> {
        let _ = writeln!(self.text, "> {command}");
        let mut words = Words(command.split_whitespace().peekable());
        match words.next("the command")? {
            "document" => {
                self.documents.insert(words.next("the name of the document")?.to_owned(), block);
                words.end()?;
            }
            "write" => {
                let name = words.next("the name")?;
                let value = command.splitn(3, char::is_whitespace).nth(2).unwrap_or_default().trim();
                self.written.retain(|(other, _)| other != name);
                self.written.push((name.to_owned(), value.to_owned()));
            }
            "input" => {
                let name = words.next("the variable")?;
                let value = command.splitn(3, char::is_whitespace).nth(2).unwrap_or_default().trim();
                self.inputs.insert(name.into(), value.into());
            }
            "stage" => {
                let document = words.next("the document")?;
                self.lab.name = words.instance()?;
                let tail = words.tail()?;
                let stage = self.stage(document, &tail).await?;
                if let Some(staged) = stage.staged {
                    self.plan(&staged);
                    if let Some(keep) = tail.keep {
                        self.kept.insert(keep, (staged, self.lab.name.clone()));
                    }
                }
            }
            "apply" => {
                let plan = words.next("the plan")?;
                let tail = words.tail()?;
                let (staged, name) = self.kept.remove(plan).ok_or_else(|| format!("no plan `{plan}` is kept"))?;
                self.lab.name = name;
                self.operate(staged, true, tail).await;
            }
            "deploy" => {
                let document = words.next("the document")?;
                self.lab.name = words.instance()?;
                let tail = words.tail()?;
                let stage = self.stage(document, &tail).await?;
                if let Some(staged) = stage.staged {
                    self.operate(staged, false, tail).await;
                }
            }
            "destroy" => {
                self.lab.name = words.instance()?;
                let tail = words.tail()?;
                self.plan_from_state(tail).await;
            }
            "rollback" => {
                let wanted = words.0.next_if(|word| *word != "as");
                let wanted =
                    wanted.map(|word| word.parse().map(Generation).map_err(|_| format!("`{word}` is no number")));
                let wanted = wanted.transpose()?;
                self.lab.name = words.instance()?;
                let tail = words.tail()?;
                self.rollback(wanted, tail).await?;
            }
            "reconcile" => {
                self.lab.name = words.instance()?;
                let mut tail = words.tail()?;
                tail.refresh.reconcile = true;
                self.plan_from_state(tail).await;
            }
            "import" => {
                let (type_name, id) = (words.next("the type")?.into(), words.next("the id")?.into());
                let address = words.address()?;
                self.surgery(Surgery::Import { type_name, id, address }, &mut words).await?;
            }
            "move" => {
                let pair = (words.address()?, words.address()?);
                self.surgery(Surgery::Move(vec![pair]), &mut words).await?;
            }
            "remove" => {
                let address = words.address()?;
                self.surgery(Surgery::Remove(vec![address]), &mut words).await?;
            }
            "accept-drift" => self.surgery(Surgery::AcceptDrift, &mut words).await?,
            "save" => {
                self.lab.name = words.instance()?;
                words.end()?;
                let exported = Exported::of(&self.lab.name, &self.lab.snapshot().await);
                self.saved = exported.write(&self.lab.sealer()).map_err(|error| error.to_string())?;
            }
            "load" => match Exported::read(&self.saved, &self.lab.sealer()) {
                Ok(exported) => self.surgery(Surgery::Load(exported.into()), &mut words).await?,
                Err(error) => self.line(error.to_string()),
            },
            "make" => {
                let (type_name, id) = (words.next("the type")?, words.next("the id")?);
                let spec: Vec<&str> = words.0.by_ref().collect();
                let spec = serde_json::from_str(&spec.join(" ")).map_err(|error| format!("the spec: {error}"))?;
                self.world()
                    .make(&providers::fake::catalog(), type_name, id, &values::from_json(&spec))
                    .map_err(|refusal| format!("{refusal:?}"))?;
            }
            "drift-world" => {
                let (at, field) = (words.next("the address")?, words.next("the field")?);
                let mut value = Vec::new();
                while let Some(word) = words.0.next_if(|word| *word != "as") {
                    value.push(word);
                }
                let value = value.join(" ");
                let value = serde_json::from_str(&value).unwrap_or(serde_json::Value::String(value));
                let instance = words.instance()?;
                words.end()?;
                let type_name = self.world().thing_at(instance.as_str(), at).map(|thing| thing.type_name.clone());
                let top = field.split('.').next().unwrap_or_default();
                let fits = type_name.is_none_or(|ty| match self.lab.catalogs.resource_type(&ty) {
                    TypeRef::Known(ty) => ty.schema.fields.contains_key(top),
                    _ => false,
                });
                if !fits {
                    self.line("things of its type have no such field");
                    return Ok(());
                }
                let set = self.world().set(instance.as_str(), at, field, values::from_json(&value));
                self.refusal(set);
            }
            "vanish" => {
                let at = words.next("the address")?;
                let instance = words.instance()?;
                words.end()?;
                let gone = self.world().vanish(instance.as_str(), at);
                self.refusal(gone);
            }
            "hold" => {
                self.lab.name = words.instance()?;
                words.end()?;
                match self.lab.hold().await {
                    Some(lease) => self.held.push(lease),
                    None => self.line("it is held already"),
                }
            }
            "release" => {
                words.end()?;
                for lease in std::mem::take(&mut self.held) {
                    self.lab.store().release(&lease).await.map_err(|error| error.to_string())?;
                }
            }
            "judged" => {
                words.end()?;
                self.lab.judged = true;
            }
            "hook" => {
                let name = words.next("the name of a resource or of a child")?.into();
                let breakpoint = |word: &str| word.parse().map_err(|()| format!("there is no breakpoint `{word}`"));
                let breakpoints = words.0.by_ref().map(breakpoint).collect::<Result<Breakpoints, String>>()?;
                self.lab.stops.insert(name, breakpoints);
            }
            "sabotage" => {
                let word = words.next("the fault")?;
                self.lab.sabotage = Some(Sabotage::of(word).ok_or_else(|| format!("there is no fault `{word}`"))?);
                words.end()?;
            }
            "settle" => {
                let document = words.next("the document, or `nothing`")?;
                self.lab.name = words.instance()?;
                words.end()?;
                self.settle(Some(document).filter(|document| *document != "nothing")).await?;
            }
            "world" => {
                words.end()?;
                self.show_world();
            }
            "state" => {
                self.lab.name = words.instance()?;
                words.end()?;
                self.show_state().await;
            }
            other => return Err(format!("there is no command `{other}`")),
        }
        Ok(())
    }

    fn world(&self) -> std::sync::MutexGuard<'_, providers::fake::World> {
        self.lab.world.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// What somebody else could not do in the cloud.
    fn refusal(&mut self, done: Result<(), Refusal>) {
        match done {
            Ok(()) => {}
            Err(Refusal::NotThere) => self.line("it is not there"),
            Err(refusal) => self.line(format!("refused: {refusal:?}")),
        }
    }

    /// Comes to rest in fair weather, as what is described or without anything, and judges what is there then.
    async fn settle(&mut self, document: Option<&str>) -> Result<(), String> {
        // Reads are true again, and nobody holds the instance any more.
        tokio::time::sleep(engine::shell::LEASE * 2).await;
        // Each stop takes a run, and lets something go on.
        let (mut left, mut stops) = (4, 60);
        while left > 0 && stops > 0 {
            let stage = match document {
                Some(document) => self.stage(document, &Tail::default()).await?,
                None => self.lab.stage_destroy(Options::default()).await,
            };
            let Some(staged) = stage.staged else { break };
            let run = self.run(staged, false, Weather::default(), settings(Some(2), false), false).await;
            match run.outcome() {
                Some(outcome) if !outcome.stops.is_empty() => stops -= 1,
                _ => left -= 1,
            }
            let rests = match &run.operated {
                Some(Operated::Done(outcome)) => {
                    matches!(outcome.outcome, Some(OperationOutcome::Ready | OperationOutcome::Gone))
                }
                Some(Operated::Nothing) => true,
                _ => false,
            };
            if rests {
                return self.judge(document).await;
            }
        }
        self.line("broken: it does not come to rest");
        Ok(())
    }

    /// Whether all is as if nothing had ever gone wrong.
    async fn judge(&mut self, document: Option<&str>) -> Result<(), String> {
        let mut twin = Lab::new(self.lab.folder.clone(), Vec::new());
        twin.name = self.lab.name.clone();
        std::mem::swap(&mut self.lab, &mut twin);
        if let Some(document) = document
            && let Some(staged) = self.stage(document, &Tail::default()).await?.staged
        {
            self.lab.run(staged, false, Vec::new(), settings(Some(1), false)).await;
        }
        std::mem::swap(&mut self.lab, &mut twin);
        let (mut here, there) = (self.lab.cloud(), twin.cloud());
        let own = format!("{}/", self.lab.name.as_str());
        here.retain(|place, _| place.starts_with(&own));
        for (place, thing) in &here {
            match there.get(place) {
                None => self.line(format!("broken: {place} is there in the end: {thing}")),
                Some(other) if other != thing => self.line(format!("broken: {place} is {thing}, not {other}")),
                Some(_) => {}
            }
        }
        for place in there.keys().filter(|place| !here.contains_key(*place)) {
            self.line(format!("broken: {place} is not there in the end"));
        }
        let (there, known) = self.lab.ids().await;
        if there != known {
            self.line(format!("broken: in the cloud are {there:?}, known are {known:?}"));
        }
        let snapshot = self.lab.snapshot().await;
        for (address, _) in &snapshot.open {
            self.line(format!("broken: a call of {address} is still open"));
        }
        for (address, record) in &snapshot.records {
            if record.deposed.is_some()
                || record.token.is_some()
                || record.attempt.is_some()
                || record.status.word != StatusWord::Ready
            {
                self.line(format!("broken: {address} is still {}", record.status));
            }
        }
        if let Some(document) = document {
            match self.stage(document, &Tail::default()).await?.staged {
                Some(staged) if !staged.plan.is_empty() => {
                    self.line("broken: there is something left to do");
                    self.plan(&staged);
                }
                Some(_) => {}
                None => self.line("broken: it cannot be planned again"),
            }
        }
        Ok(())
    }

    /// Makes a plan from the state alone, and carries it out.
    async fn plan_from_state(&mut self, tail: Tail) {
        let stage = self.lab.stage_destroy(tail.refresh.clone()).await;
        self.diagnostics(&stage.diagnostics, &stage.files);
        match stage.staged {
            Some(staged) => self.operate(staged, false, tail).await,
            None => self.line("no plan"),
        }
    }

    /// Goes back to a generation, or to the last one that ended well.
    async fn rollback(&mut self, wanted: Option<Generation>, tail: Tail) -> Result<(), String> {
        let goal = match last_goal(&self.lab.store(), &self.lab.name, wanted).await {
            Ok(goal) => goal,
            Err(error) => {
                self.line(error.to_string());
                return Ok(());
            }
        };
        let stage = match goal {
            Ok(goal) => self.lab.stage_back(goal).await,
            Err(diagnostic) => {
                let diagnostics = std::iter::once(*diagnostic).collect();
                Stage { files: Files::new(), diagnostics, staged: None }
            }
        };
        self.diagnostics(&stage.diagnostics, &stage.files);
        match stage.staged {
            Some(staged) => {
                self.plan(&staged);
                self.operate(staged, false, tail).await;
            }
            None => self.line("no plan"),
        }
        Ok(())
    }

    async fn surgery(&mut self, surgery: Surgery, words: &mut Words<'_>) -> Result<(), String> {
        self.lab.name = words.instance()?;
        let mut tail = words.tail()?;
        tail.refresh.refresh = surgery == Surgery::AcceptDrift;
        tail.refresh.surgery = Some(surgery);
        let stage = self.lab.stage_destroy(tail.refresh.clone()).await;
        self.diagnostics(&stage.diagnostics, &stage.files);
        let Some(staged) = stage.staged else {
            self.line("no plan");
            return Ok(());
        };
        self.plan(&staged);
        self.operate(staged, false, tail).await;
        Ok(())
    }

    fn line(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.text, "    {}", text.as_ref());
    }

    async fn stage(&mut self, document: &str, tail: &Tail) -> Result<Stage, String> {
        let whole = |text: &String| {
            self.written.iter().fold(text.clone(), |text, (name, value)| text.replace(&format!("@{name}@"), value))
        };
        let text = self.documents.get(document).ok_or_else(|| format!("there is no document `{document}`"))?;
        let text = whole(text);
        let at = |name: &String| self.lab.folder.join(name).to_string_lossy().into_owned();
        self.lab.shelf = Some(Shelf::new(self.documents.iter().map(|(name, text)| (at(name), whole(text)))));
        let given = Given { text: self.inputs.clone(), ..Given::default() };
        let stage = self.lab.stage(document, &text, given, tail.refresh.clone()).await;
        self.diagnostics(&stage.diagnostics, &stage.files);
        if stage.staged.is_none() {
            self.line("no plan");
        }
        Ok(stage)
    }

    fn diagnostics(&mut self, diagnostics: &Diagnostics, files: &Files) {
        for it in diagnostics {
            let place = files.get(it.span().file).map(|file| file.position(it.span().start).line);
            let place = place.map(|line| format!(" (line {line})")).unwrap_or_default();
            self.line(format!("{} {}: {}{place}", it.severity.word(), it.code.name, it.message));
            for note in &it.notes {
                self.line(format!("    {note}"));
            }
        }
    }

    fn plan(&mut self, staged: &Staged) {
        for step in staged.plan.steps.iter().filter(|step| step.action != Action::None) {
            self.step(step);
        }
        for PlannedStop { address, at, passed, .. } in &staged.plan.stops {
            self.line(format!("{} {address}: {at}", if *passed { "goes on from" } else { "stops at" }));
        }
        for step in staged.plan.steps.iter().filter(|step| step.action == Action::None) {
            let reasons: Vec<_> = step.reasons.iter().map(|reason| reason.word()).collect();
            let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) };
            self.line(format!("remember {}{why}", step.address));
        }
        for drifted in &staged.plan.drift {
            if let Drift::Differs(changes) = &drifted.how {
                for change in changes {
                    let side = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), shown);
                    let (before, after) = (side(&change.before), side(&change.after));
                    self.line(format!("drift of {} {}: {before} -> {after}", drifted.address, change.path));
                }
            }
        }
        for export in changed(&staged.plan.exports) {
            self.line(format!("export {export}"));
        }
        for child in staged.plan.children.iter().filter(|child| child.action != ExportAction::Unchanged) {
            let word = serde_json::to_value(child.action).unwrap_or_default();
            self.line(format!("child {}: {}", child.address, word.as_str().unwrap_or_default()));
            for export in changed(&child.exports) {
                self.line(format!("    export {export}"));
            }
            for entry in changed(&child.metadata) {
                self.line(format!("    metadata {entry}"));
            }
        }
        for address in &staged.plan.left_alone.absent {
            self.line(format!("absent {address}"));
        }
        let waiting = &staged.plan.left_alone.waiting;
        for address in &staged.plan.left_alone.out_of_target {
            let waits = if waiting.contains(address) { ", would change" } else { "" };
            self.line(format!("out of target {address}{waits}"));
        }
        let [create, update, delete, replace] = staged.plan.counts();
        let mut counts = format!("{create} to create, {update} to update, {delete} to delete");
        if replace > 0 {
            let _ = write!(counts, ", {replace} to replace");
        }
        let _ = write!(counts, "; {} unchanged", staged.plan.left_alone.unchanged);
        self.line(counts);
    }

    fn step(&mut self, step: &Step) {
        let reasons: Vec<_> = step.reasons.iter().map(|reason| reason.word()).collect();
        let mut text = format!("{} {}", step.action.word(), step.address);
        if !reasons.is_empty() {
            let _ = write!(text, ": {}", reasons.join(", "));
        }
        if let Some(order) = step.replace_order {
            let order = serde_json::to_value(order).unwrap_or_default();
            let may = if step.may_replace { "may replace, " } else { "" };
            let _ = write!(text, " ({may}{})", order.as_str().unwrap_or_default());
        }
        if !step.condition_known {
            text.push_str(" (decided on deploy)");
        }
        if let Some(former) = &step.moved_from {
            let _ = write!(text, " (was {former})");
        }
        if let Some(links) = &step.links {
            for (word, links) in [("gains", &links.gained), ("sees changed", &links.changed), ("loses", &links.lost)] {
                for link in links {
                    let _ = write!(text, ", {word} {link}");
                }
            }
        }
        self.line(text);
        if matches!(step.action, Action::Update | Action::Replace | Action::None) {
            for change in &step.changes {
                let side = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), shown);
                let forces = if change.forces { " (forces)" } else { "" };
                self.line(format!("    {}: {} -> {}{forces}", change.path, side(&change.before), side(&change.after)));
            }
        }
    }

    async fn operate(&mut self, staged: Staged, kept: bool, mut tail: Tail) {
        if let Some((number, when)) = tail.crash_at {
            let acting = staged.plan.steps.iter().filter(|step| !matches!(step.action, Action::None | Action::Detach));
            if let Some(step) = acting.into_iter().nth(number.wrapping_sub(1)) {
                let on = match step.action {
                    Action::Update => Operation::Update,
                    Action::Delete => Operation::Delete,
                    _ => Operation::Create,
                };
                let kind = FaultKind::Crash { when, untraceable: false };
                let at = step.address.to_string().into();
                tail.weather.faults.push(Fault { on: Some(on), at, skip: 0, times: 1, kind });
                tail.parallel = Some(1);
            }
        }
        let mut settings = settings(tail.parallel, tail.keep_going);
        if tail.roll_back {
            settings.on_failure = OnFailure::Rollback;
        }
        let lost = tail.weather.loses_from.is_some();
        self.run(staged, kept, tail.weather, settings, lost).await;
    }

    async fn run(&mut self, staged: Staged, kept: bool, weather: Weather, settings: Settings, lost: bool) -> Run {
        let promise = self.watch.plan(&staged, &self.lab.stops);
        let mut run = self.lab.run_in(staged, kept, weather, settings).await;
        let broken = self.watch.run(promise, &run, &self.lab.snapshot().await.stops, lost);
        if self.lab.judged {
            run.broken.extend(broken);
        }
        self.outcome(&run);
        run
    }

    fn outcome(&mut self, run: &Run) {
        for broken in &run.broken {
            self.line(format!("broken: {broken}"));
        }
        if let Some(secret) = self.inputs.get(SECRET)
            && run.events.iter().any(|event| format!("{event:?}").contains(secret.as_ref()))
        {
            self.line("broken: an event tells the secret");
        }
        for event in &run.events {
            let half = |replacing: bool| if replacing { " (replacing)" } else { "" };
            let line = match event {
                Event::Configured { address } => format!("{address} is accepted, not ready yet"),
                Event::Retrying { address, attempt, after_ms, .. } => {
                    // How long exactly is drawn at random.
                    let seconds = after_ms / 1000;
                    format!("{address} is tried again ({attempt}. try) after some {seconds} s")
                }
                Event::Done { address, operation, replacing } => {
                    format!("{} {address}{}: done", operation.word(), half(*replacing))
                }
                Event::Recorded { address, how } => format!("{address}: {how}"),
                Event::Unneeded { address, reason } => format!("{address}: not needed, {reason}"),
                Event::Failed { address, operation, message } => {
                    format!("{} {address}: failed, {message}", operation.word())
                }
                Event::Unread { address, message } => format!("read {address}: failed, {message}"),
                Event::Skipped { address, reason } => format!("{address}: skipped, {reason}"),
                Event::RollingBack { generation: Some(number) } => format!("back to generation {number}"),
                Event::RollingBack { generation: None } => "back to nothing".to_owned(),
                _ => continue,
            };
            self.line(line);
        }
        match &run.operated {
            None => self.line("the process ended"),
            Some(Operated::Refused(found)) => {
                self.diagnostics(found, &Files::new());
                self.line("refused");
            }
            Some(Operated::Busy(found)) => {
                self.diagnostics(found, &Files::new());
                self.line("busy");
            }
            Some(Operated::Nothing) => self.line("nothing to do"),
            Some(Operated::Done(outcome)) => {
                self.diagnostics(&outcome.diagnostics, &Files::new());
                for (address, at) in &outcome.stops {
                    self.line(format!("stands at {address}: {at}"));
                }
                if !outcome.waiting.is_empty() {
                    let names: Vec<String> = outcome.waiting.iter().map(ToString::to_string).collect();
                    self.line(format!("waiting: {}", names.join(", ")));
                }
                let word = outcome.outcome.map_or("lost", |outcome| outcome.word());
                let [created, updated, deleted, replaced] = outcome.counts;
                let replaced = if replaced > 0 { format!(", {replaced} replaced") } else { String::new() };
                self.line(format!("{word}: {created} created, {updated} updated, {deleted} deleted{replaced}"));
                if let Some(second) = &outcome.rolled_back {
                    let word = second.outcome.map_or("lost", |outcome| outcome.word());
                    let [created, updated, deleted, replaced] = second.counts;
                    let replaced = if replaced > 0 { format!(", {replaced} replaced") } else { String::new() };
                    let counts = format!("{created} created, {updated} updated, {deleted} deleted{replaced}");
                    self.line(format!("rolled back, {word}: {counts}"));
                }
            }
            Some(Operated::Lost(lost)) => self.line(format!("lost: {lost:?}")),
            Some(Operated::Store(error)) => self.line(format!("the store: {error}")),
        }
    }

    fn show_world(&mut self) {
        let mut lines = BTreeMap::new();
        for thing in self.world().things() {
            let fields = shown(&thing.fields);
            lines.insert(
                (thing.place.clone(), thing.id.clone()),
                format!("{} {} {fields}", thing.place, thing.type_name),
            );
        }
        if lines.is_empty() {
            self.line("nothing");
        }
        for line in lines.into_values() {
            self.line(line);
        }
    }

    async fn show_state(&mut self) {
        let snapshot = self.lab.snapshot().await;
        if snapshot.records.is_empty() {
            self.line("nothing");
        }
        for (address, record) in &snapshot.records {
            let old = if record.deposed.is_some() { ", the old one is still there" } else { "" };
            self.line(format!("{address} {}: {}{old}", record.type_name, record.status));
        }
        for address in snapshot.open.keys() {
            self.line(format!("{address}: a call was cut off"));
        }
        for (name, value) in &snapshot.exports {
            let old = if snapshot.exports_old { " (old)" } else { "" };
            self.line(format!("export {name}: {}{old}", shown(value)));
        }
        for (child, of) in &snapshot.declared.children {
            for (name, value) in &of.exports {
                self.line(format!("export {name} of {child}: {}", shown(value)));
            }
            if !of.metadata.is_null() {
                self.line(format!("metadata of {child}: {}", shown(&of.metadata)));
            }
        }
        for (name, source) in &snapshot.declared.data_sources {
            self.line(format!("metadata of data source {name}: {}", shown(&source.metadata)));
        }
    }
}

/// Values that change, each with what it was and will be.
fn changed(values: &[ExportChange]) -> Vec<String> {
    let changed = values.iter().filter(|value| value.action != ExportAction::Unchanged);
    let text = |value: &ExportChange| match (&value.before, &value.after) {
        (Some(before), Some(after)) => format!("{}: {} -> {}", value.name, shown(before), shown(after)),
        (None, Some(after)) => format!("{}: {}", value.name, shown(after)),
        _ => format!("{}: goes away", value.name),
    };
    changed.map(text).collect()
}

/// A value as scripts show it: JSON, without quotes around names and texts that need none; `?` for what is not known.
fn shown(value: &Value) -> String {
    match &hidden(value) {
        Value::Unknown(_) => "?".to_owned(),
        Value::Null => "none".to_owned(),
        Value::Map(entries) => {
            let set = entries.iter().filter(|(_, value)| !value.is_null());
            let parts: Vec<String> = set.map(|(key, value)| format!("{key}: {}", shown(value))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        Value::List(items) | Value::Set(items) => {
            let parts: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", parts.join(", "))
        }
        Value::Text(text) if !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "-_.:/()".contains(c)) => {
            text.to_string()
        }
        other => values::to_json(other).to_string(),
    }
}
