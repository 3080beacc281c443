//! A cluster, and which function answers which request.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::body::{object_of, required_object};
use crate::consequences::settle;
use crate::deleting::{
    DeletionPolicy, DeletionProgress, DeletionSettings, after_deletion, begin_deletion,
};
use crate::discovery;
use crate::failure::RefusedRequest;
use crate::kinds::{KindOrigin, KindScope, StatusForm, guessed_kind};
use crate::naming::ObjectAddress;
use crate::object::{meta_list, meta_text};
use crate::openapi;
use crate::options::{ClusterOptions, UnknownKinds};
use crate::patching::patch;
use crate::reading::{filter_of, list, read, written_list};
use crate::request::{ApiMethod, ApiRequest, ApiRoute, ApiUser, Commitment, ObjectRoute};
use crate::reviews::answer_review;
use crate::scaling::scale_answer;
use crate::state::ClusterState;
use crate::tables::TableMaker;
use crate::tokens::{issue, user_of_token};
use crate::views::{ApiResponse, ObjectView};
use crate::watching::{BookmarkWish, WatchRequest, WatchStart, watch};
use crate::writing::{
    ChangedPart, RequestTarget, StatedObject, WrittenObject, change, create, in_version,
};

/// The namespaces that a new cluster has.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// A cluster in this process. Copies are the same cluster.
#[derive(Clone)]
pub struct LocalCluster(Arc<Mutex<ClusterState>>);

impl fmt::Debug for LocalCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalCluster").finish()
    }
}

impl LocalCluster {
    /// A cluster with the kinds and namespaces that every cluster has.
    pub fn new(options: ClusterOptions) -> LocalCluster {
        let mut state = ClusterState::new(options);
        for name in NAMESPACES {
            add_namespace(&mut state, name);
        }
        settle(&mut state);
        LocalCluster(Arc::new(Mutex::new(state)))
    }

    /// Answers a request. What the cluster refuses is an answer, too: an object `Status`.
    pub fn answer(&self, request: &ApiRequest) -> ApiResponse {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self.routed(&mut state, request);
        answer.unwrap_or_else(|refused| {
            ApiResponse::json(refused.code, &refused.status()).with_warnings(refused.warnings)
        })
    }

    /// The account of a token of this cluster. `None` if the token is unknown or expired, or its
    /// account is gone.
    pub fn user_of_token(&self, token: &str) -> Option<ApiUser> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        user_of_token(&state, token)
    }

    fn routed(
        &self,
        state: &mut ClusterState,
        request: &ApiRequest,
    ) -> Result<ApiResponse, RefusedRequest> {
        let route = ApiRoute::of_path(&request.path);
        let document = match &route {
            ApiRoute::Objects(route) => return self.objects(state, route, request),
            _ if request.method != ApiMethod::Get => {
                return Err(RefusedRequest::no_such_resource());
            }
            ApiRoute::Health => {
                return Ok(ApiResponse::Whole {
                    status: 200,
                    content_type: "text/plain",
                    body: "ok".into(),
                    warnings: Vec::new(),
                });
            }
            ApiRoute::Version => discovery::version_document(),
            ApiRoute::CoreVersions => discovery::core_versions(),
            ApiRoute::Groups => discovery::groups(&state.kinds),
            ApiRoute::Group(name) => discovery::group(&state.kinds, name)?,
            ApiRoute::Resources { group, version } => {
                discovery::resources(&state.kinds, group, version)?
            }
            ApiRoute::OpenApiIndex => openapi::index(&state.kinds),
            ApiRoute::OpenApi { group, version } => openapi::document(state, group, version)?,
            ApiRoute::Unknown => return Err(RefusedRequest::no_such_resource()),
        };
        Ok(ApiResponse::json(200, &document))
    }

    fn objects(
        &self,
        state: &mut ClusterState,
        route: &ObjectRoute,
        request: &ApiRequest,
    ) -> Result<ApiResponse, RefusedRequest> {
        let (target, warnings) = target_of(state, route, request)?;
        let view = ObjectView::accepted(&request.accept)?;
        let verb = verb_of(route, request)?;
        let name = route.name.as_deref();
        match (name, route.subresource.as_deref()) {
            (Some(name), Some(subresource)) => {
                subresource_answer(state, &target, name, subresource, request, view)
            }
            _ if !target.kind.can(verb) => Err(RefusedRequest::method_not_allowed(
                &target.kind.resource,
                verb,
            )),
            (Some(name), None) => match request.method {
                ApiMethod::Get => read(state, &target, name, view),
                ApiMethod::Put => put(state, &target, name, ChangedPart::Object, request, view),
                ApiMethod::Patch => {
                    patched(state, &target, name, ChangedPart::Object, request, view)
                }
                ApiMethod::Delete => delete(state, &target, name, request),
                ApiMethod::Post => Err(RefusedRequest::method_not_allowed(
                    &target.kind.resource,
                    "create",
                )),
            },
            (None, _) => match request.method {
                ApiMethod::Get if verb == "watch" => self.watched(state, &target, request, view),
                ApiMethod::Get => list(state, &target, request, view),
                ApiMethod::Post => post(state, &target, request, view),
                ApiMethod::Delete => delete_all(state, &target, request, view),
                ApiMethod::Put | ApiMethod::Patch => Err(RefusedRequest::method_not_allowed(
                    &target.kind.resource,
                    verb,
                )),
            },
        }
        .map(|answer| match warnings.is_empty() {
            true => answer,
            false => answer.with_warnings(warnings),
        })
        .and_then(|answer| match (view, request.method) {
            (ObjectView::Table, ApiMethod::Get) => {
                let table = table_maker(state, &target, request)?;
                Ok(answer.map_json(|whole| table.table_of(whole)))
            }
            _ => Ok(answer),
        })
    }

    fn watched(
        &self,
        state: &mut ClusterState,
        target: &RequestTarget,
        request: &ApiRequest,
        view: ObjectView,
    ) -> Result<ApiResponse, RefusedRequest> {
        let revision = request.number("resourceVersion")?.unwrap_or(0);
        let with_initial = request.parameter("sendInitialEvents").is_some();
        let start = match (with_initial, request.flag("sendInitialEvents")?, revision) {
            (true, true, _) => WatchStart::ExistingThenBookmark,
            (true, false, 0) => WatchStart::After(state.store.revision()),
            (false, _, 0) => WatchStart::Existing,
            (_, _, revision) => WatchStart::After(revision),
        };
        let (kind, version) = (target.kind.clone(), target.version.clone());
        let table = match view {
            ObjectView::Table => Some(table_maker(state, target, request)?),
            ObjectView::Whole | ObjectView::Metadata => None,
        };
        let watch_request = WatchRequest {
            kind: target.kind.clone(),
            namespace: target.namespace.clone(),
            filter: filter_of(request, target)?,
            start,
            bookmarks: match request.flag("allowWatchBookmarks")? {
                true => BookmarkWish::Wanted,
                false => BookmarkWish::Unwanted,
            },
            timeout: request
                .number("timeoutSeconds")?
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
            show: Box::new(move |object| {
                let shown = view.of(&in_version(object, &kind, &version));
                match &table {
                    Some(table) => Arc::new(table.table_of(Json::clone(&shown))),
                    None => shown,
                }
            }),
        };
        Ok(ApiResponse::Watch(watch(
            self.0.clone(),
            state,
            watch_request,
        )))
    }
}

/// The table of the kind of a request.
fn table_maker(
    state: &ClusterState,
    target: &RequestTarget,
    request: &ApiRequest,
) -> Result<TableMaker, RefusedRequest> {
    let resource = &target.kind.resource;
    TableMaker::of(resource, target.version()?, request, &state.options.clock)
}

fn add_namespace(state: &mut ClusterState, name: &str) {
    let (uid, time) = (state.ids.uid(), state.time());
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name,
        "uid": uid, "creationTimestamp": time, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
    state.put(&ClusterState::namespace_address(name), namespace);
}

/// The kind, version and namespace of a path, and warnings about them.
///
/// # Errors
/// If the cluster does not serve the kind there.
fn target_of(
    state: &mut ClusterState,
    route: &ObjectRoute,
    request: &ApiRequest,
) -> Result<(RequestTarget, Vec<String>), RefusedRequest> {
    if state.kinds.get(&route.resource).is_none() {
        learn_kind(state, route, request)?;
    }
    let kind = state.kinds.get(&route.resource);
    let kind = kind.ok_or_else(RefusedRequest::no_such_resource)?.clone();
    let version = kind.version(&route.version);
    let version = version.ok_or_else(RefusedRequest::no_such_resource)?;
    if !kind.is_namespaced() && !route.namespace.is_empty() {
        return Err(RefusedRequest::no_such_resource());
    }
    if kind.is_namespaced() && route.namespace.is_empty() && route.name.is_some() {
        return Err(RefusedRequest::no_such_resource());
    }
    let warnings = match kind.origin {
        KindOrigin::Guessed if request.method != ApiMethod::Get => {
            vec![format!("the kind {} has no definition", kind.type_name)]
        }
        _ => Vec::new(),
    };
    let target = RequestTarget {
        version: version.name.clone(),
        namespace: route.namespace.as_str().into(),
        kind,
    };
    Ok((target, warnings))
}

/// Serves the kind of an object without a definition, if the settings allow it.
fn learn_kind(
    state: &mut ClusterState,
    route: &ObjectRoute,
    request: &ApiRequest,
) -> Result<(), RefusedRequest> {
    let writes = match request.method {
        ApiMethod::Post => route.name.is_none(),
        ApiMethod::Patch => crate::body::media_type(request) == crate::patching::APPLY,
        ApiMethod::Get | ApiMethod::Put | ApiMethod::Delete => false,
    };
    if !writes || state.options.unknown_kinds == UnknownKinds::Refused {
        return Ok(());
    }
    let object = crate::body::yaml_text(request)?;
    let scope = match route.namespace.is_empty() {
        true => KindScope::Cluster,
        false => KindScope::Namespaced,
    };
    if let Some(kind) = guessed_kind(&route.resource, &route.version, &object, scope) {
        state.kinds.insert(kind);
    }
    Ok(())
}

/// The word of the API for what a request does.
fn verb_of(route: &ObjectRoute, request: &ApiRequest) -> Result<&'static str, RefusedRequest> {
    Ok(match (request.method, &route.name) {
        (ApiMethod::Get, Some(_)) => "get",
        (ApiMethod::Get, None) if request.flag("watch")? => "watch",
        (ApiMethod::Get, None) => "list",
        (ApiMethod::Post, _) => "create",
        (ApiMethod::Put, _) => "update",
        (ApiMethod::Patch, _) => "patch",
        (ApiMethod::Delete, Some(_)) => "delete",
        (ApiMethod::Delete, None) => "deletecollection",
    })
}

fn subresource_answer(
    state: &mut ClusterState,
    target: &RequestTarget,
    name: &str,
    subresource: &str,
    request: &ApiRequest,
    view: ObjectView,
) -> Result<ApiResponse, RefusedRequest> {
    let resource = &target.kind.resource;
    match (subresource, request.method) {
        ("status", method) if target.version()?.status == StatusForm::Subresource => match method {
            ApiMethod::Get => read(state, target, name, view),
            ApiMethod::Put => put(state, target, name, ChangedPart::Status, request, view),
            ApiMethod::Patch => patched(state, target, name, ChangedPart::Status, request, view),
            ApiMethod::Post | ApiMethod::Delete => {
                Err(RefusedRequest::method_not_allowed(resource, "create"))
            }
        },
        ("scale", _) => match target.version()?.scale.clone() {
            Some(paths) => scale_answer(state, target, name, &paths, request),
            None => Err(RefusedRequest::no_such_resource()),
        },
        ("token", ApiMethod::Post) if resource.is("", "serviceaccounts") => {
            let body = object_of(request)?.unwrap_or_else(|| json!({}));
            let settings = request.write_settings()?;
            let answer = issue(state, target, name, body, &settings)?;
            Ok(ApiResponse::json(201, &answer))
        }
        _ => Err(RefusedRequest::no_such_resource()),
    }
}

fn post(
    state: &mut ClusterState,
    target: &RequestTarget,
    request: &ApiRequest,
    view: ObjectView,
) -> Result<ApiResponse, RefusedRequest> {
    let object = required_object(request)?;
    if target.kind.origin == KindOrigin::Builtin && !target.kind.can("get") {
        let answer = answer_review(state, target, &request.user, object)?;
        return Ok(ApiResponse::json(201, &answer));
    }
    let settings = request.write_settings()?;
    let written = create(state, target, StatedObject::whole(object), &settings)?;
    Ok(shown(target, written, view))
}

fn put(
    state: &mut ClusterState,
    target: &RequestTarget,
    name: &str,
    part: ChangedPart,
    request: &ApiRequest,
    view: ObjectView,
) -> Result<ApiResponse, RefusedRequest> {
    let stated = StatedObject::whole(required_object(request)?);
    let settings = request.write_settings()?;
    let written = change(state, target, name, stated, part, &settings)?;
    Ok(shown(target, written, view))
}

fn patched(
    state: &mut ClusterState,
    target: &RequestTarget,
    name: &str,
    part: ChangedPart,
    request: &ApiRequest,
    view: ObjectView,
) -> Result<ApiResponse, RefusedRequest> {
    let settings = request.write_settings()?;
    let written = patch(state, target, name, part, request, &settings)?;
    Ok(shown(target, written, view))
}

fn shown(target: &RequestTarget, written: WrittenObject, view: ObjectView) -> ApiResponse {
    let object = in_version(&written.object, &target.kind, &target.version);
    ApiResponse::json(written.code, &view.of(&object)).with_warnings(written.warnings)
}

fn delete(
    state: &mut ClusterState,
    target: &RequestTarget,
    name: &str,
    request: &ApiRequest,
) -> Result<ApiResponse, RefusedRequest> {
    let settings = DeletionSettings::read(request, object_of(request)?.as_ref())?;
    let address = target.address(name);
    let resource = &target.kind.resource;
    let live = state.store.get(&address);
    let live = live.ok_or_else(|| RefusedRequest::not_found(resource, name))?;
    settings.check(&target.kind, &live)?;
    let progress = match settings.commitment {
        Commitment::DryRun => foreseen(state, &address, &live, settings.policy),
        Commitment::Stored => {
            let progress = begin_deletion(state, &address, settings.policy);
            settle(state);
            progress.ok_or_else(|| RefusedRequest::not_found(resource, name))?
        }
    };
    Ok(match progress {
        DeletionProgress::Waiting(object) => {
            ApiResponse::json(200, &in_version(&object, &target.kind, &target.version))
        }
        DeletionProgress::Gone(object) => ApiResponse::json(200, &deleted(&address, &object)),
    })
}

/// What a deletion would come to.
fn foreseen(
    state: &ClusterState,
    address: &ObjectAddress,
    live: &Json,
    policy: DeletionPolicy,
) -> DeletionProgress {
    let object = Arc::new(after_deletion(state, address, live, policy));
    let waits =
        !meta_list(&object, "finalizers").is_empty() || address.resource.is("", "namespaces");
    match waits {
        true => DeletionProgress::Waiting(object),
        false => DeletionProgress::Gone(object),
    }
}

/// The answer to a deletion after which the object is gone.
fn deleted(address: &ObjectAddress, object: &Json) -> Json {
    let mut details = json!({"name": &*address.name});
    if !address.resource.group.is_empty() {
        details["group"] = (*address.resource.group).into();
    }
    details["kind"] = (*address.resource.plural).into();
    details["uid"] = meta_text(object, "uid").into();
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
        "details": details})
}

fn delete_all(
    state: &mut ClusterState,
    target: &RequestTarget,
    request: &ApiRequest,
    view: ObjectView,
) -> Result<ApiResponse, RefusedRequest> {
    let settings = DeletionSettings::read(request, object_of(request)?.as_ref())?;
    let filter = filter_of(request, target)?;
    let selected = state
        .store
        .select(&target.kind.resource, &target.namespace, &filter, None);
    let addresses: Vec<ObjectAddress> = selected
        .map(|kept| {
            let object = kept.object();
            let (namespace, name) = (meta_text(&object, "namespace"), meta_text(&object, "name"));
            ClusterState::address(&target.kind, namespace, name)
        })
        .collect();
    let mut objects = Vec::with_capacity(addresses.len());
    for address in addresses {
        let Some(live) = state.store.get(&address) else {
            continue;
        };
        if settings.commitment == Commitment::Stored {
            begin_deletion(state, &address, settings.policy);
        }
        objects.push(view.of(&in_version(&live, &target.kind, &target.version)));
    }
    settle(state);
    let metadata = json!({"resourceVersion": state.store.revision().to_string()});
    let text = written_list(target, view, &metadata, objects.into_iter());
    Ok(ApiResponse::bytes(200, text.into()))
}
