package grafana

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// TestPanels reads each dashboard strictly: each panel by the type of its kind, and each query by Prometheus' one. A field that
// Grafana does not know, or that lacks, is an error, at any depth.
func TestPanels(t *testing.T) {
	r := cog.NewRuntime()
	for _, kind := range []variants.PanelcfgConfig{timeseries.VariantConfig(), stat.VariantConfig(), table.VariantConfig(), heatmap.VariantConfig()} {
		r.RegisterPanelcfgVariant(kind)
	}
	r.RegisterDataqueryVariant(prometheus.VariantConfig())
	files, err := filepath.Glob("../*.json")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d dashboards, %v", len(files), err)
	}
	wrong := map[string]string{ // each is a mistake that the reader has to find, in a panel of some kind
		`"fillOpacity": 8`: `"fillOpacity": "much"`, `"graphMode": "none"`: `"graphModus": "none"`,
		`"calculate": false`: `"calculate": "no"`, `"instant": false`: `"instant": 0`, `"showLegend": true`: `"showLegends": true`,
	}
	found := make(map[string]bool)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		panels, err := read(text)
		if err != nil || panels == 0 {
			t.Errorf("%s: %d panels, %v", file, panels, err)
		}
		for from, to := range wrong {
			if changed := bytes.Replace(text, []byte(from), []byte(to), 1); !bytes.Equal(changed, text) {
				if _, err := read(changed); err == nil {
					t.Errorf("%s: %s instead of %s is not noticed", file, to, from)
				}
				found[from] = true
			}
		}
	}
	for from := range wrong {
		if !found[from] {
			t.Errorf("no dashboard has %s", from)
		}
	}
}

// read reads a dashboard. It counts its panels with queries of Prometheus.
func read(text []byte) (panels int, err error) {
	//lint:ignore SA1019 dashboardv2 reads files of another form, which provisioning by folder does not take
	var d dashboard.Dashboard
	if err := said(d.UnmarshalJSONStrict(text)); err != nil {
		return 0, err
	}
	if err := said(d.Validate()); err != nil {
		return 0, err
	}
	var all struct{ Panels []json.RawMessage }
	if err := json.Unmarshal(text, &all); err != nil {
		return 0, err
	}
	for _, raw := range all.Panels {
		var kind struct{ Type string }
		if err := json.Unmarshal(raw, &kind); err != nil {
			return 0, err
		}
		if kind.Type == "row" {
			continue // the dashboard has read it
		}
		var p dashboard.Panel
		if err := said(p.UnmarshalJSONStrict(raw)); err != nil {
			return 0, err
		}
		if _, known := cog.ConfigForPanelcfgVariant(p.Type); !known {
			return 0, fmt.Errorf("panel %q is of the unknown type %q", *p.Title, p.Type)
		}
		if err := said(p.Validate()); err != nil {
			return 0, err
		}
		for _, q := range p.Targets {
			asked, is := q.(*prometheus.Dataquery)
			if !is || strings.TrimSpace(asked.Expr) == "" {
				return 0, fmt.Errorf("panel %q asks %T, and not Prometheus", *p.Title, q)
			}
		}
		panels++
	}
	return panels, nil
}

// said is an error that says something. Without an error these readers return an empty list of errors.
func said(err error) error {
	if err != nil && err.Error() == "" {
		return nil
	}
	return err
}
