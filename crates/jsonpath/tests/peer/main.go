// Command peer evaluates templates of JSONPath with client-go of Kubernetes.
//
// Each line of the standard input is a template with a document, as JSON. The answer is a line with
// the results and their text, or with the class of the failure and its message.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// question is a template and what it is evaluated over.
type question struct {
	Template         string `json:"template"`
	Document         any    `json:"document"`
	AllowMissingKeys bool   `json:"allowMissingKeys"`
}

// answer has the results of each part of the template and their text, or a failure.
type answer struct {
	Results [][]any `json:"results"`
	Text    string  `json:"text"`
	Class   string  `json:"class,omitempty"`
	Error   string  `json:"error,omitempty"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run answers the questions, one at a time.
func run(input io.Reader, output io.Writer) error {
	decoder := json.NewDecoder(bufio.NewReader(input))
	decoder.UseNumber()
	encoder := json.NewEncoder(output)
	for {
		var asked question
		if err := decoder.Decode(&asked); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := encoder.Encode(evaluate(asked)); err != nil {
			return err
		}
	}
}

// evaluate answers a question. A panic of client-go is the failure "crash".
func evaluate(asked question) (given answer) {
	defer func() {
		if problem := recover(); problem != nil {
			given = answer{Class: "crash", Error: fmt.Sprint(problem)}
		}
	}()
	// An evaluation with ranges changes its template, so each template is evaluated once.
	template := jsonpath.New("peer").AllowMissingKeys(asked.AllowMissingKeys)
	if err := template.Parse(asked.Template); err != nil {
		return answer{Class: "parse", Error: err.Error()}
	}
	found, err := template.FindResults(asNumbers(asked.Document))
	if err != nil {
		return answer{Class: class(err), Error: err.Error()}
	}
	given.Results = [][]any{}
	var text bytes.Buffer
	for _, part := range found {
		if err := template.PrintResults(&text, part); err != nil {
			return answer{Class: "evaluate", Error: err.Error()}
		}
		values := []any{}
		for _, value := range part {
			if value.IsValid() {
				values = append(values, value.Interface())
			} else {
				values = append(values, nil)
			}
		}
		given.Results = append(given.Results, values)
	}
	given.Text = text.String()
	return given
}

// class tells the sort of a failed evaluation from its message: the errors have no types.
func class(err error) string {
	switch text := err.Error(); {
	case strings.HasPrefix(text, "array index out of bounds: "):
		return "bounds"
	case strings.HasSuffix(text, " is not array or slice"),
		strings.HasSuffix(text, " is not array or slice and cannot be filtered"):
		return "not-a-list"
	case strings.HasSuffix(text, " for comparison"):
		return "compare"
	case strings.HasSuffix(text, " is not found"):
		return "missing"
	default:
		return "evaluate"
	}
}

// asNumbers gives the numbers of a document the types that objects of an API server have: whole ones
// are integers, the others doubles. The entries of maps are inserted in the order of their keys.
func asNumbers(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := strconv.ParseInt(value.String(), 10, 64); err == nil {
			return whole
		}
		double, err := value.Float64()
		if err != nil {
			panic(err)
		}
		return double
	case []any:
		items := make([]any, len(value))
		for at, item := range value {
			items[at] = asNumbers(item)
		}
		return items
	case map[string]any:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		entries := make(map[string]any, len(value))
		for _, key := range keys {
			entries[key] = asNumbers(value[key])
		}
		return entries
	default:
		return value
	}
}
