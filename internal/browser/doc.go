// Package browser drives a Chromium in tests of pages, by the two pipes of its remote debugging. It opens a page, reads what it shows,
// presses keys, and keeps pictures in the folder ORWL_SHOTS. A machine without a Chromium skips these tests.
//
//	b := browser.Open(t, 1280, 800)
//	b.Show("file:///tmp/page.html")
//	b.Until(`document.title === "ready"`)
package browser
