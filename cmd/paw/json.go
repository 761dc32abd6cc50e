package main

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"unicode/utf8"

	"paw/config/disk"
	"paw/config/lazyregexp"
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
	var out bytes.Buffer
	err := o.write(&out)
	return out.Bytes(), err
}

func (o object) write(out *bytes.Buffer) error {
	out.WriteByte('{')
	begun := false
	for _, f := range o {
		if f.value == absent {
			continue
		}
		if begun {
			out.WriteByte(',')
		}
		begun = true
		out.WriteString(strconv.Quote(f.name) + ":")
		if err := writeValue(out, f.value); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func writeValue(out *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case object:
		return v.write(out)
	case []object:
		for i, one := range v {
			out.WriteByte("[,"[min(i, 1)])
			if err := one.write(out); err != nil {
				return err
			}
		}
		if len(v) == 0 {
			out.WriteByte('[')
		}
		out.WriteByte(']')
		return nil
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice && v.IsNil() {
		out.WriteString("[]")
		return nil
	}
	text, err := disk.JSON(value, "")
	out.Write(bytes.TrimSuffix(text, []byte("\n")))
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
	line, err := disk.JSON(v, "")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, controlCharacter().ReplaceAllStringFunc(string(line), func(c string) string {
		r, _ := utf8.DecodeRuneInString(c)
		return fmt.Sprintf(`\u%04x`, r)
	}))
	return err
}

var controlCharacter = lazyregexp.New(`[\x{7f}-\x{9f}]`)

// noted returns the notes so far, for a field of the JSON.
func (p *printer) noted() []string { return append([]string{}, p.notes...) }

func problemsView(problems []error) []object {
	return objects(problems, func(problem error) object {
		return object{{"error", problem.Error()}, {"hints", hintsOf(problem)}}
	})
}
