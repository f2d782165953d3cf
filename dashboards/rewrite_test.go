package dashboards

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the dashboards' files anew")

// TestFiles compares the JSON files with the dashboards that they are made from.
func TestFiles(t *testing.T) {
	for _, d := range All() {
		name := strings.TrimPrefix(d.UID, "orwl-") + ".json"
		want, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := d.JSON(); !bytes.Equal(want, again) {
			t.Errorf("%s is not the same every time", name)
		}
		if *rewrite {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if has, err := os.ReadFile(name); err != nil || !bytes.Equal(has, want) {
			t.Errorf("%s is not what is made now, %v: go test ./dashboards -rewrite", name, err)
		}
	}
}
