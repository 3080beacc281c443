//! `local/archive`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use blueprint::Value;

use crate::world::{World, spec, texts, warnings};

fn packed_names(path: &Path) -> Vec<String> {
    let zip = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    zip.file_names()
        .map(|name| name.unwrap().into_owned())
        .collect()
}

#[tokio::test]
async fn the_same_input_gives_the_same_archive() {
    let world = World::new();
    for (number, names) in [
        ("1", ["b/x.txt", "a.txt", "run.sh"]),
        ("2", ["run.sh", "a.txt", "b/x.txt"]),
    ] {
        for name in names {
            world.write(&format!("in{number}/{name}"), name);
        }
        fs::set_permissions(
            world.path(&format!("in{number}/run.sh")),
            fs::Permissions::from_mode(0o700),
        )
        .unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    for end in ["zip", "tar", "tar.gz"] {
        let mut made = Vec::new();
        for number in ["1", "2"] {
            let inputs = spec([
                ("path", format!("{number}.{end}").into()),
                ("root", format!("in{number}").into()),
                ("entries", spec([("extra/note", "n".into())])),
            ]);
            made.push(world.create("local/archive", &inputs).await.unwrap().fields);
            assert_eq!(
                made[0].get("sha256"),
                made[made.len() - 1].get("sha256"),
                "{end}"
            );
        }
        assert_eq!(
            fs::read(world.path(&format!("1.{end}"))).unwrap(),
            fs::read(world.path(&format!("2.{end}"))).unwrap()
        );
    }
    let mut zip = zip::ZipArchive::new(fs::File::open(world.path("1.zip")).unwrap()).unwrap();
    assert_eq!(
        packed_names(&world.path("1.zip")),
        ["a.txt", "b/x.txt", "extra/note", "run.sh"]
    );
    assert_eq!(
        zip.by_name("run.sh")
            .unwrap()
            .unix_mode()
            .map(|mode| mode & 0o777),
        Some(0o755)
    );
    assert_eq!(
        std::io::read_to_string(zip.by_name("extra/note").unwrap()).unwrap(),
        "n"
    );
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(
        fs::File::open(world.path("1.tar.gz")).unwrap(),
    ));
    let names: Vec<_> = tar
        .entries()
        .unwrap()
        .map(|entry| entry.unwrap().path().unwrap().display().to_string())
        .collect();
    assert_eq!(names, ["a.txt", "b/x.txt", "extra/note", "run.sh"]);
}

#[tokio::test]
async fn patterns_select_the_packed_files() {
    let world = World::new();
    for name in [
        "a.txt",
        "a.log",
        "sub/b.txt",
        "sub/deep/c.txt",
        "skip/d.txt",
        "out.zip",
    ] {
        world.write(&format!("in/{name}"), name);
    }
    let packed = async |fields: Vec<(&str, Value)>| {
        let all = [
            ("path", "in/out.zip".into()),
            ("root", "in".into()),
            ("overwrite", true.into()),
        ]
        .into_iter()
        .chain(fields);
        world
            .create("local/archive", &Value::map(all))
            .await
            .unwrap();
        packed_names(&world.path("in/out.zip"))
    };
    assert_eq!(
        packed(vec![]).await,
        [
            "a.log",
            "a.txt",
            "skip/d.txt",
            "sub/b.txt",
            "sub/deep/c.txt"
        ]
    );
    assert_eq!(
        packed(vec![("include", texts(&["*.txt"]))]).await,
        ["a.txt"]
    );
    assert_eq!(
        packed(vec![
            ("include", texts(&["**/*.txt"])),
            ("exclude", texts(&["skip/", "sub/deep"]))
        ])
        .await,
        ["a.txt", "sub/b.txt"]
    );
    assert_eq!(
        packed(vec![("include", texts(&["sub"]))]).await,
        ["sub/b.txt", "sub/deep/c.txt"]
    );
}

#[tokio::test]
async fn a_changed_archive_is_drift_and_a_changed_input_is_not() {
    let world = World::new();
    world.write("in/a", "1");
    let inputs = spec([("path", "a.tar".into()), ("root", "in".into())]);
    let made = world.create("local/archive", &inputs).await.unwrap();
    let seen = async || {
        let fields = world.fields("local/archive", &made, &inputs).await;
        ["sha256", "inputsSha256"].map(|field| fields.get(field) == made.fields.get(field))
    };
    assert_eq!(seen().await, [true, true]);
    world.write("in/a", "2");
    assert_eq!(seen().await, [true, true]);
    world
        .update("local/archive", &made, &inputs, &inputs)
        .await
        .unwrap();
    assert_eq!(seen().await, [false, true]);
    fs::remove_dir_all(world.path("in")).unwrap();
    assert_eq!(seen().await, [false, true]);
    let error = world
        .update("local/archive", &made, &inputs, &inputs)
        .await
        .unwrap_err();
    assert_eq!(
        error.field.as_ref().map(ToString::to_string).as_deref(),
        Some("root")
    );
}

#[tokio::test]
async fn invalid_archives_are_rejected_at_their_fields() {
    let world = World::new();
    let at = async |fields: Value| world.rejected("local/archive", &fields).await;
    assert_eq!(
        at(spec([("path", "a.rar".into()), ("root", ".".into())])).await,
        ["path"]
    );
    assert_eq!(at(spec([("path", "a.zip".into())])).await, [""]);
    assert_eq!(
        at(spec([
            ("path", "a.zip".into()),
            ("root", ".".into()),
            ("include", texts(&["ok", "a["]))
        ]))
        .await,
        ["include[1]"]
    );
}

#[tokio::test]
async fn links_to_folders_are_left_out_of_archives() {
    let world = World::new();
    world.write("in/a", "a");
    symlink(world.path("in"), world.path("in/loop")).unwrap();
    symlink("a", world.path("in/b")).unwrap();
    let made = world
        .create(
            "local/archive",
            &spec([("path", "x.zip".into()), ("root", "in".into())]),
        )
        .await
        .unwrap();
    assert_eq!(warnings(&made.diagnostics).len(), 1);
    assert_eq!(packed_names(&world.path("x.zip")), ["a", "b"]);
}

#[tokio::test]
async fn names_of_entries_are_checked_and_normalised_for_all_formats() {
    let world = World::new();
    let entries = |names: &[&str]| {
        Value::map(
            names
                .iter()
                .map(|name| (*name, Value::from("text")))
                .collect::<Vec<_>>(),
        )
    };
    let wrong = [
        &["../evil"][..],
        &["x/../../y"],
        &["x\\..\\..\\y"],
        &[""],
        &["/"],
        &["."],
        &["dir/"],
        &["a/./b", "a/b"],
        &["a//b", "a/b"],
        &["/a", "a"],
        &["a", "a/b"],
        &["a\0b"],
    ];
    for end in ["zip", "tar", "tar.gz"] {
        for names in wrong {
            let inputs = spec([
                ("path", format!("x.{end}").into()),
                ("entries", entries(names)),
            ]);
            let findings = world.rejected("local/archive", &inputs).await;
            assert!(!findings.is_empty(), "{end} {names:?}");
            assert!(
                world.create("local/archive", &inputs).await.is_err(),
                "{end} {names:?}"
            );
            assert!(!world.path(&format!("x.{end}")).exists());
        }
    }
    let inputs = spec([
        ("path", "x.zip".into()),
        ("entries", entries(&["./a/./b", "/c", "d..e", "..f"])),
    ]);
    assert!(world.rejected("local/archive", &inputs).await.is_empty());
    world.create("local/archive", &inputs).await.unwrap();
    assert_eq!(
        packed_names(&world.path("x.zip")),
        ["..f", "a/b", "c", "d..e"]
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn file_whose_name_is_not_utf8_is_an_error_unless_it_is_excluded() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new();
    world.write("in/a.txt", "a");
    let name = std::ffi::OsStr::from_bytes(b"n\xe9.log");
    fs::write(world.path("in").join(name), "x").unwrap();
    let mut inputs = vec![("path", Value::from("x.zip")), ("root", "in".into())];
    let refused = world
        .create("local/archive", &Value::map(inputs.clone()))
        .await;
    let message = refused.unwrap_err().message;
    assert!(message.contains("is not UTF-8"), "{message}");
    inputs.push(("exclude", texts(&["*.log"])));
    world
        .create("local/archive", &Value::map(inputs))
        .await
        .unwrap();
    assert_eq!(packed_names(&world.path("x.zip")), ["a.txt"]);
}
