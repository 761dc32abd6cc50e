// Package hosting deals with servers that host repositories and pull requests: it derives the
// server from the URL of a remote, builds the web address for a new pull request, and runs gh and
// glab. It knows nothing of paw.
package hosting

import (
	"net/url"
	"slices"
	"strings"
)

// Kind is the software of a server, "" where it is unknown.
type Kind string

// The kinds. Forgejo, as on codeberg.org, has the addresses of Gitea.
const (
	GitHub    Kind = "github"
	GitLab    Kind = "gitlab"
	Bitbucket Kind = "bitbucket"
	Gitea     Kind = "gitea"
)

// Place is a repository on a server.
type Place struct {
	Kind Kind
	Site string // web address of the server, such as https://github.com
	Host string
	Path string // path of the repository on the server, such as acme/shop; groups of GitLab may be nested
}

// sshHosts are host names for ssh over the https port, with the web host of each.
var sshHosts = map[string]string{
	"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
}

// PlaceOf parses the URL of a remote. It returns false for a remote without a web server, such as a
// path, and for a host name without a dot, which is an alias of the user's ssh configuration or
// local network.
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
	if scheme == "http" || scheme == "https" { // a port in an ssh URL is not that of the web server
		p.Site = scheme + "://" + name
		if port != "" {
			p.Site, p.Host = p.Site+":"+port, name+":"+port
		}
	}
	return p, true
}

// split parses the URL of a remote; the scheme is "" for a local path.
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

// kindOf guesses the kind from the host name.
func kindOf(host string) Kind {
	labels := strings.Split(host, ".")
	named := func(names ...string) bool {
		return slices.ContainsFunc(labels, func(label string) bool { return slices.Contains(names, label) })
	}
	switch {
	case host == "bitbucket.org": // self-hosted Bitbucket has other addresses
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

// Owner returns the first part of the path, the owner of the repository.
func (p Place) Owner() string {
	owner, _, _ := strings.Cut(p.Path, "/")
	return owner
}

// Address returns the web address for a new pull request: from a branch of this repository into a
// branch of the repository into, which may be the same. It is "" where the form of the address is
// unknown.
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
	case GitLab: // from a fork GitLab suggests the original repository as the target
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

// Page returns the web address of the repository.
func (p Place) Page() string { return p.Site + "/" + inPath(p.Path) }

func (p Place) page(name string) string { return p.Page() + "/" + name }

// inPath escapes a name for a URL, except its slashes.
func inPath(name string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}
