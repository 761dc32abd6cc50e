package poll

import (
	"context"
	"testing"
	"time"
)

func TestUntil(t *testing.T) {
	asked := 0
	third := func() bool { asked++; return asked == 3 }
	if !Until(t.Context(), time.Microsecond, time.Minute, third) || asked != 3 {
		t.Errorf("asked %d times for the third answer", asked)
	}
	asked = 3
	if Until(t.Context(), time.Microsecond, -time.Second, third) || asked != 4 {
		t.Errorf("without patience it was asked %d times", asked-3)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	asked = 3
	if Until(done, time.Hour, time.Hour, third) || asked != 4 {
		t.Errorf("after a cancel it was asked %d times", asked-3)
	}
}
