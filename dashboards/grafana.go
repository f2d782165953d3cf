package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// schema is the version of Grafana's format that is written: Grafana 12's. Later ones
// read it, and so do earlier ones from 10 on, since nothing newer is used.
const schema = 41

// object is one of JSON. Its keys are written in alphabetical order, so that the same
// dashboard is always the same file.
type object = map[string]any

// source is the data source that is chosen in the dashboard.
var source = object{"type": "prometheus", "uid": "${datasource}"}

// JSON is the dashboard as Grafana reads it.
func (d Dashboard) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(object{
		"uid": d.UID, "title": d.Title, "description": d.About, "tags": []string{"orwl"},
		"schemaVersion": schema, "version": 1, "editable": true, "graphTooltip": 1, "refresh": "10s", "timezone": "browser",
		"time":       object{"from": "now-15m", "to": "now"},
		"timepicker": object{"refresh_intervals": []string{"1s", "5s", "10s", "30s", "1m", "5m"}},
		"templating": object{"list": d.variables()},
		"annotations": object{"list": []object{{
			"name": "Alerts", "datasource": source, "enable": true, "iconColor": "red", "titleFormat": "{{alertname}}", "textFormat": "node {{node}}",
			"expr": `ALERTS{` + chosenJob + `, alertstate="firing"}`, "step": "10s",
		}}},
		"links": []object{{
			"icon": "external link", "tooltip": "", "targetBlank": false,
			"type": "dashboards", "title": "ORWL", "tags": []string{"orwl"}, "asDropdown": true, "includeVars": true, "keepTime": true,
		}},
		"panels": d.panels(),
	})
	return b.Bytes(), err
}

// variables are what is asked for above the panels.
func (d Dashboard) variables() []object {
	label := func(name, title, query string) object {
		return object{
			"name": name, "label": title, "type": "query", "datasource": source, "refresh": 2, "sort": 3,
			"query": object{"query": query, "refId": "variable-" + name}, "definition": query,
			"multi": true, "includeAll": true, "allValue": ".*", "current": object{"text": "All", "value": "$__all"},
		}
	}
	all := []object{
		{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus", "refresh": 1, "current": object{"text": "", "value": ""}},
		label("job", "job", "label_values(orwl_info, job)"),
		label("node", "node", "label_values(orwl_info{"+chosenJob+"}, node)"),
	}
	for _, c := range d.Choices {
		all = append(all, label(c.Name, c.Label, fmt.Sprintf("label_values(%s{%s}, %s)", c.Metric, chosenJob, c.Label)))
	}
	return all
}

// panels are the rows' headings and what is below them, each in its place.
func (d Dashboard) panels() []object {
	var all []object
	g := new(grid)
	for _, r := range d.Rows {
		g.line()
		all = append(all, object{
			"id": len(all) + 1, "type": "row", "title": r.Title, "collapsed": false, "panels": []object{}, "gridPos": g.place(columns, 1),
		})
		for _, p := range r.Panels {
			p = p.withDefaults()
			o := p.object()
			o["id"], o["gridPos"] = len(all)+1, g.place(p.Width, p.Height)
			all = append(all, o)
		}
	}
	return all
}

// grid puts things side by side, and begins a new line where there is no room.
type grid struct{ x, y, height int }

// line begins a new line.
func (g *grid) line() { g.x, g.y, g.height = 0, g.y+g.height, 0 }

func (g *grid) place(width, height int) object {
	if g.x+width > columns {
		g.line()
	}
	at := object{"x": g.x, "y": g.y, "w": width, "h": height}
	g.x, g.height = g.x+width, max(g.height, height)
	return at
}

// object is the panel without its place.
func (p Panel) object() object {
	var targets []object
	for i, q := range p.Queries {
		t := object{
			"refId": string(rune('A' + i)), "datasource": source, "editorMode": "code", "expr": q.promQL(), "legendFormat": q.Legend,
			"range": p.now() == "range", "instant": p.now() == "instant",
		}
		switch p.Kind {
		case Heat:
			t["format"] = "heatmap"
		case Table:
			t["format"] = "table"
		}
		targets = append(targets, t)
	}
	return object{
		"type": string(p.Kind), "title": p.Title, "description": p.About, "datasource": source, "targets": targets,
		"fieldConfig": object{"defaults": p.field(), "overrides": []object{}}, "options": p.options(), "transformations": p.transformations(),
	}
}

// now says whether the panel shows a moment or how it came there.
func (p Panel) now() string {
	if p.Kind == Number || p.Kind == Table {
		return "instant"
	}
	return "range"
}

// field is how the panel's numbers are drawn.
func (p Panel) field() object {
	f := object{"unit": string(p.Unit), "noValue": "none"}
	switch p.Kind {
	case Lines:
		custom := object{
			"drawStyle": "line", "lineWidth": 1, "fillOpacity": 8, "showPoints": "never", "spanNulls": false,
			"stacking": object{"mode": "none", "group": "A"},
		}
		if p.Stack {
			custom["fillOpacity"], custom["stacking"] = 30, object{"mode": "normal", "group": "A"}
		}
		f["custom"], f["min"] = custom, 0
		if p.Unit == Share {
			f["max"] = 1
		}
	case Number:
		steps := []object{{"color": "text", "value": nil}}
		if p.Alarm > 0 {
			steps = []object{{"color": "green", "value": nil}, {"color": "red", "value": p.Alarm}}
		}
		f["thresholds"] = object{"mode": "absolute", "steps": steps}
	case Heat:
		f["custom"] = object{"scaleDistribution": object{"type": "linear"}}
	}
	return f
}

// options are the options of the kind of panel.
func (p Panel) options() object {
	switch p.Kind {
	case Lines:
		return object{
			"legend":  object{"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []string{}},
			"tooltip": object{"mode": "multi", "sort": "desc"},
		}
	case Number:
		return object{
			"colorMode": "value", "graphMode": "none", "justifyMode": "auto", "orientation": "auto", "textMode": "value",
			"reduceOptions": object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
		}
	case Heat:
		return object{
			"calculate": false, "cellGap": 1, "color": object{"mode": "scheme", "scheme": "Oranges", "steps": 64}, "filterValues": object{"le": 1e-9},
			"legend": object{"show": true}, "tooltip": object{"mode": "single", "yHistogram": false}, "yAxis": object{"axisPlacement": "left", "unit": string(p.Unit)},
		}
	}
	return object{"showHeader": true, "cellHeight": "sm", "footer": object{"show": false, "reducer": []string{}}}
}

// transformations leave away the columns of a table that say nothing.
func (p Panel) transformations() []object {
	if p.Kind != Table {
		return []object{}
	}
	return []object{{"id": "organize", "options": object{
		"excludeByName": object{"Time": true, "Value": true}, "indexByName": object{}, "renameByName": object{},
	}}}
}
