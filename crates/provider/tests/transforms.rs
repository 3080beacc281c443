//! The conformance suite for transforms reports violations of the contract.

use std::sync::Arc;

use blueprint::wire::WireDocument;
use provider::{
    Applied, ApplyRequest, BoxFuture, Call, Catalog, Configuration, Configured, ErrorKind,
    Provider, ProviderError, ReadOutcome, ReadRequest, Session, Transform, TransformError,
    configured,
};

const CATALOG: &str = r#"{"format": 1, "namespace": "made", "transforms": {"made-1": {"abstractTypes": {
    "made/thing": {"fields": {"name": {"kind": "string", "required": true}}}}}}}"#;

/// A provider with this transform.
struct TransformProvider(Arc<Catalog>, Option<FnTransform>);

struct FnTransform(fn(WireDocument) -> Result<WireDocument, TransformError>);

impl Transform for FnTransform {
    fn transform(
        &self,
        document: WireDocument,
    ) -> BoxFuture<'_, Result<WireDocument, TransformError>> {
        let given = (self.0)(document);
        Box::pin(async move { given })
    }
}

impl Provider for TransformProvider {
    fn catalog(&self) -> &Arc<Catalog> {
        &self.0
    }

    fn transform(&self, _: &str) -> Option<&dyn Transform> {
        self.1.as_ref().map(|does| does as &dyn Transform)
    }

    fn configure(
        self: Arc<Self>,
        _: Configuration,
    ) -> BoxFuture<'static, Result<Configured, ProviderError>> {
        configured(self)
    }
}

impl Session for TransformProvider {
    fn read<'a>(
        &'a self,
        _: &'a Call,
        _: ReadRequest<'a>,
    ) -> BoxFuture<'a, Result<ReadOutcome, ProviderError>> {
        Box::pin(async { Ok(ReadOutcome::Absent) })
    }

    fn apply<'a>(
        &'a self,
        _: &'a Call,
        _: ApplyRequest<'a>,
    ) -> BoxFuture<'a, Result<Applied, ProviderError>> {
        Box::pin(async {
            Err(ProviderError::new(
                ErrorKind::Permanent,
                "nothing is managed here",
            ))
        })
    }
}

fn failures(does: Option<fn(WireDocument) -> Result<WireDocument, TransformError>>) -> Vec<String> {
    let catalog = Arc::new(provider::read_catalog(CATALOG).expect("the catalogue is in order"));
    let offers = TransformProvider(catalog, does.map(FnTransform));
    use futures::FutureExt as _;
    contract_tests::provider::check_transforms(&offers)
        .now_or_never()
        .expect("nothing waits")
}

/// Replaces abstract resources by the result of `make`.
fn with(
    document: WireDocument,
    make: impl Fn(&blueprint::Resource) -> blueprint::Resource,
) -> Result<WireDocument, TransformError> {
    provider::transform::each_resource(document, |name, resource| {
        let is_abstract = resource.type_name.item.as_ref() == "made/thing";
        Ok(is_abstract.then(|| vec![(name.clone(), make(resource))]))
    })
}

#[test]
fn a_correct_transform_passes() {
    let sound = |document| {
        with(document, |it| {
            provider::transform::derived_resource(it, "made/real", Vec::new())
        })
    };
    assert_eq!(failures(Some(sound)), Vec::<String>::new());
}

#[test]
fn each_violation_of_the_contract_is_named() {
    let said = |does: fn(WireDocument) -> Result<WireDocument, TransformError>, words: &str| {
        let failures = failures(Some(does));
        assert!(
            failures.iter().any(|failure| failure.contains(words)),
            "{failures:?}"
        );
    };
    assert!(
        failures(None)
            .iter()
            .any(|failure| failure.contains("does not carry it out"))
    );
    said(Ok, "an abstract resource is left");
    said(|_| Err(TransformError::whole("no")), "is refused");
    said(
        |document| {
            with(document, |it| blueprint::Resource {
                span: diag::Span::NONE,
                ..provider::transform::derived_resource(it, "made/real", Vec::new())
            })
        },
        "elements that are not abstract have changed",
    );
    said(
        |mut document| {
            document.resources.reverse();
            Ok(document)
        },
        "not given back as it is",
    );
}
