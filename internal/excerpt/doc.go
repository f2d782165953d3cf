// Package excerpt shows the bad part of a text in an error message: one line of the text, and
// a line that points at the part.
//
//	rack:2 noed:4 core:8
//	       ^~~~
//
// The mark stands below the part wherever each character is as wide as a blank. So [Of] replaces
// spaces of any kind by blanks, and characters that are not printable. It cuts a long text on both
// sides of the part, and a long part at its end.
package excerpt
