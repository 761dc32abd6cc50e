package turns

import (
	"strconv"
	"strings"
)

// Ranges formats the numbers of turns: "1-4", "2", "1-2,5".
func Ranges(list []Turn) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1].Number == list[k].Number+1 {
			k++
		}
		part := strconv.Itoa(list[i].Number)
		if k > i {
			part += "-" + strconv.Itoa(list[k].Number)
		}
		parts, i = append(parts, part), k+1
	}
	return strings.Join(parts, ",")
}

// Words names turns, in the format of Ranges.
func Words(turns string) string {
	if strings.ContainsAny(turns, "-,") {
		return "turns " + turns
	}
	return "turn " + turns
}
