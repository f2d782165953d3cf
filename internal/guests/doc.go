// Package guests says which program uses which exported name. A name of the product's face has a guest: a program in apps,
// examples or cmd that uses it because it is the best way there. Names without a guest are work that is left.
//
// The go command compiles all packages, and go/types reads each with the compiled ones that it imports. So a method that is
// promoted, or one of an alias, counts where it is declared. A method that only an interface calls has no guest here.
package guests
