package display

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestColoursAreLegible: each colour has a contrast of at least 3.9 to 1 with a black background and with a white one.
func TestColoursAreLegible(t *testing.T) {
	for _, code := range []string{Red, Green, Yellow, Cyan, Magenta, Grey} {
		number, err := strconv.Atoi(strings.TrimPrefix(code, "38;5;"))
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		light := luminance(number)
		if dark, white := (light+0.05)/0.05, 1.05/(light+0.05); dark < 3.8 || white < 3.8 {
			t.Errorf("%s: %.1f to 1 on black, %.1f to 1 on white", code, dark, white)
		}
	}
}

// TestColoursAreLegibleOnDark: where the background is known to be dark, each colour has a contrast of at least 4.5 to 1 with what
// people call dark, such as Solarized.
func TestColoursAreLegibleOnDark(t *testing.T) {
	const solarized = 0.0206 // the luminance of #002b36
	for _, code := range []string{Red, Green, Yellow, Cyan, Magenta, Grey} {
		number, err := strconv.Atoi(strings.TrimPrefix(OnDark(code), "38;5;"))
		if contrast := (luminance(number) + 0.05) / (solarized + 0.05); err != nil || contrast < 4.5 {
			t.Errorf("%d: %.1f to 1, %v", number, contrast, err)
		}
		if one, other := OnBar("\x1b["+code+"m"), OnBar("\x1b["+OnDark(code)+"m"); one != other {
			t.Errorf("on the bar %q is %q, and %q is %q", code, one, OnDark(code), other)
		}
	}
}

// luminance is the relative luminance (WCAG 2) of one of the 256 colours, from the 16 of the theme on.
func luminance(number int) float64 {
	var rgb [3]int
	if number >= 232 {
		for i := range rgb {
			rgb[i] = 8 + 10*(number-232)
		}
	} else {
		steps := [...]int{0, 95, 135, 175, 215, 255}
		for i, n := range [...]int{36, 6, 1} {
			rgb[i] = steps[(number-16)/n%6]
		}
	}
	weights, sum := [...]float64{0.2126, 0.7152, 0.0722}, 0.0
	for i, one := range rgb {
		part := float64(one) / 255
		if part <= 0.03928 {
			part /= 12.92
		} else {
			part = math.Pow((part+0.055)/1.055, 2.4)
		}
		sum += weights[i] * part
	}
	return sum
}

// TestBarIsLegible: on a Bar each colour has a contrast of at least 4.5 to 1, and every style that ends goes on with the bar.
func TestBarIsLegible(t *testing.T) {
	ground := luminance(239)
	for _, code := range []string{Red, Green, Yellow, Cyan, Magenta, Grey} {
		on := OnBar("\x1b[" + code + "m")
		number, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(on, "\x1b["+Bar+"m\x1b[38;5;"), "m\x1b[m"))
		if err != nil {
			t.Fatalf("%q: %v", on, err)
		}
		if contrast := (luminance(number) + 0.05) / (ground + 0.05); contrast < 4.5 {
			t.Errorf("%d on the bar: %.1f to 1", number, contrast)
		}
	}
	if got, want := OnBar("a \x1b[1mb\x1b[m c"), "\x1b["+Bar+"ma \x1b[1mb\x1b[m\x1b["+Bar+"m c\x1b[m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
