package hosting

import "testing"

func TestPlaceOf(t *testing.T) {
	for remote, want := range map[string]Place{
		"https://github.com/acme/shop.git":            {GitHub, "https://github.com", "github.com", "acme/shop"},
		"https://token@github.com/acme/shop":          {GitHub, "https://github.com", "github.com", "acme/shop"},
		"git@github.com:acme/shop.git":                {GitHub, "https://github.com", "github.com", "acme/shop"},
		"github.com:acme/shop":                        {GitHub, "https://github.com", "github.com", "acme/shop"},
		"ssh://git@ssh.github.com:443/acme/shop.git":  {GitHub, "https://github.com", "github.com", "acme/shop"},
		"https://github.acme.com/team/shop/":          {GitHub, "https://github.acme.com", "github.acme.com", "team/shop"},
		"https://acme.ghe.com/team/shop.git":          {GitHub, "https://acme.ghe.com", "acme.ghe.com", "team/shop"},
		"git@gitlab.com:acme/web/shop.git":            {GitLab, "https://gitlab.com", "gitlab.com", "acme/web/shop"},
		"ssh://git@gitlab.acme.com:2222/web/shop.git": {GitLab, "https://gitlab.acme.com", "gitlab.acme.com", "web/shop"},
		"https://gitlab.acme.com:8443/web/shop.git":   {GitLab, "https://gitlab.acme.com:8443", "gitlab.acme.com:8443", "web/shop"},
		"http://gitea.acme.com:3000/web/shop.git":     {Gitea, "http://gitea.acme.com:3000", "gitea.acme.com:3000", "web/shop"},
		"git@codeberg.org:acme/shop.git":              {Gitea, "https://codeberg.org", "codeberg.org", "acme/shop"},
		"git@bitbucket.org:acme/shop.git":             {Bitbucket, "https://bitbucket.org", "bitbucket.org", "acme/shop"},
		"ssh://git@bitbucket.acme.com:7999/AC/sh.git": {"", "https://bitbucket.acme.com", "bitbucket.acme.com", "AC/sh"},
		"git@git.acme.com:web/shop.git":               {"", "https://git.acme.com", "git.acme.com", "web/shop"},
		"https://notgithub.com/acme/shop":             {"", "https://notgithub.com", "notgithub.com", "acme/shop"},
		"git@github-work:acme/shop.git":               {}, // a nickname: who knows of what
		"git@github.com:shop.git":                     {},
		"/srv/git/acme/shop.git":                      {},
		"./a:b/c":                                     {},
		"file:///srv/git/acme/shop.git":               {},
		"ext::sh -c x.y/z":                            {},
		"":                                            {},
	} {
		if got, ok := PlaceOf(remote); got != want || ok != (want != Place{}) {
			t.Errorf("%s: %+v, %v, want %+v", remote, got, ok, want)
		}
	}
}

func TestAddress(t *testing.T) {
	place := func(remote string) Place { p, _ := PlaceOf(remote); return p }
	for _, c := range []struct{ from, into, branch, want string }{
		{"git@github.com:acme/shop", "git@github.com:acme/shop", "paw/shop/claude", "https://github.com/acme/shop/compare/main...paw/shop/claude?expand=1"},
		{"git@github.com:ann/shop", "git@github.com:acme/shop", "a#b %", "https://github.com/acme/shop/compare/main...ann:a%23b%20%25?expand=1"},
		{"git@gitlab.com:acme/web/shop", "git@gitlab.com:acme/web/shop", "paw/x", "https://gitlab.com/acme/web/shop/-/merge_requests/new?merge_request%5Bsource_branch%5D=paw%2Fx&merge_request%5Btarget_branch%5D=main"},
		{"git@gitlab.com:ann/shop", "git@gitlab.com:acme/shop", "x", "https://gitlab.com/ann/shop/-/merge_requests/new?merge_request%5Bsource_branch%5D=x"},
		{"git@codeberg.org:acme/shop", "git@codeberg.org:acme/shop", "paw/x", "https://codeberg.org/acme/shop/compare/main...paw/x"},
		{"git@codeberg.org:ann/shop", "git@codeberg.org:acme/shop", "x", "https://codeberg.org/acme/shop/compare/main...ann/shop:x"},
		{"git@bitbucket.org:acme/shop", "git@bitbucket.org:acme/shop", "paw/x", "https://bitbucket.org/acme/shop/pull-requests/new?dest=main&source=paw%2Fx"},
		{"git@git.acme.com:web/shop", "git@git.acme.com:web/shop", "x", ""},
	} {
		if got := place(c.from).Address(c.branch, place(c.into), "main"); got != c.want {
			t.Errorf("%s: %s, want %s", c.from, got, c.want)
		}
	}
}
