// A provider for the tests of a host. It speaks protocol 6, keeps its objects as files, and does wrong what the
// attribute `mode` of a resource asks it to do wrong.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

func main() {
	server := &peer{calls: map[string]int64{}}
	if err := tf6server.Serve("example.com/test/peer", func() tfprotov6.ProviderServer { return server }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// peer answers what a host needs. A call that it does not know ends the process.
type peer struct {
	tfprotov6.ProviderServer
	mutex  sync.Mutex
	calls  map[string]int64
	folder string
	open   bool
}

// count counts a call. If the file that PEER_CRASH names holds the name of the method, it is removed and the process ends.
func (p *peer) count(method string) {
	if path := os.Getenv("PEER_CRASH"); path != "" {
		if content, err := os.ReadFile(path); err == nil && string(content) == method {
			if err := os.Remove(path); err != nil {
				panic(err)
			}
			panic("the peer crashes in " + method)
		}
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.calls[method]++
}

var nestedType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"key": tftypes.String, "token": tftypes.String}}
var tagType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"label": tftypes.String}}

var thingType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{
	"id": tftypes.String, "name": tftypes.String, "size": tftypes.Number, "mode": tftypes.String,
	"code": tftypes.String, "password": tftypes.String, "any": tftypes.DynamicPseudoType,
	"nested": tftypes.List{ElementType: nestedType}, "tag": tftypes.Set{ElementType: tagType},
}}

var identityType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"id": tftypes.String}}
var configType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"folder": tftypes.String, "zone": tftypes.String}}
var callsType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"method": tftypes.String, "count": tftypes.Number}}

func (p *peer) GetProviderSchema(context.Context, *tfprotov6.GetProviderSchemaRequest) (*tfprotov6.GetProviderSchemaResponse, error) {
	p.count("GetProviderSchema")
	description := "A thing."
	if os.Getenv("PEER_SCHEMA") == "large" {
		description = strings.Repeat("A thing. ", 1<<20)
	}
	attributes := []*tfprotov6.SchemaAttribute{
		{Name: "id", Type: tftypes.String, Computed: true},
		{Name: "name", Type: tftypes.String, Required: true},
		{Name: "size", Type: tftypes.Number, Optional: true, Computed: true},
		{Name: "mode", Type: tftypes.String, Optional: true},
		{Name: "code", Type: tftypes.String, Optional: true, WriteOnly: true},
		{Name: "password", Type: tftypes.String, Optional: true, Sensitive: true},
		{Name: "any", Type: tftypes.DynamicPseudoType, Optional: true},
		{Name: "nested", Optional: true, NestedType: &tfprotov6.SchemaObject{
			Nesting: tfprotov6.SchemaObjectNestingModeList,
			Attributes: []*tfprotov6.SchemaAttribute{
				{Name: "key", Type: tftypes.String, Required: true},
				{Name: "token", Type: tftypes.String, Computed: true},
			},
		}},
	}
	tag := &tfprotov6.SchemaNestedBlock{TypeName: "tag", Nesting: tfprotov6.SchemaNestedBlockNestingModeSet,
		Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
			{Name: "label", Type: tftypes.String, Required: true},
		}}}
	return &tfprotov6.GetProviderSchemaResponse{
		ServerCapabilities: &tfprotov6.ServerCapabilities{
			PlanDestroy: true, MoveResourceState: true,
			GetProviderSchemaOptional: os.Getenv("PEER_SCHEMA") == "optional",
		},
		Provider: &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{
			{Name: "folder", Type: tftypes.String, Required: true},
			{Name: "zone", Type: tftypes.String, Optional: true},
		}}},
		ResourceSchemas: map[string]*tfprotov6.Schema{"peer_thing": {Version: 2, Block: &tfprotov6.SchemaBlock{
			Description: description, Attributes: attributes, BlockTypes: []*tfprotov6.SchemaNestedBlock{tag},
		}}},
		DataSourceSchemas: map[string]*tfprotov6.Schema{"peer_calls": {Block: &tfprotov6.SchemaBlock{
			Attributes: []*tfprotov6.SchemaAttribute{
				{Name: "method", Type: tftypes.String, Required: true},
				{Name: "count", Type: tftypes.Number, Computed: true},
			},
		}}},
		Functions: map[string]*tfprotov6.Function{
			"join": {
				Parameters:        []*tfprotov6.FunctionParameter{{Name: "separator", Type: tftypes.String}},
				VariadicParameter: &tfprotov6.FunctionParameter{Name: "parts", Type: tftypes.String},
				Return:            &tfprotov6.FunctionReturn{Type: tftypes.String},
			},
			"kind": {
				Parameters: []*tfprotov6.FunctionParameter{
					{Name: "value", Type: tftypes.DynamicPseudoType, AllowNullValue: true, AllowUnknownValues: true},
				},
				Return: &tfprotov6.FunctionReturn{Type: tftypes.String},
			},
		},
	}, nil
}

func (p *peer) GetResourceIdentitySchemas(context.Context, *tfprotov6.GetResourceIdentitySchemasRequest) (*tfprotov6.GetResourceIdentitySchemasResponse, error) {
	p.count("GetResourceIdentitySchemas")
	schema := &tfprotov6.ResourceIdentitySchema{Version: 1, IdentityAttributes: []*tfprotov6.ResourceIdentitySchemaAttribute{
		{Name: "id", Type: tftypes.String, RequiredForImport: true},
	}}
	schemas := map[string]*tfprotov6.ResourceIdentitySchema{"peer_thing": schema}
	return &tfprotov6.GetResourceIdentitySchemasResponse{IdentitySchemas: schemas}, nil
}

func problem(summary string, path *tftypes.AttributePath) []*tfprotov6.Diagnostic {
	return []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityError, Summary: summary, Detail: "The detail.", Attribute: path}}
}

// fields has the attributes of an object. It is nil for null.
func fields(data *tfprotov6.DynamicValue, of tftypes.Type) map[string]tftypes.Value {
	if data == nil {
		return nil
	}
	value, err := data.Unmarshal(of)
	if err != nil {
		panic(err)
	}
	if value.IsNull() {
		return nil
	}
	var found map[string]tftypes.Value
	if err := value.As(&found); err != nil {
		panic(err)
	}
	return found
}

func write(of tftypes.Type, value any) *tfprotov6.DynamicValue {
	data, err := tfprotov6.NewDynamicValue(of, tftypes.NewValue(of, value))
	if err != nil {
		panic(err)
	}
	return &data
}

// text is empty for null and unknown.
func text(value tftypes.Value) string {
	var found string
	if value.IsKnown() && !value.IsNull() {
		if err := value.As(&found); err != nil {
			panic(err)
		}
	}
	return found
}

func number(of int64) tftypes.Value {
	return tftypes.NewValue(tftypes.Number, big.NewFloat(float64(of)))
}

func identity(id string) *tfprotov6.ResourceIdentityData {
	value := map[string]tftypes.Value{"id": tftypes.NewValue(tftypes.String, id)}
	return &tfprotov6.ResourceIdentityData{IdentityData: write(identityType, value)}
}

// grown is private data with one more letter. It starts with bytes that are no text.
func grown(private []byte, letter byte) []byte {
	if len(private) == 0 {
		private = []byte{0xff, 0}
	}
	return append(append([]byte{}, private...), letter)
}

// tokens sets the computed part of each nested object that has none.
func tokens(nested tftypes.Value, token any) tftypes.Value {
	if nested.IsNull() || !nested.IsKnown() {
		return nested
	}
	var items []tftypes.Value
	if err := nested.As(&items); err != nil {
		panic(err)
	}
	changed := []tftypes.Value{}
	for _, item := range items {
		var object map[string]tftypes.Value
		if !item.IsKnown() || item.As(&object) != nil {
			changed = append(changed, item)
			continue
		}
		if object["token"].IsNull() || !object["token"].IsKnown() {
			object["token"] = tftypes.NewValue(tftypes.String, token)
		}
		changed = append(changed, tftypes.NewValue(nestedType, object))
	}
	return tftypes.NewValue(tftypes.List{ElementType: nestedType}, changed)
}

func (p *peer) ValidateProviderConfig(_ context.Context, request *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	p.count("ValidateProviderConfig")
	answer := &tfprotov6.ValidateProviderConfigResponse{PreparedConfig: request.Config}
	if text(fields(request.Config, configType)["zone"]) == "bad" {
		answer.Diagnostics = problem("bad zone", tftypes.NewAttributePath().WithAttributeName("zone"))
	}
	return answer, nil
}

func (p *peer) ConfigureProvider(_ context.Context, request *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	p.count("ConfigureProvider")
	config := fields(request.Config, configType)
	p.folder = text(config["folder"])
	p.open = !config["zone"].IsKnown()
	switch text(config["zone"]) {
	case "nowhere":
		return &tfprotov6.ConfigureProviderResponse{Diagnostics: problem("no such zone", tftypes.NewAttributePath().WithAttributeName("zone"))}, nil
	case "locked":
		return &tfprotov6.ConfigureProviderResponse{Diagnostics: problem("access denied", nil)}, nil
	}
	if p.folder == "" {
		return &tfprotov6.ConfigureProviderResponse{Diagnostics: problem("no folder", tftypes.NewAttributePath().WithAttributeName("folder"))}, nil
	}
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

func (p *peer) ValidateResourceConfig(_ context.Context, request *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	p.count("ValidateResourceConfig")
	config := fields(request.Config, thingType)
	path := tftypes.NewAttributePath().WithAttributeName("nested").WithElementKeyInt(0).WithAttributeName("key")
	var said []*tfprotov6.Diagnostic
	switch text(config["name"]) {
	case "bad":
		said = problem("bad name", path)
	case "odd":
		said = problem("odd name", path)
		said[0].Severity = tfprotov6.DiagnosticSeverityWarning
	}
	if !request.ClientCapabilities.WriteOnlyAttributesAllowed {
		said = append(said, problem("the host takes no write-only attributes", nil)...)
	}
	return &tfprotov6.ValidateResourceConfigResponse{Diagnostics: said}, nil
}

func (p *peer) UpgradeResourceState(_ context.Context, request *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	p.count("UpgradeResourceState")
	raw := request.RawState
	if request.Version < 2 {
		// Version 1 called the name a label.
		var stored map[string]json.RawMessage
		if err := json.Unmarshal(raw.JSON, &stored); err != nil {
			return nil, err
		}
		stored["name"] = stored["label"]
		delete(stored, "label")
		changed, err := json.Marshal(stored)
		if err != nil {
			return nil, err
		}
		raw = &tfprotov6.RawState{JSON: changed}
	}
	value, err := raw.Unmarshal(thingType)
	if err != nil {
		return &tfprotov6.UpgradeResourceStateResponse{Diagnostics: problem(err.Error(), nil)}, nil
	}
	data, err := tfprotov6.NewDynamicValue(thingType, value)
	return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &data}, err
}

func (p *peer) UpgradeResourceIdentity(_ context.Context, request *tfprotov6.UpgradeResourceIdentityRequest) (*tfprotov6.UpgradeResourceIdentityResponse, error) {
	// Version 0 called the id a key.
	var stored map[string]string
	if err := json.Unmarshal(request.RawIdentity.JSON, &stored); err != nil {
		return nil, err
	}
	return &tfprotov6.UpgradeResourceIdentityResponse{UpgradedIdentity: identity(stored["key"])}, nil
}

func (p *peer) ReadResource(_ context.Context, request *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	p.count("ReadResource")
	state := fields(request.CurrentState, thingType)
	id := text(state["id"])
	if request.CurrentIdentity == nil {
		return &tfprotov6.ReadResourceResponse{Diagnostics: problem("no identity", nil)}, nil
	}
	content, err := os.ReadFile(filepath.Join(p.folder, id))
	if err != nil {
		return &tfprotov6.ReadResourceResponse{NewState: write(thingType, nil)}, nil
	}
	var size int64
	if err := json.Unmarshal(content, &size); err != nil {
		return nil, err
	}
	state["size"] = number(size)
	if text(state["mode"]) == "read-unknown" {
		state["size"] = tftypes.NewValue(tftypes.Number, tftypes.UnknownValue)
	}
	return &tfprotov6.ReadResourceResponse{
		NewState: write(thingType, state), Private: grown(request.Private, 'r'), NewIdentity: request.CurrentIdentity,
	}, nil
}

func (p *peer) PlanResourceChange(_ context.Context, request *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	p.count("PlanResourceChange")
	planned := fields(request.ProposedNewState, thingType)
	prior := fields(request.PriorState, thingType)
	if planned == nil {
		return &tfprotov6.PlanResourceChangeResponse{PlannedState: write(thingType, nil), PlannedPrivate: grown(request.PriorPrivate, 'd')}, nil
	}
	if prior == nil {
		planned["id"] = tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
		if planned["size"].IsNull() {
			planned["size"] = tftypes.NewValue(tftypes.Number, tftypes.UnknownValue)
		}
	}
	planned["nested"] = tokens(planned["nested"], tftypes.UnknownValue)
	planned["code"] = tftypes.NewValue(tftypes.String, nil)
	var said []*tfprotov6.Diagnostic
	if p.open {
		said = problem("the zone is not known yet", nil)
		said[0].Severity = tfprotov6.DiagnosticSeverityWarning
	}
	answer := &tfprotov6.PlanResourceChangeResponse{
		PlannedPrivate: grown(request.PriorPrivate, 'p'),
		Diagnostics:    said,
		// As old providers do: all attributes that force a replacement, changed or not.
		RequiresReplace: []*tftypes.AttributePath{
			tftypes.NewAttributePath().WithAttributeName("name"),
			tftypes.NewAttributePath().WithAttributeName("password"),
		},
		PlannedIdentity: request.PriorIdentity,
	}
	switch text(planned["mode"]) {
	case "defer":
		answer.Deferred = &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonAbsentPrereq}
	case "plan-lie":
		planned["size"] = number(999)
	case "plan-legacy":
		planned["size"] = number(999)
		answer.UnsafeToUseLegacyTypeSystem = true
	case "plan-null":
		answer.PlannedState = write(thingType, nil)
		return answer, nil
	case "plan-code":
		planned["code"] = tftypes.NewValue(tftypes.String, "c")
	case "plan-error":
		answer.Diagnostics = problem("the plan fails", tftypes.NewAttributePath().WithAttributeName("mode"))
	}
	answer.PlannedState = write(thingType, planned)
	return answer, nil
}

func (p *peer) ApplyResourceChange(ctx context.Context, request *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	p.count("ApplyResourceChange")
	state := fields(request.PlannedState, thingType)
	prior := fields(request.PriorState, thingType)
	answer := &tfprotov6.ApplyResourceChangeResponse{Private: grown(request.PlannedPrivate, 'a')}
	if state == nil {
		answer.NewState = write(thingType, nil)
		if text(prior["mode"]) == "keep" {
			answer.NewState = request.PriorState
			return answer, nil
		}
		return answer, os.Remove(filepath.Join(p.folder, text(prior["id"])))
	}
	mode := text(state["mode"])
	if mode == "fail" {
		answer.Diagnostics = problem("the change fails", nil)
		return answer, nil
	}
	id := text(state["id"])
	if id == "" {
		id = text(state["name"])
	}
	state["id"] = tftypes.NewValue(tftypes.String, id)
	if !state["size"].IsKnown() {
		state["size"] = number(1)
	}
	state["nested"] = tokens(state["nested"], "made")
	var size big.Float
	if err := state["size"].As(&size); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(p.folder, id), []byte(size.Text('f', 0)), 0o600); err != nil {
		return nil, err
	}
	switch mode {
	case "crash":
		panic("the peer crashes")
	case "print":
		for line := range 20000 {
			fmt.Printf("printed line %d\n", line)
		}
	case "hang":
		// The host sees that the call is under way.
		if err := os.WriteFile(filepath.Join(p.folder, "hangs"), nil, 0o600); err != nil {
			return nil, err
		}
		<-ctx.Done()
		answer.Diagnostics = problem("cut short", nil)
	case "lie":
		state["size"] = number(999)
	case "legacy":
		state["size"] = number(999)
		answer.UnsafeToUseLegacyTypeSystem = true
	case "null":
		answer.NewState = write(thingType, nil)
		return answer, nil
	case "code":
		state["code"] = tftypes.NewValue(tftypes.String, "c")
	case "unknown":
		state["id"] = tftypes.NewValue(tftypes.String, tftypes.UnknownValue)
	case "partial":
		answer.Diagnostics = problem("half done", tftypes.NewAttributePath().WithAttributeName("tag"))
	case "garbage":
		answer.NewState = &tfprotov6.DynamicValue{MsgPack: []byte{0x93, 1}}
		return answer, nil
	case "status":
		return nil, fmt.Errorf("no answer")
	}
	answer.NewState = write(thingType, state)
	answer.NewIdentity = identity(id)
	return answer, nil
}

func (p *peer) ImportResourceState(_ context.Context, request *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	p.count("ImportResourceState")
	id := request.ID
	if request.Identity != nil {
		id = text(fields(request.Identity.IdentityData, identityType)["id"])
	}
	// An id of several names stands for several objects.
	answer := &tfprotov6.ImportResourceStateResponse{}
	for _, id := range strings.Split(id, ",") {
		state := map[string]tftypes.Value{}
		for name, of := range thingType.AttributeTypes {
			state[name] = tftypes.NewValue(of, nil)
		}
		state["id"] = tftypes.NewValue(tftypes.String, id)
		state["name"] = tftypes.NewValue(tftypes.String, id)
		state["tag"] = tftypes.NewValue(tftypes.Set{ElementType: tagType}, []tftypes.Value{})
		answer.ImportedResources = append(answer.ImportedResources, &tfprotov6.ImportedResource{
			TypeName: request.TypeName, State: write(thingType, state), Private: grown(nil, 'i'), Identity: identity(id),
		})
	}
	return answer, nil
}

func (p *peer) MoveResourceState(_ context.Context, request *tfprotov6.MoveResourceStateRequest) (*tfprotov6.MoveResourceStateResponse, error) {
	if request.SourceTypeName != "other_thing" || !strings.HasSuffix(request.SourceProviderAddress, "/test/other") {
		return &tfprotov6.MoveResourceStateResponse{Diagnostics: problem("not from there", nil)}, nil
	}
	var stored struct{ Title string }
	if err := json.Unmarshal(request.SourceState.JSON, &stored); err != nil {
		return nil, err
	}
	imported, err := p.ImportResourceState(context.Background(), &tfprotov6.ImportResourceStateRequest{TypeName: request.TargetTypeName, ID: stored.Title})
	if err != nil {
		return nil, err
	}
	thing := imported.ImportedResources[0]
	return &tfprotov6.MoveResourceStateResponse{
		TargetState: thing.State, TargetPrivate: grown(request.SourcePrivate, 'm'), TargetIdentity: thing.Identity,
	}, nil
}

func (p *peer) ValidateDataResourceConfig(context.Context, *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	p.count("ValidateDataResourceConfig")
	return &tfprotov6.ValidateDataResourceConfigResponse{}, nil
}

func (p *peer) ReadDataSource(_ context.Context, request *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	p.count("ReadDataSource")
	state := fields(request.Config, callsType)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	state["count"] = number(p.calls[text(state["method"])])
	return &tfprotov6.ReadDataSourceResponse{State: write(callsType, state)}, nil
}

func (p *peer) CallFunction(_ context.Context, request *tfprotov6.CallFunctionRequest) (*tfprotov6.CallFunctionResponse, error) {
	p.count("CallFunction")
	if request.Name == "kind" {
		value, err := request.Arguments[0].Unmarshal(tftypes.DynamicPseudoType)
		if err != nil {
			return nil, err
		}
		kind := value.Type().String()
		if !value.IsKnown() {
			kind = "unknown"
		}
		return &tfprotov6.CallFunctionResponse{Result: write(tftypes.String, kind)}, nil
	}
	var parts []string
	for at, argument := range request.Arguments {
		value, err := argument.Unmarshal(tftypes.String)
		if err != nil {
			return nil, err
		}
		part := text(value)
		if part == "bad" {
			index := int64(at)
			return &tfprotov6.CallFunctionResponse{Error: &tfprotov6.FunctionError{Text: "a bad part", FunctionArgument: &index}}, nil
		}
		parts = append(parts, part)
	}
	return &tfprotov6.CallFunctionResponse{Result: write(tftypes.String, strings.Join(parts[1:], parts[0]))}, nil
}

func (p *peer) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}
