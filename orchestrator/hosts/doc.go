// Package hosts reaches other machines that run paw. The other side is a whole paw: what crosses are its public commands and
// their JSON, over the user's own OpenSSH. There is no protocol, no port and no daemon.
//
// Package hosts knows no session and no agent of this machine. Begin with Client, then Request.
//
// One invariant: ssh's own failure is never taken for an answer of the host. An answer begins behind a marker that only the
// paw over there prints.
package hosts
