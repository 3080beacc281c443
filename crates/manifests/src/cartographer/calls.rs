//! The names of the functions that lowered expressions call. A name in parentheses is internal.

/// Fills the tags of a text: the text, the fixed part of its context, the outputs that it reads.
pub(super) const FILL: &str = "(fill)";

/// Stamps a whole template: the template, the fixed part of its context, the outputs that it reads.
pub(super) const STAMP: &str = "(stamp)";

/// Reads the output of an object: the template, the object, and what a deployment passes on.
pub(super) const OUTPUT: &str = "(output)";

/// Says why an object is not ready: the template, the object.
pub(super) const READY: &str = "(ready)";

/// Says why the newest run of a series is not ready: the template, all fields of the resource.
pub(super) const RUN_READY: &str = "(run-ready)";

/// Reads the outputs of a runnable: the run template, the newest run that succeeded.
pub(super) const RUN_OUTPUTS: &str = "(run-outputs)";
