//! The types of the owners, field by field: what exists in the navigation view, and what is printed
//! in the serialised view. Parts of a status that templates hardly read are data.

use jsonpath::{FieldShape, StructShape, ValueShape};

use ValueShape::{Data, Int, List, Map, Opaque, Optional, Struct, Text};

const fn optional(name: &'static str, code_name: &'static str, shape: ValueShape) -> FieldShape {
    FieldShape::optional(name, code_name, shape)
}

const fn always(name: &'static str, code_name: &'static str, shape: ValueShape) -> FieldShape {
    FieldShape::always(name, code_name, shape)
}

/// The fields that stand before the metadata of every object.
static TYPE_META: StructShape = StructShape {
    fields: &[
        optional("kind", "Kind", Text),
        optional("apiVersion", "APIVersion", Text),
    ],
};

static OWNER_REFERENCE: StructShape = StructShape {
    fields: &[
        always("apiVersion", "APIVersion", Text),
        always("kind", "Kind", Text),
        always("name", "Name", Text),
        always("uid", "UID", Text),
        optional("controller", "Controller", Optional(&Data)),
        optional("blockOwnerDeletion", "BlockOwnerDeletion", Optional(&Data)),
    ],
};

static METADATA: StructShape = StructShape {
    fields: &[
        optional("name", "Name", Text),
        optional("generateName", "GenerateName", Text),
        optional("namespace", "Namespace", Text),
        optional("selfLink", "SelfLink", Text),
        optional("uid", "UID", Text),
        optional("resourceVersion", "ResourceVersion", Text),
        optional("generation", "Generation", Int),
        optional("creationTimestamp", "CreationTimestamp", Opaque),
        optional("deletionTimestamp", "DeletionTimestamp", Optional(&Data)),
        optional(
            "deletionGracePeriodSeconds",
            "DeletionGracePeriodSeconds",
            Optional(&Data),
        ),
        optional("labels", "Labels", Map(&Text)),
        optional("annotations", "Annotations", Map(&Text)),
        optional(
            "ownerReferences",
            "OwnerReferences",
            List(&Struct(&OWNER_REFERENCE)),
        ),
        optional("finalizers", "Finalizers", List(&Text)),
        optional("managedFields", "ManagedFields", List(&Data)),
    ],
};

static CONDITION: StructShape = StructShape {
    fields: &[
        always("type", "Type", Text),
        always("status", "Status", Text),
        optional("observedGeneration", "ObservedGeneration", Int),
        always("lastTransitionTime", "LastTransitionTime", Opaque),
        always("reason", "Reason", Text),
        always("message", "Message", Text),
    ],
};

static OBJECT_REFERENCE: StructShape = StructShape {
    fields: &[
        optional("kind", "Kind", Text),
        optional("namespace", "Namespace", Text),
        optional("name", "Name", Text),
        optional("apiVersion", "APIVersion", Text),
    ],
};

static OWNER_STATUS: StructShape = StructShape {
    fields: &[
        optional("observedGeneration", "ObservedGeneration", Int),
        optional("conditions", "Conditions", List(&Struct(&CONDITION))),
        optional("resources", "Resources", List(&Data)),
    ],
};

static OWNER_PARAM: StructShape = StructShape {
    fields: &[always("name", "Name", Text), always("value", "Value", Data)],
};

static GIT_REF: StructShape = StructShape {
    fields: &[
        optional("branch", "Branch", Optional(&Text)),
        optional("tag", "Tag", Optional(&Text)),
        optional("commit", "Commit", Optional(&Text)),
    ],
};

static GIT: StructShape = StructShape {
    fields: &[
        optional("url", "URL", Optional(&Text)),
        optional("ref", "Ref", Optional(&Struct(&GIT_REF))),
    ],
};

static SOURCE: StructShape = StructShape {
    fields: &[
        optional("git", "Git", Optional(&Struct(&GIT))),
        optional("image", "Image", Optional(&Text)),
        optional("subPath", "Subpath", Optional(&Text)),
    ],
};

static FIELD_REF: StructShape = StructShape {
    fields: &[
        optional("apiVersion", "APIVersion", Text),
        always("fieldPath", "FieldPath", Text),
    ],
};

static RESOURCE_FIELD_REF: StructShape = StructShape {
    fields: &[
        optional("containerName", "ContainerName", Text),
        always("resource", "Resource", Text),
        optional("divisor", "Divisor", Opaque),
    ],
};

static LOCAL_REFERENCE: StructShape = StructShape {
    fields: &[optional("name", "Name", Text)],
};

static KEY_REF: StructShape = StructShape {
    fields: &[
        always("", "LocalObjectReference", Struct(&LOCAL_REFERENCE)).embedded(),
        always("key", "Key", Text),
        optional("optional", "Optional", Optional(&Data)),
    ],
};

static VALUE_FROM: StructShape = StructShape {
    fields: &[
        optional("fieldRef", "FieldRef", Optional(&Struct(&FIELD_REF))),
        optional(
            "resourceFieldRef",
            "ResourceFieldRef",
            Optional(&Struct(&RESOURCE_FIELD_REF)),
        ),
        optional(
            "configMapKeyRef",
            "ConfigMapKeyRef",
            Optional(&Struct(&KEY_REF)),
        ),
        optional("secretKeyRef", "SecretKeyRef", Optional(&Struct(&KEY_REF))),
    ],
};

static ENV_VAR: StructShape = StructShape {
    fields: &[
        always("name", "Name", Text),
        optional("value", "Value", Text),
        optional("valueFrom", "ValueFrom", Optional(&Struct(&VALUE_FROM))),
    ],
};

static BUILD: StructShape = StructShape {
    fields: &[optional("env", "Env", List(&Struct(&ENV_VAR)))],
};

static RESOURCES: StructShape = StructShape {
    fields: &[
        optional("limits", "Limits", Map(&Opaque)),
        optional("requests", "Requests", Map(&Opaque)),
    ],
};

static CLAIM_REFERENCE: StructShape = StructShape {
    fields: &[
        always("apiVersion", "APIVersion", Text),
        always("kind", "Kind", Text),
        always("name", "Name", Text),
    ],
};

static SERVICE_CLAIM: StructShape = StructShape {
    fields: &[
        always("name", "Name", Text),
        optional("ref", "Ref", Optional(&Struct(&CLAIM_REFERENCE))),
    ],
};

static WORKLOAD_SPEC: StructShape = StructShape {
    fields: &[
        optional("params", "Params", List(&Struct(&OWNER_PARAM))),
        optional("source", "Source", Optional(&Struct(&SOURCE))),
        optional("build", "Build", Struct(&BUILD)),
        optional("env", "Env", List(&Struct(&ENV_VAR))),
        optional("image", "Image", Optional(&Text)),
        optional("resources", "Resources", Optional(&Struct(&RESOURCES))),
        optional("serviceAccountName", "ServiceAccountName", Text),
        optional(
            "serviceClaims",
            "ServiceClaims",
            List(&Struct(&SERVICE_CLAIM)),
        ),
    ],
};

static WORKLOAD_STATUS: StructShape = StructShape {
    fields: &[
        always("", "OwnerStatus", Struct(&OWNER_STATUS)).embedded(),
        optional(
            "supplyChainRef",
            "SupplyChainRef",
            Struct(&OBJECT_REFERENCE),
        ),
    ],
};

static WORKLOAD_FIELDS: StructShape = StructShape {
    fields: &[
        always("", "TypeMeta", Struct(&TYPE_META)).embedded(),
        always("metadata", "ObjectMeta", Struct(&METADATA)).embedded(),
        always("spec", "Spec", Struct(&WORKLOAD_SPEC)),
        optional("status", "Status", Struct(&WORKLOAD_STATUS)),
    ],
};

/// A Workload.
pub(crate) static WORKLOAD: ValueShape = Struct(&WORKLOAD_FIELDS);

static DELIVERABLE_SPEC: StructShape = StructShape {
    fields: &[
        optional("params", "Params", List(&Struct(&OWNER_PARAM))),
        optional("source", "Source", Optional(&Struct(&SOURCE))),
        optional("serviceAccountName", "ServiceAccountName", Text),
    ],
};

static DELIVERABLE_STATUS: StructShape = StructShape {
    fields: &[
        always("", "OwnerStatus", Struct(&OWNER_STATUS)).embedded(),
        optional("deliveryRef", "DeliveryRef", Struct(&OBJECT_REFERENCE)),
    ],
};

static DELIVERABLE_FIELDS: StructShape = StructShape {
    fields: &[
        always("", "TypeMeta", Struct(&TYPE_META)).embedded(),
        always("metadata", "ObjectMeta", Struct(&METADATA)).embedded(),
        always("spec", "Spec", Struct(&DELIVERABLE_SPEC)),
        optional("status", "Status", Struct(&DELIVERABLE_STATUS)),
    ],
};

/// A Deliverable.
pub(crate) static DELIVERABLE: ValueShape = Struct(&DELIVERABLE_FIELDS);

static TEMPLATE_REFERENCE: StructShape = StructShape {
    fields: &[optional("kind", "Kind", Text), always("name", "Name", Text)],
};

static RESOURCE_TYPE: StructShape = StructShape {
    fields: &[
        optional("apiVersion", "APIVersion", Text),
        optional("kind", "Kind", Text),
    ],
};

static RESOURCE_SELECTOR: StructShape = StructShape {
    fields: &[
        always("resource", "Resource", Struct(&RESOURCE_TYPE)),
        always("matchingLabels", "MatchingLabels", Map(&Text)),
    ],
};

static RETENTION_POLICY: StructShape = StructShape {
    fields: &[
        always("maxFailedRuns", "MaxFailedRuns", Int),
        always("maxSuccessfulRuns", "MaxSuccessfulRuns", Int),
    ],
};

static RUNNABLE_SPEC: StructShape = StructShape {
    fields: &[
        always(
            "runTemplateRef",
            "RunTemplateRef",
            Struct(&TEMPLATE_REFERENCE),
        ),
        optional(
            "selector",
            "Selector",
            Optional(&Struct(&RESOURCE_SELECTOR)),
        ),
        optional("inputs", "Inputs", Map(&Data)),
        optional("serviceAccountName", "ServiceAccountName", Text),
        optional(
            "retentionPolicy",
            "RetentionPolicy",
            Struct(&RETENTION_POLICY),
        ),
    ],
};

static RUNNABLE_STATUS: StructShape = StructShape {
    fields: &[
        optional("observedGeneration", "ObservedGeneration", Int),
        optional("conditions", "Conditions", List(&Struct(&CONDITION))),
        optional("outputs", "Outputs", Map(&Data)),
    ],
};

static RUNNABLE_FIELDS: StructShape = StructShape {
    fields: &[
        always("", "TypeMeta", Struct(&TYPE_META)).embedded(),
        always("metadata", "ObjectMeta", Struct(&METADATA)).embedded(),
        always("spec", "Spec", Struct(&RUNNABLE_SPEC)),
        optional("status", "Status", Struct(&RUNNABLE_STATUS)),
    ],
};

/// A Runnable.
pub(crate) static RUNNABLE: ValueShape = Struct(&RUNNABLE_FIELDS);
