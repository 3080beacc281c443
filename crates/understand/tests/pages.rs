//! The examples on the page of each code of the checks have exactly the marked diagnostics.

#[expect(dead_code, reason = "this file uses a part")]
mod checking;

use checking::check_text;

#[test]
fn examples_of_every_page_have_the_marked_diagnostics() {
    let mut wrong = Vec::new();
    let mut blocks = 0;
    for code in understand::check::codes::CODES {
        assert!(
            code.page.starts_with(&format!("# {}\n", code.name)),
            "the page of {} must begin with its name",
            code.name
        );
        let mut marked = false;
        // Tests of crates that can read other documents run these examples.
        if code.page.contains("```yaml file=") {
            continue;
        }
        for block in code.page.split("```yaml blueprint\n").skip(1) {
            let text = block.split("```").next().unwrap_or_default();
            blocks += 1;
            let mut wanted: Vec<String> = Vec::new();
            for (at, line) in text.lines().enumerate() {
                let mark = line
                    .rsplit_once("# ")
                    .and_then(|(_, mark)| mark.split_once(": "));
                if let Some((severity @ ("error" | "warning" | "note"), name)) = mark {
                    wanted.push(format!("{} {severity} {name}", at + 1));
                    marked |= name == code.name;
                }
            }
            let checked = check_text("page.yaml", text);
            let mut found: Vec<String> = checked
                .diagnostics
                .iter()
                .map(|diagnostic| {
                    let span = diagnostic.span();
                    let line = checked
                        .files
                        .get(span.file)
                        .map_or(0, |file| file.position(span.start).line);
                    format!(
                        "{line} {} {}",
                        diagnostic.severity.word(),
                        diagnostic.code.name
                    )
                })
                .collect();
            wanted.sort();
            found.sort();
            if wanted != found {
                wrong.push(format!("{}: wanted {wanted:?}, found {found:?}", code.name));
            }
        }
        // Codes that appear only at stage have examples that other tests run, or examples in text.
        let run_elsewhere = ["```yaml blueprint stage\n", "```yaml hot\n", "```text\n"];
        let elsewhere = run_elsewhere.iter().any(|fence| code.page.contains(fence));
        if !marked && !elsewhere {
            wrong.push(format!("{}: no example shows it", code.name));
        }
    }
    assert!(blocks > 50, "only {blocks} examples");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
