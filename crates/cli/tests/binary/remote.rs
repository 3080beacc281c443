//! Tests of documents from a web server: as children, with files beside them, pinned, refused.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use crate::place::Place;

/// The files of a server: path, status, text.
type Files = Vec<(&'static str, u16, String)>;

/// Serves files until the test ends. Returns the address.
fn serve(files: Files) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().unwrap())
                .lines()
                .map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines.find(String::is_empty);
            let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
            let found = files.iter().find(|(one, ..)| *one == path);
            let (status, text) =
                found.map_or((404, ""), |(_, status, text)| (*status, text.as_str()));
            let length = text.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status} Word\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{text}"
            );
        }
    });
    address
}

const PART: &str = "version: 2023-04-20\nresources:\n  a: {type: test/data, spec: {input: '${utf8(file(\"../note.txt\"))}'}}\n\
                    exports:\n  note: {type: string, field: resources.a.spec.input}\n";

fn including(path: &str, metadata: &str) -> String {
    format!(
        "version: 2023-04-20\ninclude:\n  part:\n    path: {path}\n{metadata}exports:\n  note: {{type: string, field: children.part.note}}\n"
    )
}

#[test]
fn remote_document_is_deployed_with_files_relative_to_it() {
    let address = serve(vec![
        ("/a/main.yaml", 200, including("parts/part.yaml", "")),
        ("/a/parts/part.yaml", 200, PART.to_owned()),
        ("/a/note.txt", 200, "from afar".to_owned()),
    ]);
    let place = Place::with(
        "blueprint.yaml",
        &including(&format!("{address}/a/main.yaml"), ""),
    );
    place.write("note.txt", "of this machine");
    place.ends(0, &["deploy", "--yes"]);
    assert_eq!(
        place.ends(0, &["exports", "note"]).out.trim_end(),
        "from afar"
    );
    assert_eq!(
        place.ends(0, &["stage"]).last_line(),
        "0 to create, 0 to update, 0 to delete"
    );
}

#[test]
fn remote_document_reads_no_local_file() {
    let place = Place::new();
    place.write("note.txt", "of this machine");
    let file = place.path().join("note.txt");
    let reading = |path: &str| PART.replace("../note.txt", path);
    let address = serve(vec![
        ("/absolute.yaml", 200, reading(file.to_str().unwrap())),
        ("/beside.yaml", 200, reading("note.txt")),
        (
            "/scheme.yaml",
            200,
            reading(&format!("file://{}", file.display())),
        ),
    ]);
    for name in ["absolute", "beside", "scheme"] {
        place.write(
            "blueprint.yaml",
            including(&format!("{address}/{name}.yaml"), ""),
        );
        let staged = place.ends(1, &["stage"]);
        assert!(
            staged.err.contains("error[source-unreadable]"),
            "{name}: {}",
            staged.err
        );
        assert!(
            !format!("{}{}", staged.out, staged.err).contains("of this machine"),
            "{name}"
        );
    }
}

#[test]
fn unavailable_child_is_reported_at_the_include() {
    let address = serve(vec![
        (
            "/page.yaml",
            200,
            "<!doctype html><title>Sign in</title>".to_owned(),
        ),
        ("/closed.yaml", 403, String::new()),
        ("/part.yaml", 200, PART.to_owned()),
    ]);
    let place = Place::new();
    let wrong = format!(
        "    metadata: {{checksum: \"sha256:{}\"}}\n",
        "0".repeat(64)
    );
    for (name, metadata, code, words) in [
        (
            "page",
            "",
            "source-unreadable",
            "an HTML page with the title `Sign in`",
        ),
        ("closed", "", "source-unreadable", "403 Forbidden"),
        ("gone", "", "source-unreadable", "404 Not Found"),
        ("part", wrong.as_str(), "checksum-mismatch", "pinned"),
    ] {
        place.write(
            "blueprint.yaml",
            including(&format!("{address}/{name}.yaml"), metadata),
        );
        let validated = place.ends(1, &["validate"]);
        assert!(
            validated.err.contains(&format!("error[{code}]")),
            "{name}: {}",
            validated.err
        );
        assert!(validated.err.contains(words), "{name}: {}", validated.err);
        assert!(
            validated.err.contains("blueprint.yaml:4:11"),
            "{name}: {}",
            validated.err
        );
    }
    place.write(
        "blueprint.yaml",
        including("https://plain.example/../x.yaml", "").replace("https", "http"),
    );
    assert!(
        place
            .ends(1, &["validate"])
            .err
            .contains("over `https` only")
    );
}

/// Declarations that read this machine: data sources and resources.
const READING: [(&str, &str); 8] = [
    (
        "file",
        "datasources: {d: {type: local/file, filter: {field: path, operator: '=', search: FILE}, exports: {content: {type: string}}}}\nresources: {r: {type: std/value, spec: {input: '${datasources.d.content}'}}}\nexports: {note: {type: string, field: datasources.d.content}}\n",
    ),
    (
        "directory",
        "datasources: {d: {type: local/directory, filter: {field: path, operator: '=', search: FOLDER}, exports: {names: {type: array}}}}\nresources: {r: {type: std/value, spec: {input: '${datasources.d.names}'}}}\nexports: {note: {type: array, field: datasources.d.names}}\n",
    ),
    (
        "environment",
        "datasources: {d: {type: local/environment, filter: {field: name, operator: '=', search: HOME}, exports: {value: {type: string}}}}\nresources: {r: {type: std/value, spec: {input: '${datasources.d.value}'}}}\nexports: {note: {type: string, field: datasources.d.value}}\n",
    ),
    (
        "output",
        "datasources: {d: {type: local/command, filter: {field: command, operator: '=', search: 'cat FILE'}, exports: {stdout: {type: string}}}}\nresources: {r: {type: std/value, spec: {input: '${datasources.d.stdout}'}}}\nexports: {note: {type: string, field: datasources.d.stdout}}\n",
    ),
    (
        "copy",
        "resources: {r: {type: local/file, spec: {path: copy, source: FILE}}}\nexports: {note: {type: string, field: resources.r.spec.sha256}}\n",
    ),
    (
        "archive",
        "resources: {r: {type: local/archive, spec: {path: a.tar, root: FOLDER}}}\nexports: {note: {type: string, field: resources.r.spec.sha256}}\n",
    ),
    (
        "template",
        "resources: {r: {type: std/template, spec: {source: FILE, variables: {}}}}\nexports: {note: {type: string, field: resources.r.spec.rendered}}\n",
    ),
    (
        "command",
        "resources: {r: {type: local/command, spec: {create: 'cat FILE'}}}\nexports: {note: {type: string, field: resources.r.spec.stdout}}\n",
    ),
];

#[test]
fn remote_document_reads_this_machine_only_if_its_source_is_named() {
    let place = Place::new();
    place.write("notes/note.txt", "of this machine");
    let folder = place.path().join("notes");
    let text = |part: &str| {
        let part = part
            .replace("FILE", folder.join("note.txt").to_str().unwrap())
            .replace("FOLDER", folder.to_str().unwrap());
        format!("version: 2023-04-20\n{part}")
    };
    let paths = READING.map(|(name, _)| -> &str { Box::leak(format!("/m/{name}.yaml").into()) });
    let files = READING.iter().zip(paths);
    let address = serve(
        files
            .map(|((_, part), path)| (path, 200, text(part)))
            .collect(),
    );
    let include = |name: &str| {
        let part = including(&format!("{address}/m/{name}.yaml"), "");
        match name {
            "directory" => part.replace("type: string", "type: array"),
            _ => part,
        }
    };
    for (name, _) in READING {
        place.write("blueprint.yaml", include(name));
        let staged = place.ends(1, &["stage"]);
        let said = format!("{}{}", staged.out, staged.err);
        assert!(
            said.contains("a remote document cannot read") && !said.contains("of this machine\n"),
            "{name}: {said}"
        );
    }
    place.write(
        "cyan.toml",
        format!("[documents]\nlocal-access = [\"{address}/other\"]\n"),
    );
    place.ends(1, &["stage"]);
    place.write(
        "cyan.toml",
        format!("[documents]\nlocal-access = [\"{address}/m/\"]\n"),
    );
    for (name, _) in READING {
        place.write("blueprint.yaml", include(name));
        place.ends(0, &["stage"]);
    }
    place.ends(0, &["deploy", "--yes"]);
    assert_eq!(
        place.ends(0, &["exports", "note"]).out.trim_end(),
        "of this machine"
    );
    for wrong in ["\"x\"", "[\"modules\"]", "[\"https://\"]", "[1]"] {
        place.write(
            "cyan.toml",
            format!("[documents]\nlocal-access = {wrong}\n"),
        );
        let said = place.ends(1, &["validate"]).err;
        assert!(said.contains("must be a list of addresses"), "{said}");
    }
}
