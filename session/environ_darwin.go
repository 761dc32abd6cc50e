package session

import "errors"

// Environ has no answer on this system.
func Environ(int) ([]string, error) { return nil, errors.ErrUnsupported }
