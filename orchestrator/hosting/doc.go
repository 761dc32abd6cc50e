// Package hosting knows the servers that keep repositories and take pull requests: what the address of a remote says of its
// server, where one asks for a pull request in the browser, and the programs that ask for one, gh and glab. It knows nothing
// of paw.
package hosting
