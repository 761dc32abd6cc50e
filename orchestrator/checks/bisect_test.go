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
