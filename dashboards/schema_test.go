package dashboards

import (
	"bytes"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// TestSchema reads the dashboards as Grafana's own types, which know each field and what a field
// may be. Panels are looked at as far as they are alike: their kinds have packages of their own, which
// take minutes to compile.
func TestSchema(t *testing.T) {
	for _, d := range All() {
		text, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := asGrafana(text); err != nil {
			t.Errorf("%s: %v", d.UID, err)
		}
		for from, to := range map[string]string{
			`"schemaVersion":`: `"schemaversion":`, `"targetBlank": false`: `"targetBlank": "no"`, `"editable": true`: `"editable": 1`,
			`"icon":`: `"icons":`,
		} {
			if changed := bytes.Replace(text, []byte(from), []byte(to), 1); bytes.Equal(changed, text) || asGrafana(changed) == nil {
				t.Errorf("%s: %s instead of %s is not noticed", d.UID, to, from)
			}
		}
	}
}

func asGrafana(text []byte) error {
	//lint:ignore SA1019 dashboardv2 reads files of another form, which provisioning by folder does not take
	var d dashboard.Dashboard
	if err := d.UnmarshalJSONStrict(text); err != nil && err.Error() != "" { // without an error it is an empty list of them
		return err
	}
	return d.Validate()
}
