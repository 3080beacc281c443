//! Which opaque data calls get, and which stays in the state.

use super::one_box;
use super::scripted::{Script, Setup};
use crate::{apply_well, lately};

fn created() -> Script {
    Script { applied_private: "created".into(), ..Script::default() }
}

#[test]
fn private_data_that_is_planned_for_a_call_is_not_recorded_without_it() {
    lately(async {
        let setup = Setup::new("\"plans\": true");
        setup.answer(created());
        apply_well(&setup.harness, Some(&one_box("note: first")), 1).await;
        let only_recorded = vec!["note".into()];
        setup.answer(Script { planned_private: "planned".into(), only_recorded, ..created() });
        apply_well(&setup.harness, Some(&one_box("note: second")), 1).await;
        assert_eq!(setup.calls(), ["plan-update a in -: note first, private created"]);
        assert_eq!(setup.private_of("a").await, "created");
    });
}

#[test]
fn private_data_of_an_answer_takes_the_place_of_what_was_recorded_and_planned() {
    lately(async {
        let setup = Setup::new("\"plans\": true");
        setup.answer(created());
        apply_well(&setup.harness, Some(&one_box("note: first")), 1).await;
        setup.answer(Script { planned_private: "planned".into(), ..Script::default() });
        apply_well(&setup.harness, Some(&one_box("note: second")), 1).await;
        let expected =
            ["plan-update a in -: note first, private created", "update a in -: note first, private planned"];
        assert_eq!(setup.calls(), expected);
        assert_eq!(setup.private_of("a").await, "-");
    });
}

#[test]
fn create_of_a_replacement_does_not_get_the_private_data_of_the_old_object() {
    lately(async {
        let setup = Setup::new("\"plans\": true");
        setup.answer(created());
        apply_well(&setup.harness, Some(&one_box("zone: z1")), 1).await;
        // The provider says only when it is asked about an update that the object must be replaced.
        let replaces = vec!["zone".into()];
        setup.answer(Script { planned_private: "planned".into(), replaces, ..Script::default() });
        apply_well(&setup.harness, Some(&one_box("zone: z2")), 1).await;
        let expected = [
            "plan-update a in -: note -, private created",
            "delete a in -: note -, private created",
            "create a in -: note -, private -",
        ];
        assert_eq!(setup.calls(), expected);
        assert_eq!(setup.private_of("a").await, "-");
    });
}
