// Package report writes the results of package lab: as a table, as CSV, as JSON, and as one HTML
// page that needs no network.
//
//	r := report.Report{Title: "locks on this machine", Command: "orwl-lab bench", Results: results}
//	err := r.Table(os.Stdout)
//	err = r.HTML(file)
//
// The page has a plot for each benchmark and window, and the table below it. A [Plot] draws
// itself as SVG, so that other reports draw their figures alike. A series has the same colour in
// all plots of a page.
package report
