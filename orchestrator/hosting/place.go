// Package hosting knows the servers that keep repositories and take pull requests: what the address of a remote says of its
// server, where one asks for a pull request in the browser, and the programs that ask for one, gh and glab. It knows nothing
// of paw.
package hosting

import (
	"net/url"
	"slices"
	"strings"
)

// Kind is the software of a server, "" where it is not known.
type Kind string

// The kinds. Forgejo, as on codeberg.org, is Gitea in all that matters here.
const (
	GitHub    Kind = "github"
	GitLab    Kind = "gitlab"
	Bitbucket Kind = "bitbucket"
	Gitea     Kind = "gitea"
)

// Place is a repository on a server.
type Place struct {
	Kind Kind
	Site string // address of the server in the browser, such as https://github.com
	Host string
	Path string // of the repository there, such as acme/shop; groups of GitLab may be deeper
}

// sshHosts are hosts of well-known servers that take ssh only, by the port of https.
var sshHosts = map[string]string{
	"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
}

// PlaceOf reads the address of a remote. It is false for one that leads to no server that a browser could show, such as a
// path, and for a host without a dot: that is a nickname of the user's ssh configuration, or of a network.
func PlaceOf(remote string) (Place, bool) {
	scheme, host, path := split(remote)
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	name, port, _ := strings.Cut(strings.ToLower(host), ":")
	if known := sshHosts[name]; known != "" {
		name = known
	}
	if scheme == "" || !strings.Contains(name, ".") || !strings.Contains(path, "/") {
		return Place{}, false
	}
	p := Place{Kind: kindOf(name), Site: "https://" + name, Host: name, Path: path}
	if scheme == "http" || scheme == "https" { // other ports are those of ssh
		p.Site = scheme + "://" + name
		if port != "" {
			p.Site, p.Host = p.Site+":"+port, name+":"+port
		}
	}
	return p, true
}

// split takes the address of a remote apart; the scheme is "" for a path on this machine.
func split(remote string) (scheme, host, path string) {
	if strings.Contains(remote, "://") {
		u, err := url.Parse(remote)
		if err != nil || !slices.Contains([]string{"https", "http", "ssh", "git+ssh", "ssh+git", "git"}, u.Scheme) {
			return "", "", ""
		}
		return u.Scheme, u.Host, u.Path
	}
	host, path, found := strings.Cut(remote, ":") // git@github.com:acme/shop.git
	if !found || strings.Contains(host, "/") {
		return "", "", ""
	}
	return "ssh", host[strings.LastIndex(host, "@")+1:], path
}

// kindOf tells the kind by the name of the host, as people name such hosts.
func kindOf(host string) Kind {
	labels := strings.Split(host, ".")
	named := func(names ...string) bool {
		return slices.ContainsFunc(labels, func(label string) bool { return slices.Contains(names, label) })
	}
	switch {
	case host == "bitbucket.org": // the software for a server of one's own has other addresses
		return Bitbucket
	case named("github") || strings.HasSuffix(host, ".ghe.com"):
		return GitHub
	case named("gitlab"):
		return GitLab
	case named("gitea", "forgejo", "codeberg"):
		return Gitea
	}
	return ""
}

// Owner is the first part of the path: whose repository it is.
func (p Place) Owner() string {
	owner, _, _ := strings.Cut(p.Path, "/")
	return owner
}

// Address is where one asks for a pull request in the browser: of a branch of this repository into a branch of another one,
// or of this one. It is "" where that cannot be known.
func (p Place) Address(branch string, into Place, base string) string {
	same := into == p
	query := url.Values{}
	switch p.Kind {
	case GitHub:
		if !same {
			branch = p.Owner() + ":" + branch
		}
		return into.page("compare/"+inPath(base)+"..."+inPath(branch)) + "?expand=1"
	case Gitea:
		if !same {
			branch = p.Path + ":" + branch
		}
		return into.page("compare/" + inPath(base) + "..." + inPath(branch))
	case GitLab: // of a fork it asks for the one that it is a fork of
		query.Set("merge_request[source_branch]", branch)
		if same {
			query.Set("merge_request[target_branch]", base)
		}
		return p.page("-/merge_requests/new") + "?" + query.Encode()
	case Bitbucket:
		query.Set("source", branch)
		if same {
			query.Set("dest", base)
		}
		return p.page("pull-requests/new") + "?" + query.Encode()
	}
	return ""
}

// Page is the address of the repository in the browser.
func (p Place) Page() string { return p.Site + "/" + inPath(p.Path) }

func (p Place) page(name string) string { return p.Page() + "/" + name }

// inPath quotes what has a meaning in an address, and leaves the slashes of names.
func inPath(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
