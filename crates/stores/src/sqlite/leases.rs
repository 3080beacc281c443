//! Rows of leases: who may write to an instance, and until when. All SQL about leases is here.
//!
//! A row says in which boot, and when in it (`CLOCK_BOOTTIME`), the lease runs out, and which process holds it. `since` and
//! `until` are wall-clock times for people. A row stays when its lease ends, so that epochs go on growing.

use std::time::Duration;

use blueprint::Name;
use rusqlite::{Connection, OptionalExtension, Row, params};
use state::{Host, InstanceName, LeaseHolder, Liveness, Process};

/// What a file lacks whose leases were judged by wall-clock time.
pub(super) const ADD_PROCESSES: &str = "
ALTER TABLE leases ADD COLUMN boot TEXT;
ALTER TABLE leases ADD COLUMN expires INTEGER;
ALTER TABLE leases ADD COLUMN host TEXT;
ALTER TABLE leases ADD COLUMN namespace TEXT;
ALTER TABLE leases ADD COLUMN pid INTEGER;
ALTER TABLE leases ADD COLUMN started INTEGER;
";

const SELECT: &str = "SELECT name, epoch, who, since, until, boot, expires, host, namespace, pid, started FROM leases";
/// The same of a file that an older version made, and that nobody has written to since.
const SELECT_OLD: &str = "SELECT name, epoch, who, since, until, NULL, NULL, NULL, NULL, NULL, NULL FROM leases";

/// A row.
pub(super) struct Held {
    pub(super) instance: InstanceName,
    pub(super) epoch: i64,
    pub(super) holder: Option<LeaseHolder>,
    /// When it runs out is counted in a boot that is not this one.
    pub(super) is_elsewhere: bool,
}

/// The lease of an instance.
pub(super) fn held(
    connection: &Connection,
    instance: &InstanceName,
    host: &dyn Host,
) -> Result<Option<Held>, rusqlite::Error> {
    let select = format!("{} WHERE name = ?1", select(connection)?);
    connection.prepare_cached(&select)?.query_row([instance.as_str()], |row| read(row, host)).optional()
}

/// A lease that somebody holds, of whatever instance.
pub(super) fn anyone(connection: &Connection, host: &dyn Host) -> Result<Option<Held>, rusqlite::Error> {
    let select = format!("{} WHERE who IS NOT NULL", select(connection)?);
    let mut statement = connection.prepare(&select)?;
    let rows = statement.query_map([], |row| read(row, host))?;
    for row in rows {
        let held = row?;
        if held.holder.as_ref().is_some_and(LeaseHolder::holds) {
            return Ok(Some(held));
        }
    }
    Ok(None)
}

/// Gives the lease of an instance to this process.
pub(super) fn take(
    connection: &Connection,
    instance: &InstanceName,
    epoch: i64,
    who: &str,
    lasts: Duration,
    host: &dyn Host,
) -> Result<(), rusqlite::Error> {
    let sql = "INSERT OR REPLACE INTO leases (name, epoch, who, since, until, boot, expires, host, namespace, pid, started) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
    let process = host.process();
    connection.prepare_cached(sql)?.execute(params![
        instance.as_str(),
        epoch,
        who,
        host.wall(),
        until(host, lasts),
        &*host.boot(),
        expires(host, lasts),
        process.as_ref().map(|process| process.host.to_string()),
        process.as_ref().map(|process| process.namespace.to_string()),
        process.as_ref().map(|process| process.pid),
        process.as_ref().map(|process| process.started.cast_signed()),
    ])?;
    Ok(())
}

/// Lets a lease run out so long from now, in this boot.
pub(super) fn renew(
    connection: &Connection,
    instance: &InstanceName,
    lasts: Duration,
    host: &dyn Host,
) -> Result<(), rusqlite::Error> {
    let sql = "UPDATE leases SET until = ?2, boot = ?3, expires = ?4 WHERE name = ?1";
    let (until, expires) = (until(host, lasts), expires(host, lasts));
    connection.prepare_cached(sql)?.execute(params![instance.as_str(), until, &*host.boot(), expires])?;
    Ok(())
}

/// Counts from now on, in this boot, when a lease runs out that was given elsewhere. Its process stays as it is recorded.
pub(super) fn count_from_now(
    connection: &Connection,
    instance: &InstanceName,
    lasts: Duration,
    host: &dyn Host,
) -> Result<(), rusqlite::Error> {
    let sql = "UPDATE leases SET boot = ?2, expires = ?3 WHERE name = ?1";
    connection.prepare_cached(sql)?.execute(params![instance.as_str(), &*host.boot(), expires(host, lasts)])?;
    Ok(())
}

/// Ends the lease of an instance.
pub(super) fn end(connection: &Connection, instance: &InstanceName) -> Result<(), rusqlite::Error> {
    let sql = format!("{END} WHERE name = ?1");
    connection.prepare_cached(&sql)?.execute([instance.as_str()]).map(|_| ())
}

/// Ends all of them.
pub(super) fn end_all(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.execute(END, []).map(|_| ())
}

const END: &str = "UPDATE leases SET who = NULL, since = NULL, until = NULL, boot = NULL, expires = NULL, host = NULL, \
                   namespace = NULL, pid = NULL, started = NULL";

fn select(connection: &Connection) -> Result<&'static str, rusqlite::Error> {
    let sql = "SELECT count(*) FROM pragma_table_info('leases') WHERE name = 'started'";
    let told: i64 = connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(if told > 0 { SELECT } else { SELECT_OLD })
}

fn read(row: &Row<'_>, host: &dyn Host) -> Result<Held, rusqlite::Error> {
    let instance = InstanceName::from_free_text(&row.get::<_, String>(0)?);
    let epoch = row.get(1)?;
    let Some(who) = row.get::<_, Option<Name>>(2)? else {
        return Ok(Held { instance, epoch, holder: None, is_elsewhere: false });
    };
    let (since, until) = (row.get(3)?, row.get(4)?);
    let (boot, expires) = (row.get::<_, Option<String>>(5)?, row.get::<_, Option<i64>>(6)?);
    let is_elsewhere = boot.as_deref() != Some(&*host.boot());
    let expired = match (&boot, expires) {
        (Some(_), Some(expires)) => !is_elsewhere && host.elapsed().as_millis() as i64 >= expires,
        // An older version knew no other clock.
        _ => host.wall() >= until,
    };
    // A process counts time in the boot that it runs in, unless somebody else counts for it.
    let process = match (row.get::<_, Option<Name>>(7)?, row.get::<_, Option<Name>>(8)?, row.get(9)?, row.get(10)?) {
        (Some(host), Some(namespace), Some(pid), Some::<i64>(started)) => {
            let boot = boot.as_deref().unwrap_or_default().into();
            Some(Process { host, boot, namespace, pid, started: started.cast_unsigned() })
        }
        _ => None,
    };
    let liveness = process.map_or(Liveness::Unknown, |process| host.liveness(&process));
    let holder = LeaseHolder { who, since, until, liveness, expired };
    Ok(Held { instance, epoch, holder: Some(holder), is_elsewhere: is_elsewhere && boot.is_some() })
}

fn until(host: &dyn Host, lasts: Duration) -> i64 {
    host.wall().saturating_add(i64::try_from(lasts.as_secs()).unwrap_or(i64::MAX))
}

fn expires(host: &dyn Host, lasts: Duration) -> i64 {
    i64::try_from(host.elapsed().saturating_add(lasts).as_millis()).unwrap_or(i64::MAX)
}
