// Package hosts reaches other machines that run paw, over the user's own OpenSSH. It runs public
// commands of the paw there and reads their JSON. There is no protocol, no port and no daemon.
//
// Package hosts knows no session and no agent of this machine. Begin with Client, then Request.
//
// One invariant: a failure of ssh is never taken for an answer of the host. An answer begins after
// a marker that only the paw on the host prints.
package hosts
