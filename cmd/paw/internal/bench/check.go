package main

import "fmt"

// failure is what stops a group of jobs: nothing that is measured after it would mean anything.
type failure struct{ error }

// check stops the group when something went wrong.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// fail stops the group.
func fail(format string, args ...any) { check(fmt.Errorf(format, args...)) }

// must is a value that is of no use when something went wrong.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// attempt does something, and returns what stopped it.
func attempt(do func()) (err error) {
	defer func() {
		switch stopped := recover().(type) {
		case nil:
		case failure:
			err = stopped.error
		default:
			panic(stopped)
		}
	}()
	do()
	return nil
}
