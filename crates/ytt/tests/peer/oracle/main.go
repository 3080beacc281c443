// Command oracle answers templates with ytt itself: one JSON object for each line of its input.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	"carvel.dev/ytt/pkg/cmd/template"
	"carvel.dev/ytt/pkg/cmd/ui"
	"carvel.dev/ytt/pkg/files"
	_ "carvel.dev/ytt/pkg/yttlibraryext" // the module toml
)

type request struct {
	Template string                     `json:"template"`
	Values   map[string]json.RawMessage `json:"values"`
}

type answer struct {
	Output *string `json:"output,omitempty"`
	Error  string  `json:"error,omitempty"`
}

func render(r request) (a answer) {
	defer func() {
		if problem := recover(); problem != nil {
			a = answer{Error: fmt.Sprintf("panic: %v", problem)}
		}
	}()
	opts := template.NewOptions()
	var names []string
	for name := range r.Values {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		opts.DataValuesFlags.KVsFromYAML = append(opts.DataValuesFlags.KVsFromYAML, name+"="+string(r.Values[name]))
	}
	file := files.MustNewFileFromSource(files.NewBytesSource("stdin.yml", []byte(r.Template)))
	out := opts.RunWithFiles(template.Input{Files: []*files.File{file}}, ui.NewTTY(false))
	if out.Err != nil {
		return answer{Error: out.Err.Error()}
	}
	bytes, err := out.DocSet.AsBytes()
	if err != nil {
		return answer{Error: err.Error()}
	}
	text := string(bytes)
	return answer{Output: &text}
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		encoded, err := json.Marshal(render(r))
		if err != nil {
			panic(err)
		}
		out.Write(append(encoded, '\n'))
		out.Flush()
	}
}
