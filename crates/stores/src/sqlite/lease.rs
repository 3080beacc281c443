//! The rows of leases: read and written, each with its tag. What a lease means is the writer's to know.

use rusqlite::{Connection, OptionalExtension, Row, params};
use state::seal::Sealer;
use state::tag::{Tag, Tagger};
use state::{InstanceName, LeaseHolder};

/// A row.
pub(super) struct Held {
    pub(super) epoch: i64,
    pub(super) holder: Option<LeaseHolder>,
    /// Whether it is what was written.
    pub(super) genuine: Genuine,
}

/// What a tag has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Genuine {
    Yes,
    No,
    /// The key is not at hand, or the format has no tags.
    Unknown,
}

/// The row of an instance.
pub(super) fn read(
    connection: &Connection,
    format: i64,
    sealer: &Sealer,
    name: &InstanceName,
) -> Result<Option<Held>, rusqlite::Error> {
    let tags = if format < 3 { "NULL, NULL" } else { "auth, mac" };
    let sql = format!("SELECT epoch, who, since, until, {tags} FROM leases WHERE name = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row([name.as_str()], |row| held(row, format, sealer, name.as_str())).optional()
}

/// What a row says that begins with these columns.
pub(super) fn held(row: &Row<'_>, format: i64, sealer: &Sealer, name: &str) -> Result<Held, rusqlite::Error> {
    let epoch = row.get(0)?;
    let holder = match row.get(1)? {
        None => None,
        Some(who) => Some(LeaseHolder { who, since: row.get(2)?, until: row.get(3)? }),
    };
    let genuine = if format < 3 {
        Genuine::Unknown
    } else {
        match sealer.tagger_of(&row.get::<_, String>(4)?) {
            None => Genuine::Unknown,
            Some(tagger) if tag(&tagger, name, epoch, holder.as_ref()) == row.get::<_, Tag>(5)? => Genuine::Yes,
            Some(_) => Genuine::No,
        }
    };
    Ok(Held { epoch, holder, genuine })
}

/// Writes the row of an instance: it stays when nobody holds the lease, so that epochs go on growing.
pub(super) fn write(
    connection: &Connection,
    sealer: &Sealer,
    name: &str,
    epoch: i64,
    holder: Option<&LeaseHolder>,
) -> Result<(), rusqlite::Error> {
    let tagger = sealer.tagger();
    let sql =
        "INSERT OR REPLACE INTO leases (name, epoch, who, since, until, auth, mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    connection.prepare_cached(sql)?.execute(params![
        name,
        epoch,
        holder.map(|holder| &*holder.who),
        holder.map(|holder| holder.since),
        holder.map(|holder| holder.until),
        tagger.key(),
        tag(&tagger, name, epoch, holder),
    ])?;
    Ok(())
}

fn tag(tagger: &Tagger, name: &str, epoch: i64, holder: Option<&LeaseHolder>) -> Tag {
    let row = tagger.row("lease").text(name).number(epoch).number(i64::from(holder.is_some()));
    let row = row.text(holder.map_or("", |holder| &holder.who));
    row.optional(holder.map(|holder| holder.since)).optional(holder.map(|holder| holder.until)).finish()
}
