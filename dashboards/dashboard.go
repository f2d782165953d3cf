package dashboards

import "strings"

// Dashboard is a page of panels.
type Dashboard struct {
	// UID is how Grafana tells dashboards apart, and the name of the file.
	UID, Title, About string
	// Choices are asked for above the panels, besides the data source, the job and
	// the nodes.
	Choices []Choice
	Rows    []Row
}

// Choice is a label of a metric. Some of its values can be chosen, all are at first.
type Choice struct{ Name, Label, Metric string }

// Row is a heading and what is below it, from left to right and line by line.
type Row struct {
	Title  string
	Panels []Panel
}

// Panel is one picture.
type Panel struct {
	// About is what a reader needs to know to read it.
	Title, About string
	Kind         Kind // Lines by default
	Unit         Unit
	// Width is in columns, of 24 that there are, and Height in lines of 30 pixels; 8 and
	// 8 by default, a Number is 3 wide and 4 high.
	Width, Height int
	// Stack draws lines on top of each other, where their sum is of interest.
	Stack bool
	// Alarm is the value from which on a Number is red; never, if zero.
	Alarm   float64
	Queries []Query
}

// Query is an expression in PromQL and what is drawn is called. In an expression
// {here} and {here, more} stand for the series of the chosen job and nodes.
type Query struct{ Expr, Legend string }

// Kind is how a panel shows what it has.
type Kind string

// The kinds of panels, as Grafana calls them.
const (
	Lines  Kind = "timeseries"
	Number Kind = "stat"
	Table  Kind = "table"
	Heat   Kind = "heatmap" // of a histogram's buckets
)

// Unit is what the numbers of a panel are.
type Unit string

// The units, as Grafana calls them.
const (
	Count          Unit = "short"
	PerSecond      Unit = "ops"
	Seconds        Unit = "s"
	Bytes          Unit = "bytes"
	BytesPerSecond Unit = "Bps"
	Share          Unit = "percentunit"
)

const (
	columns      = 24
	panelWidth   = 8
	panelHeight  = 8
	numberWidth  = 3
	numberHeight = 4
)

func (p Panel) withDefaults() Panel {
	width, height := panelWidth, panelHeight
	if p.Kind == Number {
		width, height = numberWidth, numberHeight
	}
	if p.Kind == "" {
		p.Kind = Lines
	}
	if p.Width == 0 {
		p.Width = width
	}
	if p.Height == 0 {
		p.Height = height
	}
	return p
}

// The variables that every dashboard has.
const (
	chosenJob  = `job=~"$job"`
	chosenNode = `node=~"$node"`
)

// promQL is the expression with the selectors that {here} and {there} stand for.
func (q Query) promQL() string {
	return strings.NewReplacer(
		"{here", "{"+chosenJob+", "+chosenNode,
		"{there", "{"+chosenJob, // the series have no node: they are of the whole target
	).Replace(q.Expr)
}

// quantiles are three lines of a histogram, by labels of it if there are any. Without events a
// quantile would be 0/0, so it gets no line.
func quantiles(histogram, by string) []Query {
	labels, legend := "le", ""
	if by != "" {
		labels += ", " + by
		for label := range strings.SplitSeq(by, ", ") {
			legend += " {{" + label + "}}"
		}
	}
	var all []Query
	for _, q := range []struct{ of, name string }{{"0.5", "p50"}, {"0.9", "p90"}, {"0.99", "p99"}} {
		all = append(all, Query{
			"histogram_quantile(" + q.of + ", sum by (" + labels + ") (rate(" + histogram + "_bucket{here}[$__rate_interval]))) >= 0",
			q.name + legend,
		})
	}
	return all
}

// heat is the buckets of a histogram over time.
func heat(histogram string) []Query {
	return []Query{{"sum by (le) (increase(" + histogram + "_bucket{here}[$__rate_interval]))", "{{le}}"}}
}

// All are the dashboards, in the order in which one looks at them.
func All() []Dashboard {
	return []Dashboard{overview(), lockDashboard(), network(), llk23(), dht()}
}
