//! What a document stands in beside its own text.

/// What a document stands in beside its own text: what is known of its language, and files that are given along with it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The dialect that it is taken to be in where its text does not say; none where nobody knows.
    pub dialect: Option<&'static str>,
    /// Another document includes it.
    pub is_child: bool,
}

impl Surroundings {
    /// Nothing.
    pub const NONE: Surroundings = Surroundings { dialect: None, is_child: false };

    /// What a child of that name stands in.
    pub fn inside(&self, _child: &str) -> Surroundings {
        Surroundings { is_child: true, ..self.clone() }
    }
}
