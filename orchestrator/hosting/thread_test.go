package hosting

import "testing"

func TestNumberIn(t *testing.T) {
	shop, _ := PlaceOf("git@github.com:acme/shop.git")
	lab, _ := PlaceOf("git@gitlab.com:acme/web/shop.git")
	for _, c := range []struct {
		word string
		of   Place
		want int
	}{
		{"12", shop, 12},
		{"#12", shop, 12},
		{"!12", lab, 12},
		{"https://github.com/acme/shop/issues/12", shop, 12},
		{"https://github.com/acme/shop/issues/12#issuecomment-1", shop, 12},
		{"https://github.com/acme/shop/pull/7/", shop, 7},
		{"https://gitlab.com/acme/web/shop/-/issues/3", lab, 3},
		{"https://gitlab.com/acme/web/shop/-/merge_requests/4", lab, 4},
		{"https://github.com/acme/other/issues/12", shop, 0},
		{"https://github.com/acme/shop/wiki/12", shop, 0},
		{"0", shop, 0},
		{"-1", shop, 0},
		{"12a", shop, 0},
		{"", shop, 0},
	} {
		got, ok := NumberIn(c.word, c.of)
		if ok != (c.want > 0) || ok && got != c.want {
			t.Errorf("%s: %d, %v, want %d", c.word, got, ok, c.want)
		}
	}
}
