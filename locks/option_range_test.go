package locks_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/locks"
	"github.com/orwl/go-orwl/net/topology"
)

// TestRanges checks that each lock accepts the bounds that it declares and nothing beyond, and that
// every option that is a number has a range.
func TestRanges(t *testing.T) {
	tree, err := topology.Parse("node:2 core:4")
	if err != nil {
		t.Fatal(err)
	}
	noNumbers := []string{"StepBack", "Count", "OwnNode"}
	for _, s := range locks.All() {
		var fields []string
		for _, r := range s.Ranges(tree) {
			field, rest, _ := strings.Cut(r.Option, "[")
			field, _, _ = strings.Cut(field, ".")
			fields = append(fields, field)
			if got := r.Of(locks.Options{}); got != r.Default || r.Default < r.Least || r.Default > r.Most {
				t.Errorf("%s: %s of no options is %d, want the default %d, from %d to %d", s.Name, r.Option, got, r.Default, r.Least, r.Most)
			}
			for _, v := range []int{r.Least, r.Most} {
				o := r.With(locks.Options{}, v)
				if r.Of(o) != v && v != 0 {
					t.Errorf("%s: %s is %d, want %d", s.Name, r.Option, r.Of(o), v)
				}
				if err := s.Validate(tree, o); err != nil && !excludes(err, r.Option, v) {
					t.Errorf("%s: %s = %d: %v", s.Name, r.Option, v, err)
				}
			}
			if field == "TDC" || field == "Backoff" || field == "RemoteBackoff" {
				continue // more is allowed, and changes nothing
			}
			if o := r.With(locks.Options{}, r.Most+1); s.Validate(tree, o) == nil {
				t.Errorf("%s: %s = %d is accepted", s.Name, r.Option, r.Most+1)
			}
			if rest == "0]" {
				o := locks.Options{TL: []int{7, 8}}
				if got := r.With(o, 9); !slices.Equal(got.TL, []int{9, 8}) || !slices.Equal(o.TL, []int{7, 8}) {
					t.Errorf("%s: %v from %v, want 9 8 from 7 8", s.Name, got.TL, o.TL)
				}
			}
		}
		for _, name := range s.Options {
			if !slices.Contains(fields, name) && !slices.Contains(noNumbers, name) {
				t.Errorf("%s heeds %s, which has no range", s.Name, name)
			}
		}
	}
	for _, name := range noNumbers {
		if f, ok := reflect.TypeFor[locks.Options]().FieldByName(name); !ok || f.Type.Kind() == reflect.Int {
			t.Errorf("%s is a number", name)
		}
	}
}

// excludes reports whether a bound of one option does not go with the defaults of another.
func excludes(err error, option string, v int) bool {
	return strings.Contains(err.Error(), "at least the product of T_L,2") && (option == "TW" || v > 1) ||
		strings.Contains(err.Error(), "0 <= Min <= Max") && (option[len(option)-3:] == "Max") == (v == 1)
}
