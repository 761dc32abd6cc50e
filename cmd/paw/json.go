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
func (o object) MarshalJSON() ([]byte, error) { return encode(o) }

// encoding is a text of JSON that grows.
type encoding struct {
	bytes.Buffer
	encoder *json.Encoder // writes into the buffer
}

// encode encodes a value of a field.
func encode(value any) ([]byte, error) {
	var out encoding
	out.encoder = json.NewEncoder(&out.Buffer)
	out.encoder.SetEscapeHTML(false)
	err := out.add(value)
	return out.Bytes(), err
}

func (e *encoding) add(value any) error {
	switch v := value.(type) {
	case object:
		sign := "{"
		for _, f := range v {
			if f.value == absent {
				continue
			}
			e.WriteString(sign + strconv.Quote(f.name) + ":")
			sign = ","
			if err := e.add(f.value); err != nil {
				return err
			}
		}
		e.WriteString(strings.TrimSuffix(sign, ",") + "}")
		return nil
	case []object:
		sign := "["
		for _, one := range v {
			e.WriteString(sign)
			sign = ","
			if err := e.add(one); err != nil {
				return err
			}
		}
		e.WriteString(strings.TrimSuffix(sign, ",") + "]")
		return nil
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice && v.IsNil() {
		value = []string{}
	}
	err := e.encoder.Encode(value)
	e.Truncate(max(e.Len()-1, 0)) // the encoder ends with a line break
	return err
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
