package checks

import (
	"errors"
	"testing"
)

func TestNarrow(t *testing.T) {
	for n := 2; n < 40; n++ {
		for first := 1; first < n; first++ { // the first bad one
			runs := 0
			good, bad, err := narrow(0, n-1, func(i int) (bool, error) { runs++; return i >= first, nil })
			if err != nil || good != first-1 || bad != first || runs > 6 {
				t.Errorf("%d of %d: %d and %d after %d runs, %v", first, n, good, bad, runs, err)
			}
		}
	}
	stop := errors.New("stop")
	if _, _, err := narrow(0, 5, func(int) (bool, error) { return false, stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestSearch(t *testing.T) {
	for _, test := range []struct {
		first int // the first bad one of five
		bad   int
		err   string
	}{{0, 0, "x already, no turn broke it"}, {1, 1, ""}, {3, 3, ""}, {4, 4, ""}, {5, 0, ""}} {
		_, bad, err := Search(5, "x", func(i int) (bool, error) { return i >= test.first, nil })
		if bad != test.bad || err == nil && test.err != "" || err != nil && err.Error() != test.err {
			t.Errorf("%d: %d, %v", test.first, bad, err)
		}
	}
}
