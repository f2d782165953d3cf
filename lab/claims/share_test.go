package claims

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orwl/go-orwl/internal/rings"
)

var rewrite = flag.Bool("claims.rewrite", false, "TestShareOfReproduce: write testdata/share.txt")

// share are figures that take a second or two together: one of each paper, and one that is played for a time.
var share = []string{"HPDC16 Fig. 4a", "TOPC19 Fig. 2a", "CACM18 §2.4", "CACM18 §2.3 PUT", "Uffmann22 benchmark 5.5a", "Uffmann22 benchmark 4.3"}

// TestShareOfReproduce plays a share of orwl-lab reproduce. The outcome depends on the locks and the
// machines' figures and on nothing else: a change of either shows here, with the claims that it moves.
func TestShareOfReproduce(t *testing.T) {
	rings.Computes(t)
	var studies []Study
	for _, s := range Studies() {
		if slices.Contains(share, s.Figure) {
			studies = append(studies, s)
		}
	}
	if len(studies) != len(share) {
		t.Fatalf("%d studies, want %d", len(studies), len(share))
	}
	outcomes, err := Reproduce(t.Context(), studies, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, o := range outcomes {
		fmt.Fprintf(&got, "%s: all figures %s\n", o.Figure, hash(o.Data))
		for _, v := range o.Verdicts {
			fmt.Fprintf(&got, "  %s: %s: %s\n", said(v.Holds), v.Text, v.Came)
		}
	}
	const file = "testdata/share.txt"
	if *rewrite {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || got.String() != string(want) {
		t.Errorf("%v\n%s\nwant\n%s\ngo test ./claims -run Share -claims.rewrite writes it", err, got.String(), want)
	}
}

// hash is a hash of all figures of all points, with six digits.
func hash(d Data) string {
	var all []string
	for _, l := range d.Lines {
		for _, p := range l.Points {
			for name, v := range p.Figures {
				all = append(all, fmt.Sprintf("%s %g %s %.6g", l.Name, p.X, name, v))
			}
		}
	}
	slices.Sort(all)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(all, "\n"))))[:12]
}
