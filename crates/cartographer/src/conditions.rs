//! Conditions of objects and their aggregation (decisions/cartographer#health).

use blueprint::{Map, Name, Value};

/// The longest message that the schemas allow, in bytes.
const LONGEST_MESSAGE: usize = 32_768;

/// A condition of a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCondition {
    /// The type, such as `Ready`.
    pub condition_type: Name,
    /// `True`, `False` or `Unknown`; objects of others can have anything.
    pub status: Name,
    /// Why, as one word.
    pub reason: Name,
    /// Why, in words.
    pub message: Name,
    /// The generation that it is about, if it says so.
    pub observed_generation: Option<i64>,
    /// Since when it is like this, in RFC 3339.
    pub last_transition_time: Name,
}

/// The condition is true.
pub const TRUE: &str = "True";

/// The condition is false.
pub const FALSE: &str = "False";

/// Nobody knows.
pub const UNKNOWN: &str = "Unknown";

impl StatusCondition {
    /// A condition without a time. A message that is longer than the schemas allow is cut.
    pub fn new(condition_type: &str, status: &str, reason: &str, message: &str) -> StatusCondition {
        let end = message.floor_char_boundary(LONGEST_MESSAGE);
        StatusCondition {
            condition_type: Name::from(condition_type),
            status: Name::from(status),
            reason: Name::from(reason),
            message: Name::from(message.get(..end).unwrap_or_default()),
            observed_generation: None,
            last_transition_time: Name::from(""),
        }
    }

    /// The condition that a status has; `None` if the value is no map.
    pub fn of(value: &Value) -> Option<StatusCondition> {
        let entries = value.as_map()?;
        let text = |key: &str| match entries.get(key).map(Value::unmarked) {
            Some(Value::Text(text)) => text.clone(),
            // What is not known yet is no state.
            Some(Value::Unknown(_)) if key == "status" => Name::from(UNKNOWN),
            _ => Name::from(""),
        };
        Some(StatusCondition {
            condition_type: text("type"),
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            observed_generation: entries.get("observedGeneration").and_then(Value::as_int),
            last_transition_time: text("lastTransitionTime"),
        })
    }

    /// The condition as a status has it. Without a time, it has none.
    pub fn value(&self) -> Value {
        let mut entries = Map::new();
        let mut set = |key: &str, value: Value| entries.insert(Name::from(key), value);
        set("type", Value::Text(self.condition_type.clone()));
        set("status", Value::Text(self.status.clone()));
        if let Some(generation) = self.observed_generation {
            set("observedGeneration", Value::Int(generation));
        }
        if !self.last_transition_time.is_empty() {
            let time = self.last_transition_time.clone();
            set("lastTransitionTime", Value::Text(time));
        }
        set("reason", Value::Text(self.reason.clone()));
        set("message", Value::Text(self.message.clone()));
        Value::Map(std::sync::Arc::new(entries))
    }
}

/// The conditions in a list of a status; none for anything else.
pub fn conditions_of(list: &Value) -> Vec<StatusCondition> {
    let items = list.as_list().unwrap_or_default();
    items.iter().filter_map(StatusCondition::of).collect()
}

/// The first condition of a type.
pub fn find_condition<'a>(
    conditions: &'a [StatusCondition],
    condition_type: &str,
) -> Option<&'a StatusCondition> {
    conditions
        .iter()
        .find(|condition| *condition.condition_type == *condition_type)
}

/// Collects conditions and aggregates them: `False` beats `Unknown`, which beats `True`; another
/// status is ignored. The last `False` gives reason and message, else the first `Unknown`.
#[derive(Clone, Debug)]
pub struct ConditionCollector {
    aggregate: Name,
    previous: Vec<StatusCondition>,
    now: Name,
    conditions: Vec<StatusCondition>,
    status: &'static str,
    reason: Name,
    message: Name,
    changed: bool,
}

/// Conditions with their aggregate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectedConditions {
    /// The conditions in order, the aggregate last.
    pub conditions: Vec<StatusCondition>,
    /// Whether a condition is new, or differs from the previous one in more than its time.
    pub changed: bool,
}

impl ConditionCollector {
    /// No conditions yet. `now` is the time that changed conditions get.
    pub fn new(aggregate: &str, previous: Vec<StatusCondition>, now: &str) -> ConditionCollector {
        ConditionCollector {
            aggregate: Name::from(aggregate),
            previous,
            now: Name::from(now),
            conditions: Vec::new(),
            status: TRUE,
            reason: Name::from("Ready"),
            message: Name::from(""),
            changed: false,
        }
    }

    /// Adds a condition. Its time stays that of the previous condition of its type if nothing else
    /// changed.
    pub fn add(&mut self, mut condition: StatusCondition) {
        match condition.status.as_ref() {
            FALSE => self.decide(FALSE, &condition),
            UNKNOWN if self.status == TRUE => self.decide(UNKNOWN, &condition),
            _ => {}
        }
        let previous = find_condition(&self.previous, &condition.condition_type);
        let time = previous.map(|previous| previous.last_transition_time.clone());
        condition.last_transition_time = time.unwrap_or_else(|| self.now.clone());
        if previous != Some(&condition) {
            condition.last_transition_time = self.now.clone();
            self.changed = true;
        }
        self.conditions.push(condition);
    }

    fn decide(&mut self, status: &'static str, condition: &StatusCondition) {
        self.status = status;
        self.reason = condition.reason.clone();
        self.message = condition.message.clone();
    }

    /// The conditions with their aggregate, which is `Unknown` if there are none.
    pub fn finish(mut self) -> CollectedConditions {
        let mut aggregate =
            StatusCondition::new(&self.aggregate, self.status, &self.reason, &self.message);
        if self.conditions.is_empty() {
            aggregate.status = Name::from(UNKNOWN);
            aggregate.reason = Name::from("Unknown");
            aggregate.last_transition_time = self.now.clone();
            return CollectedConditions {
                conditions: vec![aggregate],
                changed: true,
            };
        }
        self.add(aggregate);
        CollectedConditions {
            conditions: self.conditions,
            changed: self.changed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ConditionCollector, FALSE, StatusCondition, TRUE, UNKNOWN};

    fn ready(statuses: &[&str]) -> (String, String) {
        let mut collector = ConditionCollector::new("Ready", Vec::new(), "now");
        for (at, status) in statuses.iter().enumerate() {
            let reason = format!("R{at}");
            collector.add(StatusCondition::new("A", status, &reason, ""));
        }
        let ready = collector.finish().conditions.pop().expect("the aggregate");
        (ready.status.to_string(), ready.reason.to_string())
    }

    #[test]
    fn false_beats_unknown_beats_true() {
        let is = |statuses: &[&str], status: &str, reason: &str| {
            assert_eq!(ready(statuses), (status.to_owned(), reason.to_owned()));
        };
        is(&[TRUE, UNKNOWN, FALSE, UNKNOWN], FALSE, "R2");
        is(&[FALSE, FALSE], FALSE, "R1");
        is(&[UNKNOWN, TRUE, UNKNOWN], UNKNOWN, "R0");
        is(&[TRUE, "weird"], TRUE, "Ready");
        is(&[], UNKNOWN, "Unknown");
    }

    #[test]
    fn times_move_only_with_something_else() {
        let collect = |previous, reason| {
            let mut collector = ConditionCollector::new("Ready", previous, "later");
            collector.add(StatusCondition::new("A", TRUE, reason, ""));
            collector.finish()
        };
        let mut first = collect(Vec::new(), "R").conditions;
        for condition in &mut first {
            condition.last_transition_time = "before".into();
        }
        let same = collect(first.clone(), "R");
        assert!(!same.changed);
        assert_eq!(same.conditions, first);
        let other = collect(first, "S");
        let times: Vec<&str> = other
            .conditions
            .iter()
            .map(|condition| condition.last_transition_time.as_ref())
            .collect();
        assert_eq!((other.changed, times), (true, vec!["later", "before"]));
    }

    #[test]
    fn long_messages_are_cut() {
        let message = "é".repeat(40_000);
        let condition = StatusCondition::new("A", TRUE, "R", &message);
        assert_eq!(condition.message.len(), 32_768);
    }
}
