package cli

import "testing"

func TestOnceReadsForAllAgentsOfOneLook(t *testing.T) {
	readings := 0
	read := func() int { readings++; return readings }
	look := &Look{}
	if one, other := Once(look, "registry", read), Once(look, "registry", read); one != 1 || other != 1 {
		t.Errorf("the agents of a look got %d and %d", one, other)
	}
	if next := Once(&Look{}, "registry", read); next != 2 {
		t.Errorf("the next look got reading %d", next)
	}
	if alone := Once(nil, "registry", read); alone != 3 {
		t.Errorf("without a look it got reading %d", alone)
	}
}
