// Package teardown takes agents and sessions away: stop, remove and purge. Each looks first, decides in a plan that is a
// value with a text, and applies it. The text is what a dry run shows. Whoever applies a plan decides nothing: where the
// world has changed since, it refuses, or leaves what it cannot account for.
//
// Begin with Stop, Agent and Purge. The room may import observe, turns, landing and launch; it prompts nobody and tells no
// parent.
package teardown
