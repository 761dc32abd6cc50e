package errs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
)

func TestErrorsKeepTheirCause(t *testing.T) {
	one := New(Refused, "shop: not read: %w", fs.ErrPermission).Hint("paw doctor")
	wrapped := fmt.Errorf("in between: %w", one)
	if !errors.Is(wrapped, fs.ErrPermission) || !slices.Equal(HintsOf(wrapped), []string{"paw doctor"}) {
		t.Errorf("%v with %q", wrapped, HintsOf(wrapped))
	}
	var e *Error
	if more := WithHints(wrapped, "paw status"); !errors.As(more, &e) || e.Kind != Refused || !slices.Equal(e.Hints, []string{"paw doctor", "paw status"}) {
		t.Errorf("%+v", e)
	}
	if plain := WithHints(fs.ErrExist, "paw status"); !errors.As(plain, &e) || e.Kind != Failed || !errors.Is(plain, fs.ErrExist) {
		t.Errorf("%+v", e)
	}
	two := errors.Join(one, fs.ErrExist, fmt.Errorf("another: %w", New(Failed, "web: not read").Hint("paw doctor").Hint("paw recover")))
	if hints := HintsOf(two); !slices.Equal(hints, []string{"paw doctor", "paw status", "paw recover"}) {
		t.Errorf("%q", hints)
	}
	if HintsOf(fs.ErrExist) != nil {
		t.Error("an error of somebody else has hints")
	}
}
