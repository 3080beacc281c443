//! The rows of leases: read, checked by their tags, and written.
//!
//! A row holds the boot, the time in it (`CLOCK_BOOTTIME`) at which the lease expires, and the
//! process that holds it. `since` and `until` are wall-clock times for people. A row stays when its
//! lease ends, so that epochs grow.
//!
//! Not here: the rights that a lease gives (`write`).

use std::time::Duration;

use blueprint::Name;
use rusqlite::{Connection, OptionalExtension, Row, params};
use state::seal::Sealer;
use state::tag::{Tag, Tagger};
use state::{Host, InstanceName, LeaseHolder, Liveness, Process};

/// The row of a lease.
pub(super) struct StoredLease {
    pub(super) epoch: i64,
    /// The holder, by the clock and the processes of this machine.
    pub(super) holder: Option<LeaseHolder>,
    /// Whether its time of expiry belongs to another boot.
    pub(super) expires_in_other_boot: bool,
    /// Whether the row is unchanged.
    pub(super) authenticity: Authenticity,
    stored: Option<StoredHolder>,
}

/// The result of checking a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Authenticity {
    Genuine,
    Altered,
    /// The key is not available, or the format has no tags.
    Unknown,
}

/// The holder of a lease, as it is stored.
struct StoredHolder {
    who: Name,
    since: i64,
    until: i64,
    /// The boot in which `expires` counts. Both are missing if an older version gave the lease.
    boot: Option<Name>,
    /// Milliseconds since that boot.
    expires: Option<i64>,
    process: Option<StoredProcess>,
}

struct StoredProcess {
    host: Name,
    namespace: Name,
    pid: i64,
    started: i64,
}

/// The columns of a row, after its name, in the order in which `read_lease` reads them.
fn columns(format: i64) -> &'static str {
    match format < 3 {
        true => "epoch, who, since, until, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
        false => {
            "epoch, who, since, until, boot, expires, host, namespace, pid, started, auth, mac"
        }
    }
}

/// Reads the row of an instance.
pub(super) fn read(
    connection: &Connection,
    format: i64,
    sealer: &Sealer,
    host: &dyn Host,
    name: &InstanceName,
) -> Result<Option<StoredLease>, rusqlite::Error> {
    let sql = format!("SELECT {} FROM leases WHERE name = ?1", columns(format));
    let mut statement = connection.prepare_cached(&sql)?;
    statement
        .query_row([name.as_str()], |row| {
            held(row, format, sealer, host, name.as_str())
        })
        .optional()
}

/// Reads a row of these columns.
fn held(
    row: &Row<'_>,
    format: i64,
    sealer: &Sealer,
    host: &dyn Host,
    name: &str,
) -> Result<StoredLease, rusqlite::Error> {
    let epoch = row.get(0)?;
    let stored = match row.get(1)? {
        None => None,
        Some(who) => Some(StoredHolder {
            who,
            since: row.get(2)?,
            until: row.get(3)?,
            boot: row.get(4)?,
            expires: row.get(5)?,
            process: match (row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?) {
                (Some(host), Some(namespace), Some(pid), Some(started)) => Some(StoredProcess {
                    host,
                    namespace,
                    pid,
                    started,
                }),
                _ => None,
            },
        }),
    };
    let authenticity = if format < 3 {
        Authenticity::Unknown
    } else {
        match sealer.tagger_of(&row.get::<_, String>(10)?) {
            None => Authenticity::Unknown,
            Some(tagger)
                if tag(&tagger, name, epoch, stored.as_ref()) == row.get::<_, Tag>(11)? =>
            {
                Authenticity::Genuine
            }
            Some(_) => Authenticity::Altered,
        }
    };
    let holder = stored.as_ref().map(|stored| stored.holder(host));
    let is_elsewhere = stored
        .as_ref()
        .is_some_and(|stored| stored.expires_in_other_boot(host));
    Ok(StoredLease {
        epoch,
        holder,
        expires_in_other_boot: is_elsewhere,
        authenticity,
        stored,
    })
}

impl StoredHolder {
    /// Returns a lease that expires `lasts` from now.
    fn now(who: &str, lasts: Duration, owner: Owner, host: &dyn Host) -> StoredHolder {
        let process = match owner {
            Owner::ThisProcess => host.process(),
            Owner::NoProcess => None,
        };
        let process = process.map(|process| StoredProcess {
            host: process.host,
            namespace: process.namespace,
            pid: i64::from(process.pid),
            started: process.started.cast_signed(),
        });
        let taken = StoredHolder {
            who: who.into(),
            since: host.wall(),
            until: 0,
            boot: None,
            expires: None,
            process,
        };
        taken.with_expiry(lasts, host)
    }

    /// Returns the lease with its expiry `lasts` from now.
    fn with_expiry(self, lasts: Duration, host: &dyn Host) -> StoredHolder {
        let until = host
            .wall()
            .saturating_add(i64::try_from(lasts.as_secs()).unwrap_or(i64::MAX));
        let expires =
            i64::try_from(host.elapsed().saturating_add(lasts).as_millis()).unwrap_or(i64::MAX);
        StoredHolder {
            until,
            boot: Some(host.boot()),
            expires: Some(expires),
            ..self
        }
    }

    fn expires_in_other_boot(&self, host: &dyn Host) -> bool {
        self.boot.as_ref().is_some_and(|boot| *boot != host.boot())
    }

    fn holder(&self, host: &dyn Host) -> LeaseHolder {
        let expired = match (&self.boot, self.expires) {
            (Some(boot), Some(expires)) => {
                *boot == host.boot() && host.elapsed().as_millis() as i64 >= expires
            }
            // Older versions used only the wall clock.
            _ => host.wall() >= self.until,
        };
        // The boot of the row is that of the process, unless another process has extended the
        // lease.
        let liveness = self.process.as_ref().map_or(Liveness::Unknown, |process| {
            host.liveness(&Process {
                host: process.host.clone(),
                boot: self.boot.clone().unwrap_or_default(),
                namespace: process.namespace.clone(),
                pid: u32::try_from(process.pid).unwrap_or_default(),
                started: process.started.cast_unsigned(),
            })
        });
        LeaseHolder {
            who: self.who.clone(),
            since: self.since,
            until: self.until,
            liveness,
            expired,
        }
    }
}

/// Whether a lease ends with this process.
#[derive(Clone, Copy)]
pub(super) enum Owner {
    /// It ends at the latest with this process.
    ThisProcess,
    /// It ends only when it is given back or expires.
    NoProcess,
}

/// Gives the lease of an instance to `who`.
pub(super) fn grant(
    connection: &Connection,
    sealer: &Sealer,
    host: &dyn Host,
    (name, epoch): (&InstanceName, i64),
    (who, lasts): (&str, Duration),
    owner: Owner,
) -> Result<(), rusqlite::Error> {
    write(
        connection,
        sealer,
        name.as_str(),
        epoch,
        Some(&StoredHolder::now(who, lasts, owner, host)),
    )
}

/// Lets a lease expire `lasts` from now, in this boot. The recorded process stays.
pub(super) fn extend(
    connection: &Connection,
    sealer: &Sealer,
    host: &dyn Host,
    name: &InstanceName,
    held: StoredLease,
    lasts: Duration,
) -> Result<(), rusqlite::Error> {
    let stored = held.stored.map(|stored| stored.with_expiry(lasts, host));
    write(
        connection,
        sealer,
        name.as_str(),
        held.epoch,
        stored.as_ref(),
    )
}

/// Ends a lease.
pub(super) fn end(
    connection: &Connection,
    sealer: &Sealer,
    name: &str,
    epoch: i64,
) -> Result<(), rusqlite::Error> {
    write(connection, sealer, name, epoch, None)
}

/// Writes an unchanged row with a tag under another key.
pub(super) fn rewrite(
    connection: &Connection,
    sealer: &Sealer,
    name: &InstanceName,
    held: &StoredLease,
) -> Result<(), rusqlite::Error> {
    write(
        connection,
        sealer,
        name.as_str(),
        held.epoch,
        held.stored.as_ref(),
    )
}

fn write(
    connection: &Connection,
    sealer: &Sealer,
    name: &str,
    epoch: i64,
    stored: Option<&StoredHolder>,
) -> Result<(), rusqlite::Error> {
    let tagger = sealer.tagger();
    let process = stored.and_then(|stored| stored.process.as_ref());
    let sql = "INSERT OR REPLACE INTO leases (name, epoch, who, since, until, boot, expires, host, namespace, pid, started, \
               auth, mac) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
    connection.prepare_cached(sql)?.execute(params![
        name,
        epoch,
        stored.map(|stored| &*stored.who),
        stored.map(|stored| stored.since),
        stored.map(|stored| stored.until),
        stored.and_then(|stored| stored.boot.as_deref()),
        stored.and_then(|stored| stored.expires),
        process.map(|process| &*process.host),
        process.map(|process| &*process.namespace),
        process.map(|process| process.pid),
        process.map(|process| process.started),
        tagger.key(),
        tag(&tagger, name, epoch, stored),
    ])?;
    Ok(())
}

fn tag(tagger: &Tagger, name: &str, epoch: i64, stored: Option<&StoredHolder>) -> Tag {
    let row = tagger
        .row("lease")
        .text(name)
        .number(epoch)
        .number(i64::from(stored.is_some()));
    let Some(stored) = stored else {
        return row.finish();
    };
    let process = stored.process.as_ref();
    row.text(&stored.who)
        .number(stored.since)
        .number(stored.until)
        .text(stored.boot.as_deref().unwrap_or_default())
        .optional(stored.expires)
        .text(process.map_or("", |process| &process.host))
        .text(process.map_or("", |process| &process.namespace))
        .optional(process.map(|process| process.pid))
        .optional(process.map(|process| process.started))
        .finish()
}
