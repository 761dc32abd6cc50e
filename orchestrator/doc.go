// Package orchestrator holds paw's use cases, one per file. Each gathers its facts once, decides in pure functions and
// acts in steps that may be repeated: a paw killed after any step leaves something that the next command finishes.
//
// What they share lives in rooms, each of which may import those before it: errs, live, app, observe, handover, transcript, turns,
// landing, typing, launch, teardown, startplan, children. A new reader begins with app.App, then observe.Observe, then any use case.
package orchestrator
