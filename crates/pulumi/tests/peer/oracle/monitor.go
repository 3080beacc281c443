package main

import (
	"context"
	"net"
	"sort"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// request is what a program asked of the monitor.
type request map[string]any

// monitor answers one evaluation, as the engine would, and keeps what it was asked.
type monitor struct {
	pulumirpc.UnimplementedResourceMonitorServer
	pulumirpc.UnimplementedEngineServer

	project, stack string
	dryRun         bool
	behaviours     *behaviours
	address        string
	server         *grpc.Server

	mutex    sync.Mutex
	root     string
	requests []request
	outputs  map[string]any
	logged   []string
}

func startMonitor(project, stack string, dryRun bool, known *behaviours) (*monitor, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	one := &monitor{
		project: project, stack: stack, dryRun: dryRun, behaviours: known,
		address: listener.Addr().String(), server: grpc.NewServer(),
	}
	pulumirpc.RegisterResourceMonitorServer(one.server, one)
	pulumirpc.RegisterEngineServer(one.server, one)
	go func() { _ = one.server.Serve(listener) }()
	return one, nil
}

func (m *monitor) stop() { m.server.Stop() }

func (m *monitor) keep(one request) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.requests = append(m.requests, one)
}

func unmarshal(values *structpb.Struct) (resource.PropertyMap, error) {
	return plugin.UnmarshalProperties(values, plugin.MarshalOptions{
		KeepUnknowns: true, KeepSecrets: true, KeepResources: true, KeepOutputValues: true,
	})
}

func marshal(values resource.PropertyMap) (*structpb.Struct, error) {
	return plugin.MarshalProperties(values, plugin.MarshalOptions{
		KeepUnknowns: true, KeepSecrets: true, KeepResources: true,
	})
}

func (m *monitor) urn(parent, typ, name string) string {
	above := tokens.Type("")
	if of := resource.URN(parent); of != "" && of.QualifiedType() != resource.RootStackType {
		above = of.QualifiedType()
	}
	stack, project := tokens.QName(m.stack), tokens.PackageName(m.project)
	return string(resource.NewURN(stack, project, above, tokens.Type(typ), name))
}

func (m *monitor) SupportsFeature(
	context.Context, *pulumirpc.SupportsFeatureRequest,
) (*pulumirpc.SupportsFeatureResponse, error) {
	return &pulumirpc.SupportsFeatureResponse{HasSupport: true}, nil
}

func (m *monitor) RegisterResource(
	_ context.Context, in *pulumirpc.RegisterResourceRequest,
) (*pulumirpc.RegisterResourceResponse, error) {
	urn := m.urn(in.GetParent(), in.GetType(), in.GetName())
	if in.GetType() == string(resource.RootStackType) {
		return &pulumirpc.RegisterResourceResponse{Urn: urn}, nil
	}
	inputs, err := unmarshal(in.GetObject())
	if err != nil {
		return nil, err
	}
	registered := request{
		"op": "register", "type": in.GetType(), "name": in.GetName(), "urn": urn,
		"custom": in.GetCustom(), "inputs": encodeMap(inputs), "options": m.options(in),
	}
	if in.GetRemote() {
		registered["remote"] = true
	}
	m.keep(registered)
	id := in.GetImportId()
	if id == "" {
		id = in.GetName() + "-id"
	}
	if m.dryRun || !in.GetCustom() {
		id = ""
	}
	secrets := in.GetAdditionalSecretOutputs()
	outputs, err := marshal(m.behaviours.outputs(m, in.GetType(), in.GetName(), inputs, !m.dryRun, secrets))
	if err != nil {
		return nil, err
	}
	return &pulumirpc.RegisterResourceResponse{Urn: urn, Id: id, Object: outputs}, nil
}

// options returns the options of a registration that say something.
func (m *monitor) options(in *pulumirpc.RegisterResourceRequest) map[string]any {
	options := map[string]any{}
	set := func(name string, list []string) {
		if len(list) > 0 {
			options[name] = list
		}
	}
	depends := append([]string{}, in.GetDependencies()...)
	sort.Strings(depends)
	set("dependsOn", depends)
	properties := map[string]any{}
	for name, needed := range in.GetPropertyDependencies() {
		if urns := append([]string{}, needed.GetUrns()...); len(urns) > 0 {
			sort.Strings(urns)
			properties[name] = urns
		}
	}
	if len(properties) > 0 {
		options["propertyDependencies"] = properties
	}
	if parent := in.GetParent(); parent != "" && !strings.Contains(parent, "::pulumi:pulumi:Stack::") {
		options["parent"] = parent
	}
	if in.GetProtect() {
		options["protect"] = true
	}
	if in.GetRetainOnDelete() {
		options["retainOnDelete"] = true
	}
	if in.GetDeleteBeforeReplaceDefined() {
		options["deleteBeforeReplace"] = in.GetDeleteBeforeReplace()
	}
	if id := in.GetImportId(); id != "" {
		options["import"] = id
	}
	set("ignoreChanges", in.GetIgnoreChanges())
	set("replaceOnChanges", in.GetReplaceOnChanges())
	set("additionalSecretOutputs", in.GetAdditionalSecretOutputs())
	return options
}

func (m *monitor) ReadResource(
	_ context.Context, in *pulumirpc.ReadResourceRequest,
) (*pulumirpc.ReadResourceResponse, error) {
	state, err := unmarshal(in.GetProperties())
	if err != nil {
		return nil, err
	}
	urn := m.urn(in.GetParent(), in.GetType(), in.GetName())
	m.keep(request{
		"op": "read", "type": in.GetType(), "name": in.GetName(), "urn": urn, "id": in.GetId(),
		"inputs": encodeMap(state),
	})
	secrets := in.GetAdditionalSecretOutputs()
	outputs, err := marshal(m.behaviours.outputs(m, in.GetType(), in.GetName(), state, true, secrets))
	if err != nil {
		return nil, err
	}
	return &pulumirpc.ReadResourceResponse{Urn: urn, Properties: outputs}, nil
}

func (m *monitor) Invoke(
	_ context.Context, in *pulumirpc.ResourceInvokeRequest,
) (*pulumirpc.InvokeResponse, error) {
	arguments, err := unmarshal(in.GetArgs())
	if err != nil {
		return nil, err
	}
	m.keep(request{"op": "invoke", "token": in.GetTok(), "inputs": encodeMap(arguments)})
	returned, err := m.behaviours.call(in.GetTok(), arguments)
	if err != nil {
		return nil, status.Error(codes.Unknown, err.Error())
	}
	result, err := marshal(returned)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.InvokeResponse{Return: result}, nil
}

func (m *monitor) RegisterResourceOutputs(
	_ context.Context, in *pulumirpc.RegisterResourceOutputsRequest,
) (*emptypb.Empty, error) {
	if !strings.Contains(in.GetUrn(), "::pulumi:pulumi:Stack::") {
		return &emptypb.Empty{}, nil
	}
	outputs, err := unmarshal(in.GetOutputs())
	if err != nil {
		return nil, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.outputs = encodeMap(outputs)
	return &emptypb.Empty{}, nil
}

func (m *monitor) RegisterPackage(
	_ context.Context, in *pulumirpc.RegisterPackageRequest,
) (*pulumirpc.RegisterPackageResponse, error) {
	return &pulumirpc.RegisterPackageResponse{Ref: in.GetName()}, nil
}

func (m *monitor) SignalAndWaitForShutdown(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

func (m *monitor) Log(_ context.Context, in *pulumirpc.LogRequest) (*emptypb.Empty, error) {
	if in.GetSeverity() >= pulumirpc.LogSeverity_ERROR {
		m.mutex.Lock()
		defer m.mutex.Unlock()
		m.logged = append(m.logged, in.GetMessage())
	}
	return &emptypb.Empty{}, nil
}

func (m *monitor) GetRootResource(
	context.Context, *pulumirpc.GetRootResourceRequest,
) (*pulumirpc.GetRootResourceResponse, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return &pulumirpc.GetRootResourceResponse{Urn: m.root}, nil
}

func (m *monitor) SetRootResource(
	_ context.Context, in *pulumirpc.SetRootResourceRequest,
) (*pulumirpc.SetRootResourceResponse, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.root = in.GetUrn()
	return &pulumirpc.SetRootResourceResponse{}, nil
}

func (m *monitor) RequirePulumiVersion(
	context.Context, *pulumirpc.RequirePulumiVersionRequest,
) (*pulumirpc.RequirePulumiVersionResponse, error) {
	return &pulumirpc.RequirePulumiVersionResponse{}, nil
}
