//! Diagnostics that only manifests cause.

diag::codes! {
    NOT_A_MANIFEST = Error "not-a-manifest": "a tree is no object of Kubernetes";
    NEEDS_RENDERING = Error "needs-rendering": "a chart or a kustomization is rendered first";
    GENERATED_NAME = Error "generated-name": "an object has `generateName` and no name";
    NOT_JSON = Error "not-json": "a value that JSON cannot express";
    KEY_CONVERTED = Warning "key-converted": "a key of a map is read as another text";
}
