//! Repetitions: the items of `each`, and the keys of their members.

use blueprint::{Key, Resource, Value};
use diag::Diagnostics;
use understand::check;

use super::{Evaluation, ExpressionSite, Halt, Need};

impl Evaluation {
    /// The items of a repetition; `None` after an error. `none` items are dropped first
    /// (decisions/blueprint#items-of-each).
    pub fn items(
        &mut self,
        site: ExpressionSite<'_>,
        name: &str,
        resource: &Resource,
        found: &mut Diagnostics,
    ) -> Result<Option<Vec<Value>>, Need> {
        let Some(each) = &resource.each else {
            return Ok(None);
        };
        let value = match self.present(site, &each.list, found) {
            Ok(value) => value,
            Err(Halt::Need(need)) => return Err(need),
            Err(_) => return Ok(None),
        };
        let (bare, secret) = value.split_secret();
        match bare {
            Value::List(items) | Value::Set(items)
                if items.len() > self.documents.limits.items() =>
            {
                let most = self.documents.limits.items();
                found.push(
                    check::codes::VALUE_CONSTRAINT
                        .new(format!("`each` may have at most {most} items, not {}", items.len()))
                        .label(each.list.span, format!("`{name}` would have one member for each"))
                        .help(
                            "divide it into several resources, or raise `members` under `[documents]` in `cyan.toml`",
                        ),
                );
                Ok(None)
            }
            // The resource that exceeded the limit has already reported the error.
            Value::List(_) | Value::Set(_) if self.repeated.exceeded => Ok(None),
            Value::List(items) | Value::Set(items) => {
                let most = self.documents.limits.all_members();
                if !self
                    .repeated
                    .count_within_limit(site.owner, items.len(), most)
                {
                    self.repeated.exceeded = true;
                    found.push(
                        check::codes::VALUE_CONSTRAINT
                            .new(format!("all resources with `each` together may have at most {most} members"))
                            .label(each.list.span, format!("the {} members of `{name}` are too many", items.len()))
                            .help(
                                "divide the document into instances of their own, or raise `all-members` under `[documents]` in \
                                 `cyan.toml`",
                            ),
                    );
                    return Ok(None);
                }
                Ok(Some(
                    items
                        .iter()
                        .filter(|item| !item.is_null())
                        .map(|item| item.clone().tainted(secret))
                        .collect(),
                ))
            }
            Value::Null => Ok(Some(Vec::new())),
            Value::Unknown(_) if self.offline => Ok(None),
            Value::Unknown(_) => {
                found.push(
                    check::codes::EACH_NOT_STATIC
                        .new(format!("`each` of `{name}` must be known at stage"))
                        .label(each.list.span, "known only on deploy"),
                );
                Ok(None)
            }
            other => {
                let mut wrong = check::codes::EACH_NOT_LIST
                    .new(format!(
                        "`each` of `{name}` must be a list, found {}",
                        other.kind_word()
                    ))
                    .label(each.list.span, "not a list");
                if matches!(other, Value::Map(_)) {
                    wrong =
                        wrong.help("take its values with `vals(..)`, or its keys with `keys(..)`");
                }
                found.push(wrong);
                Ok(None)
            }
        }
    }

    /// The key of a member, if members are addressed by key. `None` after an error.
    pub fn member_key(
        &mut self,
        site: ExpressionSite<'_>,
        item: &(Value, u32),
        resource: &Resource,
        found: &mut Diagnostics,
    ) -> Result<Option<Key>, Need> {
        let Some(expr) = resource.each.as_ref().and_then(|each| each.key.as_ref()) else {
            return Ok(Some(Key::Index(item.1)));
        };
        match self.present(
            ExpressionSite {
                item: Some(item),
                ..site
            },
            expr,
            found,
        ) {
            Ok(value) => match expr::to_text(&value) {
                Some(Ok(text)) if !text.is_unknown() => {
                    Ok(text.as_text().map(|text| Key::Name(text.into())))
                }
                _ => {
                    found.push(
                        expr::codes::TYPE_MISMATCH
                            .new(format!("a key must be text, found {}", value.kind_word()))
                            .label(expr.span, "not text that is known at stage"),
                    );
                    Ok(None)
                }
            },
            Err(Halt::Need(need)) => Err(need),
            Err(_) => Ok(None),
        }
    }
}
