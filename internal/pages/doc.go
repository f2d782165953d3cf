// Package pages reads the pages of this repository and the comments of its packages, for tests that hold them to the code.
//
//	all, err := pages.Of("..")
//	for _, to := range pages.Links(text) {
//		err := pages.Leads(page, to)
//	}
//
// [Blocks] and [Comments] are the listings of a page and of a package comment. [Names] looks whether there is what a listing
// names. The package keeps nothing.
package pages
