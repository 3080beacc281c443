//! The area `template-tests`: folders with a template, a workload and the object that is expected. A
//! folder inherits from the folders above it what it does not state itself.

use std::path::{Path, PathBuf};

use blueprint::{Map, Name, Value};
use cartographer::compat::Compat;
use cartographer::context::TemplateContext;
use cartographer::inputs::{ResourceInputs, SourceOutput};
use cartographer::params::{ParamSources, Params};
use cartographer::selection::{Selected, TemplateChoice, choose_template, select_blueprint};
use cartographer::stamp::{OwnerReference, StampRequest, stamp};
use cartographer::ytt_templates::InProcessYtt;
use ytt::{Limits, Template};

use crate::pack::{self, Tally};
use crate::templating_output::without;
use crate::templating_stamp::{at, outputs};

#[test]
fn templates_give_the_expected_objects() {
    let Some(folder) = pack::folder() else {
        return;
    };
    let folder = folder.join("template-tests");
    if !folder.is_dir() {
        println!("cartographer conformance: template-tests is missing, nothing runs");
        return;
    }
    let mut tests = Vec::new();
    find(&folder, &TemplateTest::default(), &mut tests);
    let mut tally = Tally::new("template-tests");
    for test in &tests {
        let path = test.folder.strip_prefix(&folder).expect("it is below");
        tally.count(&path.display().to_string(), check(test));
    }
    tally.finish(98);
}

/// What a folder states, with what it inherits.
#[derive(Clone, Default)]
struct TemplateTest {
    folder: PathBuf,
    template: Option<PathBuf>,
    /// The data values with which the template itself is made by ytt.
    template_values: Option<PathBuf>,
    workload: Option<PathBuf>,
    expected: Option<PathBuf>,
    supply_chain: Option<PathBuf>,
    /// The entry `given.supplyChain`.
    in_supply_chain: Value,
    /// The entry `given.mockSupplyChain`.
    mock: Value,
    compare_options: Value,
}

impl TemplateTest {
    /// What a folder states, above what it inherits. Paths start at the folder that states them.
    fn inherited(&self, folder: &Path) -> TemplateTest {
        let file = folder.join("info.yaml");
        let info = match file.is_file() {
            true => document(&file).expect("info.yaml can be read"),
            false => Value::Null,
        };
        let stated = |keys: &[&str]| at(&info, keys).as_text().map(|path| folder.join(path));
        let usual = |name: &str| Some(folder.join(name)).filter(|path| path.is_file());
        let path = |keys: &[&str], name: &str, inherited: &Option<PathBuf>| {
            let here = stated(keys).or_else(|| usual(name));
            here.or_else(|| inherited.clone())
        };
        let entry = |keys: &[&str], inherited: &Value| match at(&info, keys) {
            Value::Null => inherited.clone(),
            stated => stated,
        };
        TemplateTest {
            folder: folder.to_owned(),
            template: path(
                &["given", "template", "path"],
                "template.yaml",
                &self.template,
            ),
            template_values: stated(&["given", "template", "yttPath"])
                .or_else(|| self.template_values.clone()),
            workload: path(&["given", "workload"], "workload.yaml", &self.workload),
            expected: path(&["expected"], "expected.yaml", &self.expected),
            supply_chain: usual("supply-chain.yaml").or_else(|| self.supply_chain.clone()),
            in_supply_chain: entry(&["given", "supplyChain"], &self.in_supply_chain),
            mock: entry(&["given", "mockSupplyChain"], &self.mock),
            compare_options: entry(&["compareOptions"], &self.compare_options),
        }
    }
}

/// Finds the folders that have everything that a test needs.
fn find(folder: &Path, above: &TemplateTest, tests: &mut Vec<TemplateTest>) {
    let test = above.inherited(folder);
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    for folder in &folders {
        find(folder, &test, tests);
    }
    let is_complete = test.template.is_some() && test.workload.is_some() && test.expected.is_some();
    if is_complete {
        tests.push(test);
    }
}

/// The first document of a file that has one.
fn document(path: &Path) -> Result<Value, String> {
    let text = text(path)?;
    let documents: Vec<serde_json::Value> =
        serde_saphyr::from_multiple(&text).map_err(|error| format!("{path:?}: {error}"))?;
    let mut documents = documents.iter().filter(|document| !document.is_null());
    documents
        .next()
        .map(pack::value)
        .ok_or_else(|| format!("{path:?} has no document"))
}

fn text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{path:?}: {error}"))
}

fn check(test: &TemplateTest) -> Result<(), String> {
    let file = |path: &Option<PathBuf>| path.clone().ok_or("a file is missing");
    let owner = document(&file(&test.workload)?)?;
    let expected = document(&file(&test.expected)?)?;
    let template = template(test)?;
    let place = match &test.supply_chain {
        Some(path) => Place::in_supply_chain(&document(path)?, test, &owner, &template)?,
        None => Place::mocked(&test.mock),
    };
    let params = Params::merge(&ParamSources {
        template: &at(&template, &["spec", "params"]),
        blueprint: &place.blueprint_params,
        resource: &place.resource_params,
        owner: &at(&owner, &["spec", "params"]),
    });
    let mut labels = place.labels.clone();
    for (key, value) in [
        ("workload-name", at(&owner, &["metadata", "name"])),
        ("workload-namespace", at(&owner, &["metadata", "namespace"])),
        ("template-kind", at(&template, &["kind"])),
        (
            "cluster-template-name",
            at(&template, &["metadata", "name"]),
        ),
    ] {
        labels.insert(Name::from(format!("carto.run/{key}")), value);
    }
    let context = TemplateContext::of_resource(&owner, &params, &place.inputs, &labels);
    let stamped = stamp(&StampRequest {
        template: &template,
        context: &context,
        owner: &owner,
        labels: &labels,
        owner_reference: OwnerReference::Written,
        compat: Compat::Upstream,
        ytt: &InProcessYtt,
    });
    let stamped = stamped.map_err(|failures| format!("fails: {failures:?}"))?;
    let found = compared(&stamped.object, &test.compare_options);
    let expected = compared(&expected, &test.compare_options);
    match pack::equal(&found, &expected) {
        true => Ok(()),
        false => Err(format!("{found} instead of {expected}")),
    }
}

/// The template. If it has data values, it is itself what ytt gives for them.
fn template(test: &TemplateTest) -> Result<Value, String> {
    let path = test.template.as_ref().ok_or("the template is missing")?;
    let Some(values) = &test.template_values else {
        return document(path);
    };
    let values = document(values)?;
    let values = values.as_map().ok_or("the data values are no map")?;
    let documents = Template::parse(&text(path)?)
        .and_then(|template| template.render(values, &Limits::default()))
        .map_err(|mistake| format!("{path:?}: {mistake}"))?;
    let mut documents = documents.into_iter().filter(|document| !document.is_null());
    documents
        .next()
        .ok_or_else(|| format!("{path:?} gives no template"))
}

/// What a supply chain gives to the template.
struct Place {
    blueprint_params: Value,
    resource_params: Value,
    inputs: ResourceInputs,
    labels: Map,
}

impl Place {
    /// Params and inputs that the test states itself.
    fn mocked(mock: &Value) -> Place {
        let mut inputs = ResourceInputs::default();
        let of = |field: &str| {
            let inputs = at(mock, &["blueprintInputs", field]);
            inputs.as_map().cloned().unwrap_or_default()
        };
        let source = |source: &Value| SourceOutput {
            url: at(source, &["url"]),
            revision: at(source, &["revision"]),
        };
        for (name, one) in of("sources").iter() {
            inputs.sources.insert(name.clone(), source(one));
        }
        for (name, image) in of("images").iter() {
            inputs.images.insert(name.clone(), at(image, &["image"]));
        }
        for (name, config) in of("configs").iter() {
            inputs.configs.insert(name.clone(), at(config, &["config"]));
        }
        let deployment = at(mock, &["blueprintInputs", "deployment"]);
        inputs.deployment = (!deployment.is_null()).then(|| source(&deployment));
        Place {
            blueprint_params: at(mock, &["blueprintParams"]),
            resource_params: Value::Null,
            inputs,
            labels: Map::new(),
        }
    }

    /// The resource of a supply chain that the test is about. The supply chain must select the
    /// owner, and the resource the template.
    fn in_supply_chain(
        blueprint: &Value,
        test: &TemplateTest,
        owner: &Value,
        template: &Value,
    ) -> Result<Place, String> {
        let selection = select_blueprint(owner, &[blueprint], Compat::Upstream);
        if selection.selected != Selected::One(0) {
            return Err(format!("the supply chain is not selected: {selection:?}"));
        }
        let resources = at(blueprint, &["spec", "resources"]);
        let resources = resources.as_list().unwrap_or_default();
        let target = at(&test.in_supply_chain, &["targetResourceName"]);
        let resource = match target {
            Value::Null => resources.first().filter(|_| resources.len() == 1),
            target => resources
                .iter()
                .find(|resource| resource.get("name") == Some(&target)),
        };
        let resource = resource.ok_or("the resource is not in the supply chain")?;
        let name = at(template, &["metadata", "name"]);
        match choose_template(owner, resource, Compat::Upstream) {
            Ok(TemplateChoice::Template(chosen)) if name.as_text() == Some(&*chosen) => {}
            choice => return Err(format!("{choice:?} instead of the template {name}")),
        }
        let previous = at(&test.in_supply_chain, &["previousOutputs"]);
        let labels = [
            ("supply-chain-name", at(blueprint, &["metadata", "name"])),
            ("resource-name", at(resource, &["name"])),
        ];
        let labels = labels.map(|(key, value)| (Name::from(format!("carto.run/{key}")), value));
        Ok(Place {
            blueprint_params: at(blueprint, &["spec", "params"]),
            resource_params: at(resource, &["params"]),
            inputs: ResourceInputs::of(resource, &outputs(&Value::map([("outputs", previous)]))),
            labels: labels.into_iter().collect(),
        })
    }
}

/// An object without the metadata that the test ignores.
fn compared(object: &Value, options: &Value) -> Value {
    if at(options, &["ignoreMetadata"]) == Value::Bool(true) {
        return without(object, &["metadata"]);
    }
    let ignored = at(options, &["ignoreMetadataFields"]);
    let ignored = ignored.as_list().unwrap_or_default();
    let ignored: Vec<&str> = ignored.iter().filter_map(Value::as_text).collect();
    let metadata = without(&at(object, &["metadata"]), &ignored);
    let entries = object.as_map().into_iter().flat_map(|map| map.iter());
    Value::map(entries.map(|(key, value)| {
        let value = match key.as_ref() {
            "metadata" => metadata.clone(),
            _ => value.clone(),
        };
        (key.clone(), value)
    }))
}
