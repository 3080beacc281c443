//! Diagnostics about the texts of scripts.

diag::codes! {
    SCRIPT = Error "cluster-script": "a script for the objects of a kind is not valid";
}
