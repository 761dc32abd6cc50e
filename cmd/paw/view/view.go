// Package view makes JSON of what commands of paw print. That JSON is a contract of its own, apart from the
// session's record (docs/json.md): a field that was not looked at is left out, a field that was looked at
// and is empty is null, an empty list is []. Begin with Object.
package view

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Object is a JSON object with its fields in their order.
type Object []Field

// Field is a field of an object.
type Field struct {
	Name  string
	Value any
}

// MarshalJSON encodes the fields, without those whose value is Absent.
func (o Object) MarshalJSON() ([]byte, error) { return encode(o) }

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
	case Object:
		sign := "{"
		for _, f := range v {
			if f.Value == Absent {
				continue
			}
			e.WriteString(sign + strconv.Quote(f.Name) + ":")
			sign = ","
			if err := e.add(f.Value); err != nil {
				return err
			}
		}
		e.WriteString(strings.TrimSuffix(sign, ",") + "}")
		return nil
	case []Object:
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

// Absent is the value of a field that is left out.
var Absent any = struct{ absent bool }{}

// Given returns what a pointer leads to, and for nil the value of a field that is left out.
func Given[T any](pointer *T) any {
	if pointer == nil {
		return Absent
	}
	return *pointer
}
