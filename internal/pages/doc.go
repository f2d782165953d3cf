// Package pages reads the pages of this repository, and the comments of its packages, and holds them to the code. It has
// nothing but tests:
//
//   - links lead somewhere, and each page is on the map;
//   - listings of the library run as they are printed, or stand in the file that they name;
//   - names and fields in the listings of package comments are there;
//   - sentences are short, and have no turn of phrase that makes a reader go back.
package pages
