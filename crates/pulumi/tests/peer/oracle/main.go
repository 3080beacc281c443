// Command oracle runs programs of Pulumi YAML with Pulumi's own interpreter, against a monitor that
// answers registrations, reads and calls from a file and keeps them.
//
//	oracle SCHEMAS BEHAVIOURS
//
// SCHEMAS is a folder of package schemas, BEHAVIOURS a file that says what resources compute and what
// functions return. Each line of the standard input is a program as JSON, with its files and its
// configuration; the answer is a line with what a preview and an update give: `ok`, the requests, and
// the outputs or the errors. The notation is that of recorded programs.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml"
	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml/syntax"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// program is a program with everything that stands around it.
type program struct {
	Name       string            `json:"name"`
	Files      map[string]string `json:"files"`
	Project    string            `json:"project"`
	Stack      string            `json:"stack"`
	Config     map[string]string `json:"config"`
	SecretKeys []string          `json:"secretKeys"`
}

// answer is what one evaluation gives.
type answer struct {
	Ok       bool           `json:"ok"`
	Errors   []mistake      `json:"errors,omitempty"`
	Logged   []string       `json:"logged,omitempty"`
	Requests []request      `json:"requests"`
	Outputs  map[string]any `json:"outputs,omitempty"`
}

// mistake is a diagnostic of the interpreter.
type mistake struct {
	Phase   string `json:"phase"`
	Summary string `json:"summary"`
	Detail  string `json:"detail,omitempty"`
	Range   []int  `json:"range,omitempty"`
}

func main() {
	answers := os.Stdout
	// What libraries print must not come between the answers.
	os.Stdout = os.Stderr
	if len(os.Args) != 3 {
		fail("usage: oracle SCHEMAS BEHAVIOURS")
	}
	loader, err := newLoader(os.Args[1])
	if err != nil {
		fail(err.Error())
	}
	behaviours, err := readBehaviours(os.Args[2])
	if err != nil {
		fail(err.Error())
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 || err != nil {
			return
		}
		var one program
		if err := json.Unmarshal(line, &one); err != nil {
			fail(err.Error())
		}
		expect := map[string]*answer{}
		for _, mode := range []string{"preview", "update"} {
			// A program that hangs ends this process, as one that crashes does.
			watch := time.AfterFunc(20*time.Second, func() { fail("the program hangs") })
			expect[mode], err = run(one, mode == "preview", loader, behaviours)
			watch.Stop()
			if err != nil {
				fail(err.Error())
			}
		}
		text, err := json.Marshal(map[string]any{"name": one.Name, "expect": expect})
		if err != nil {
			fail(err.Error())
		}
		fmt.Fprintf(answers, "%s\n", text)
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}

// run evaluates a program once.
func run(
	one program, dryRun bool, loader pulumiyaml.PackageLoader, behaviours *behaviours,
) (*answer, error) {
	folder, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	for name, text := range one.Files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if err := os.Chdir(folder); err != nil {
		return nil, err
	}
	defer os.Chdir("/")
	result := &answer{Requests: []request{}}
	template, found, err := pulumiyaml.LoadDir(folder)
	if err != nil {
		result.Errors = append(result.Errors, mistake{Phase: "load", Summary: err.Error()})
		return result, nil
	}
	if found.HasErrors() {
		result.add("load", found)
		return result, nil
	}
	project, stack := orElse(one.Project, "demo"), orElse(one.Stack, "dev")
	monitor, err := startMonitor(project, stack, dryRun, behaviours)
	if err != nil {
		return nil, err
	}
	defer monitor.stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pctx, err := pulumi.NewContext(ctx, pulumi.RunInfo{
		Project:          project,
		Stack:            stack,
		Organization:     "acme",
		RootDirectory:    folder,
		Config:           one.Config,
		ConfigSecretKeys: one.SecretKeys,
		Parallel:         8,
		DryRun:           dryRun,
		MonitorAddr:      monitor.address,
		EngineAddr:       monitor.address,
	})
	if err != nil {
		return nil, err
	}
	defer pctx.Close()
	err = pulumi.RunWithContext(pctx, func(ctx *pulumi.Context) error {
		return pulumiyaml.RunTemplate(ctx, template, guessed(one), loader)
	})
	monitor.mutex.Lock()
	defer monitor.mutex.Unlock()
	result.Requests = append(result.Requests, monitor.requests...)
	result.Outputs, _ = without(folder, monitor.outputs).(map[string]any)
	for _, one := range result.Requests {
		one["inputs"] = without(folder, one["inputs"])
	}
	result.Logged = monitor.logged
	switch {
	case err == nil:
		result.Ok = true
	default:
		if all, ok := pulumiyaml.HasDiagnostics(err); ok && all.HasErrors() {
			result.add("run", all)
		} else {
			result.Errors = append(result.Errors, mistake{Phase: "run", Summary: err.Error()})
		}
	}
	return result, nil
}

// without returns a value in whose texts `{dir}` stands for the folder of the program.
func without(folder string, value any) any {
	switch value := value.(type) {
	case string:
		return strings.ReplaceAll(value, folder, "{dir}")
	case []any:
		for at, item := range value {
			value[at] = without(folder, item)
		}
	case map[string]any:
		for key, entry := range value {
			value[key] = without(folder, entry)
		}
	}
	return value
}

// add notes the errors among diagnostics.
func (result *answer) add(phase string, all syntax.Diagnostics) {
	for _, one := range all {
		if one.Severity != 1 {
			continue
		}
		found := mistake{Phase: phase, Summary: one.Summary, Detail: one.Detail}
		if one.Subject != nil {
			found.Range = []int{one.Subject.Start.Line, one.Subject.Start.Column}
		}
		result.Errors = append(result.Errors, found)
	}
}

// guessed returns the configuration as the language host passes it on: a text is an integer, a
// boolean, a float or JSON if it reads as one.
func guessed(one program) resource.PropertyMap {
	values := resource.PropertyMap{}
	for key, text := range one.Config {
		var value resource.PropertyValue
		var tree any
		if len(text) > 1 && strings.HasPrefix(text, "0") && !strings.HasPrefix(text, "0.") {
			value = resource.NewStringProperty(text)
		} else if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			value = resource.NewNumberProperty(float64(i))
		} else if b, err := strconv.ParseBool(text); err == nil {
			value = resource.NewBoolProperty(b)
		} else if f, err := strconv.ParseFloat(text, 64); err == nil {
			value = resource.NewNumberProperty(f)
		} else if json.Unmarshal([]byte(text), &tree) == nil {
			value = resource.NewPropertyValue(tree)
		} else {
			value = resource.NewStringProperty(text)
		}
		if slices.Contains(one.SecretKeys, key) {
			value = resource.MakeSecret(value)
		}
		values[resource.PropertyKey(key)] = value
	}
	return values
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
