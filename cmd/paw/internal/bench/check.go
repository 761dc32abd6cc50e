package main

import "fmt"

// failure is an error that ends a group of jobs, because later measurements would mean nothing.
type failure struct{ error }

// check ends the group on an error.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// fail ends the group with a message.
func fail(format string, args ...any) { check(fmt.Errorf(format, args...)) }

// must returns a value, and ends the group on an error.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// attempt calls do, and returns the error that ended it early.
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
