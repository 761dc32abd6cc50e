// Package refs reads the refs of a repository, from files where git is not needed, and writes them
// with git update-ref.
//
// Begin with Store; names of branches are in name.go.
package refs
