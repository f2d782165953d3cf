// Package prose finds sentences of the pages that are hard to read for people in a hurry whose
// first language is another one: sentences that are long, and turns of phrase that make a reader
// go back.
//
//	for _, f := range prose.Check(page) {
//		fmt.Println(f.Line, f.Why, f.Sentence)
//	}
//
// Headings, tables, and code count as no sentences. The package keeps nothing.
package prose
