package cli

import (
	"context"
	"errors"
)

// Channel is a way into a running CLI that was made for programs, beside its terminal: nothing is typed, and what the user has
// half typed or opened stays as it is.
type Channel interface {
	// Open reports whether the CLI answers on the channel now. A channel that is missing says so at once, one that is silent
	// after some time.
	Open(ctx context.Context) bool
	// Submit hands a prompt over and returns when the CLI has it; seen is what its screen shows. The error is ErrNotHandedOver
	// where it certainly has not.
	Submit(ctx context.Context, prompt string, seen Screen) error
	// Permission is the permission that the CLI waits for first, false where it waits for none that can be granted here.
	Permission(ctx context.Context) (Permission, bool)
	// Reply grants a permission once, or refuses it. The error is ErrNotHandedOver where the CLI does not wait for it.
	Reply(ctx context.Context, id string, grant bool) error
}

// Permission is one that a CLI waits for.
type Permission struct {
	ID       string // of this request, never used again
	Question string // as the CLI's hook tells of it
}

// ErrNotHandedOver says for certain that a CLI got nothing by its channel.
var ErrNotHandedOver = errors.New("nothing was handed over")

// Channeled is a driver whose program has a channel.
type Channeled interface {
	// Channel is that of the running launch of Spec.StateDir.
	Channel(Spec) Channel
}

// noChannel is that of a program without one.
type noChannel struct{}

func (noChannel) Open(context.Context) bool                     { return false }
func (noChannel) Submit(context.Context, string, Screen) error  { return ErrNotHandedOver }
func (noChannel) Permission(context.Context) (Permission, bool) { return Permission{}, false }
func (noChannel) Reply(context.Context, string, bool) error     { return ErrNotHandedOver }
