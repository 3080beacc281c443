//! The commands of a script.

use std::fmt::Write as _;
use std::time::Duration;

use blueprint::Breakpoints;
use engine::apply::OnFailure;
use engine::{Action, Staged, StateEdit};
use provider::{Operation, TypeRef};
use providers::fake::{FaultKind, OperationRefusal, ScriptedFault};
use state::{Exported, Generation};

use super::arguments::{CommandOptions, CommandWords};
use super::runner::Runner;
use crate::faults::PlantedBug;
use crate::harness::{Toys, settings};
use crate::json_values;
use crate::toy::hosted::ProviderDefect;
use crate::toy::{checker, planner};

impl Runner {
    /// Carries out one command. `block` is the text of the indented lines below it. `Err` if the
    /// command does not exist or its words are wrong.
    pub(super) async fn command(&mut self, command: &str, block: String) -> Result<(), String> {
        let _ = writeln!(self.output, "> {command}");
        let mut words = CommandWords::new(command);
        let name = words.next("the command")?;
        match name {
            "document" => {
                self.documents
                    .insert(words.next("the name of the document")?.to_owned(), block);
                words.end()
            }
            "write" | "input" => self.set(name, words.next("the name")?, value_of(command)),
            "stage" | "apply" | "deploy" | "destroy" | "rollback" | "reconcile" => {
                self.operation(name, &mut words).await
            }
            "import" | "move" | "remove" | "accept-drift" | "save" | "load" => {
                self.edit_state(name, &mut words).await
            }
            "make" | "drift-world" | "vanish" => self.change_world(name, &mut words),
            "hold" | "release" => self.lease(name, &mut words).await,
            "check-invariants" | "hook" | "planted-bug" | "toy-defect" | "toy-schema" => {
                self.configure(name, &mut words)
            }
            "setting" => self.setting(words.next("the namespace")?, value_of(command)),
            "wait" => {
                let seconds = words.next("how many seconds")?;
                let seconds: u32 = seconds
                    .parse()
                    .map_err(|_| format!("`{seconds}` is no number"))?;
                tokio::time::sleep(Duration::from_secs(seconds.into())).await;
                words.end()
            }
            "settle" => {
                let document = words.next("the document, or `nothing`")?;
                self.harness.name = words.instance()?;
                words.end()?;
                self.settle(Some(document).filter(|document| *document != "nothing"))
                    .await
            }
            "world" => {
                words.end()?;
                self.show_world();
                Ok(())
            }
            "state" => {
                self.harness.name = words.instance()?;
                words.end()?;
                self.show_state().await;
                Ok(())
            }
            other => Err(format!("there is no command `{other}`")),
        }
    }

    /// Sets a substitution or an input.
    fn set(&mut self, command: &str, name: &str, value: &str) -> Result<(), String> {
        if command == "input" {
            self.inputs.insert(name.into(), value.into());
        } else {
            self.substitutions.retain(|(other, _)| other != name);
            self.substitutions.push((name.to_owned(), value.to_owned()));
        }
        Ok(())
    }

    /// Sets the settings of a provider.
    fn setting(&mut self, namespace: &str, value: &str) -> Result<(), String> {
        let value =
            serde_json::from_str(value).map_err(|error| format!("the settings: {error}"))?;
        self.harness.settings.insert(namespace.into(), value);
        Ok(())
    }

    /// Changes how later commands run.
    fn configure(&mut self, command: &str, words: &mut CommandWords<'_>) -> Result<(), String> {
        match command {
            "check-invariants" => self.harness.checks_invariants = true,
            "hook" => {
                let name = words.next("the name of a resource or of a child")?.into();
                let breakpoint = |word: &str| {
                    word.parse()
                        .map_err(|()| format!("there is no breakpoint `{word}`"))
                };
                let breakpoints = words
                    .0
                    .by_ref()
                    .map(breakpoint)
                    .collect::<Result<Breakpoints, String>>()?;
                self.harness.breakpoints.insert(name, breakpoints);
            }
            "toy-defect" => {
                let name = words.next("the defect, or `none`")?;
                let defect = ProviderDefect::from_word(name);
                if defect.is_none() && name != "none" {
                    return Err(format!("there is no defect `{name}`"));
                }
                self.harness.set_toys(Toys {
                    defect,
                    ..self.harness.toys().unwrap_or_default()
                });
            }
            "toy-schema" => {
                let old_schema = match words.next("`old` or `new`")? {
                    "old" => true,
                    "new" => false,
                    other => return Err(format!("`{other}` is neither `old` nor `new`")),
                };
                self.harness.set_toys(Toys {
                    old_schema,
                    ..self.harness.toys().unwrap_or_default()
                });
            }
            _ => {
                let name = words.next("the bug")?;
                let bug = PlantedBug::from_word(name)
                    .ok_or_else(|| format!("there is no bug `{name}`"))?;
                self.harness.planted_bug = Some(bug);
            }
        }
        words.end()
    }

    /// Plans a command. Carries the plan out unless the command is `stage`.
    async fn operation(
        &mut self,
        command: &str,
        words: &mut CommandWords<'_>,
    ) -> Result<(), String> {
        match command {
            "stage" | "deploy" => {
                let document = words.next("the document")?;
                self.harness.name = words.instance()?;
                let arguments = words.arguments()?;
                let stage = self.stage(document, arguments.plan.clone()).await?;
                let Some(staged) = self.show_stage(stage) else {
                    self.saved_plans
                        .extend(arguments.save_as.map(|name| (name, None)));
                    return Ok(());
                };
                if command == "deploy" {
                    self.operate(staged, false, arguments).await;
                    return Ok(());
                }
                self.show_plan(&staged);
                if let Some(name) = arguments.save_as {
                    self.saved_plans
                        .insert(name, Some((staged, self.harness.name.clone())));
                }
            }
            "apply" => {
                let plan = words.next("the plan")?;
                let arguments = words.arguments()?;
                let saved = self
                    .saved_plans
                    .remove(plan)
                    .ok_or_else(|| format!("no plan `{plan}` is saved"))?;
                let Some((staged, name)) = saved else {
                    self.line("its document could not be planned");
                    return Ok(());
                };
                self.harness.name = name;
                self.operate(staged, true, arguments).await;
            }
            "rollback" => {
                let number = words.0.next_if(|word| *word != "as");
                let number = number.map(|word| {
                    word.parse()
                        .map(Generation)
                        .map_err(|_| format!("`{word}` is no number"))
                });
                let generation = number.transpose()?;
                self.harness.name = words.instance()?;
                let arguments = words.arguments()?;
                self.rollback(generation, arguments).await;
            }
            _ => {
                self.harness.name = words.instance()?;
                let mut arguments = words.arguments()?;
                arguments.plan.reconcile = command == "reconcile";
                let stage = self.harness.stage_destroy(arguments.plan.clone()).await;
                if let Some(staged) = self.show_stage(stage) {
                    self.operate(staged, false, arguments).await;
                }
            }
        }
        Ok(())
    }

    /// Rolls back to a generation, or to the last one that succeeded.
    async fn rollback(&mut self, generation: Option<Generation>, arguments: CommandOptions) {
        let stage = match self.harness.stage_rollback(generation).await {
            Ok(stage) => stage,
            Err(error) => return self.line(error.to_string()),
        };
        if let Some(staged) = self.show_stage(stage) {
            self.show_plan(&staged);
            self.operate(staged, false, arguments).await;
        }
    }

    /// Edits the state without a call, or writes it as text.
    async fn edit_state(
        &mut self,
        command: &str,
        words: &mut CommandWords<'_>,
    ) -> Result<(), String> {
        let edit = match command {
            "import" => {
                let (type_name, id) =
                    (words.next("the type")?.into(), words.next("the id")?.into());
                StateEdit::Import {
                    type_name,
                    id,
                    address: words.address()?,
                }
            }
            "move" => StateEdit::Move(vec![(words.address()?, words.address()?)]),
            "remove" => StateEdit::Remove(vec![words.address()?]),
            "accept-drift" => StateEdit::AcceptDrift,
            "save" => {
                self.harness.name = words.instance()?;
                words.end()?;
                let exported = Exported::of(&self.harness.name, &self.harness.snapshot().await);
                self.exported_state = exported
                    .write(&self.harness.sealer())
                    .map_err(|error| error.to_string())?;
                return Ok(());
            }
            _ => match Exported::read(&self.exported_state, &self.harness.sealer()) {
                Ok(exported) => StateEdit::Load(exported.into()),
                Err(error) => {
                    self.line(error.to_string());
                    return Ok(());
                }
            },
        };
        self.harness.name = words.instance()?;
        let mut arguments = words.arguments()?;
        arguments.plan.refresh = (edit == StateEdit::AcceptDrift).into();
        arguments.plan.state_edit = Some(edit);
        let stage = self.harness.stage_destroy(arguments.plan.clone()).await;
        if let Some(staged) = self.show_stage(stage) {
            self.show_plan(&staged);
            self.operate(staged, false, arguments).await;
        }
        Ok(())
    }

    /// Changes the cloud as another user would.
    fn change_world(&mut self, command: &str, words: &mut CommandWords<'_>) -> Result<(), String> {
        if command == "make" {
            let (type_name, id) = (words.next("the type")?, words.next("the id")?);
            let spec: Vec<&str> = words.0.by_ref().collect();
            let spec = serde_json::from_str(&spec.join(" "))
                .map_err(|error| format!("the spec: {error}"))?;
            let catalog = match type_name.split('/').next() {
                Some("planner") => planner::catalog(false),
                Some("checker") => checker::catalog(),
                _ => providers::fake::catalog(),
            };
            let made = self
                .world()
                .make(&catalog, type_name, id, &json_values::from_json(&spec));
            return made.map_err(|refusal| format!("{refusal:?}"));
        }
        let at = words.next("the address")?;
        if command == "vanish" {
            let instance = words.instance()?;
            words.end()?;
            let done = self.world().delete_externally(instance.as_str(), at);
            self.show_refusal(done);
            return Ok(());
        }
        let field = words.next("the field")?;
        let mut value = Vec::new();
        while let Some(word) = words.0.next_if(|word| *word != "as") {
            value.push(word);
        }
        let value = value.join(" ");
        let value = serde_json::from_str(&value).unwrap_or(serde_json::Value::String(value));
        let instance = words.instance()?;
        words.end()?;
        let type_name = self
            .world()
            .object_at(instance.as_str(), at)
            .map(|object| object.type_name.clone());
        let top = field.split('.').next().unwrap_or_default();
        let has_field = type_name.is_none_or(|ty| match self.harness.catalogs.resource_type(&ty) {
            TypeRef::Known(ty) => ty.schema.fields.contains_key(top),
            _ => false,
        });
        if !has_field {
            self.line("its type has no such field");
            return Ok(());
        }
        let done = self
            .world()
            .set(instance.as_str(), at, field, json_values::from_json(&value));
        self.show_refusal(done);
        Ok(())
    }

    fn show_refusal(&mut self, done: Result<(), OperationRefusal>) {
        match done {
            Ok(()) => {}
            Err(OperationRefusal::NotFound) => self.line("it does not exist"),
            Err(refusal) => self.line(format!("refused: {refusal:?}")),
        }
    }

    /// Takes the lease for another operation, or releases all such leases.
    async fn lease(&mut self, command: &str, words: &mut CommandWords<'_>) -> Result<(), String> {
        if command == "hold" {
            self.harness.name = words.instance()?;
            match self.harness.take_lease().await {
                Some(lease) => self.leases.push(lease),
                None => self.line("the lease is taken"),
            }
        } else {
            for lease in std::mem::take(&mut self.leases) {
                self.harness
                    .store()
                    .release(&lease)
                    .await
                    .map_err(|error| error.to_string())?;
            }
        }
        words.end()
    }

    /// Carries out a plan and shows the result.
    async fn operate(&mut self, staged: Staged, saved: bool, mut arguments: CommandOptions) {
        if let Some((number, when)) = arguments.crash_at {
            let mut calls = staged
                .plan
                .steps
                .iter()
                .filter(|step| !matches!(step.action, Action::None | Action::Detach));
            if let Some(step) = calls.nth(number.wrapping_sub(1)) {
                let on = match step.action {
                    Action::Update => Operation::Update,
                    Action::Delete => Operation::Delete,
                    _ => Operation::Create,
                };
                let kind = FaultKind::Crash {
                    when,
                    untraceable: false,
                };
                let at = step.address.to_string().into();
                arguments.faults.faults.push(ScriptedFault {
                    on: Some(on),
                    at,
                    skip: 0,
                    times: 1,
                    kind,
                });
                arguments.parallel = Some(1);
            }
        }
        let mut settings = settings(arguments.parallel, arguments.keep_going);
        if arguments.roll_back {
            settings.on_failure = OnFailure::Rollback;
        }
        let run = self.run(staged, saved, arguments.faults, settings).await;
        self.show_run(&run);
    }
}

/// The value in `write NAME VALUE` and `input NAME VALUE`.
fn value_of(command: &str) -> &str {
    command
        .splitn(3, char::is_whitespace)
        .nth(2)
        .unwrap_or_default()
        .trim()
}
