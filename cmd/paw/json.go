package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"paw/orchestrator/app"
)

// paw's JSON is a contract of its own, apart from the session's record (docs/json.md). A field that
// was not looked at is left out; a field that was looked at and is empty is null; an empty list is [].

// object is a JSON object with its fields in their order.
type object []field

type field struct {
	name  string
	value any
}

// MarshalJSON encodes the fields, without those whose value is absent.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for _, f := range o {
		if f.value == absent {
			continue
		}
		value, err := encode(f.value)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, f.name), ':'), value...)
	}
	return append(out, '}'), nil
}

// encode encodes a value; a list that is nil is empty.
func encode(value any) ([]byte, error) {
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice && v.IsNil() {
		return []byte("[]"), nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// absent is the value of a field that is left out.
var absent any = struct{ absent bool }{}

// given returns what a pointer leads to, and for nil the value of a field that is left out.
func given[T any](pointer *T) any {
	if pointer == nil {
		return absent
	}
	return *pointer
}

// orNull returns nil for the zero value, which is null in JSON.
func orNull[T comparable](value T) *T {
	var nothing T
	if value == nothing {
		return nil
	}
	return &value
}

// objects converts each item of a list to JSON.
func objects[T any](list []T, view func(T) object) []object {
	all := make([]object, 0, len(list))
	for _, item := range list {
		all = append(all, view(item))
	}
	return all
}

// show prints a text or, with --json, a view.
func (p *printer) show(view object, text any) error {
	if p.json {
		return p.printJSON(view)
	}
	_, err := fmt.Fprintln(forReading(p.stdout), text)
	return err
}

// printJSON prints v as one line.
func (p *printer) printJSON(v any) error { return writeJSON(p.stdout, v) }

// writeJSON writes v as one line without control characters. JSON allows DEL and U+0080 to U+009F,
// which some terminals obey.
func writeJSON(w io.Writer, v any) error {
	line, err := encode(v)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, r := range string(line) {
		if r >= 0x7f && r <= 0x9f {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	_, err = io.WriteString(w, out.String()+"\n")
	return err
}

// noted returns the notes so far, for a field of the JSON.
func (p *printer) noted() []string { return append([]string{}, p.notes...) }

func problemsView(problems []error) []object {
	return objects(problems, func(problem error) object {
		return object{{"error", problem.Error()}, {"hints", app.HintsOf(problem)}}
	})
}
