package npy

import (
	"fmt"
	"strconv"
	"strings"
)

// literal reads a Python literal, as far as NumPy uses the language in a header.
// After the first error it does not move, and accept finds nothing.
type literal struct {
	all, rest string
	err       error
}

// parseArray reads the header's dictionary. It has the keys descr, fortran_order and
// shape in any order.
func parseArray(text string) (a Array, err error) {
	p := &literal{all: text, rest: text}
	seen := make(map[string]bool, 3)
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		key := p.quoted()
		p.expect(":")
		switch key {
		case "descr":
			a.DType = p.dtype()
		case "fortran_order":
			a.Fortran = p.boolean()
		case "shape":
			a.Shape = p.tuple()
		default:
			p.fail("a key of %.20q: want descr, fortran_order and shape", key)
		}
		if seen[key] {
			p.fail("%s twice", key)
		}
		seen[key] = true
		if !p.accept(",") {
			p.expect("}")
			break
		}
	}
	if p.skip(); p.rest != "" {
		p.fail("%.20q after the dictionary", p.rest)
	}
	if len(seen) != 3 {
		p.fail("%d keys: want descr, fortran_order and shape", len(seen))
	}
	if p.err != nil {
		return Array{}, p.err
	}
	return a, nil
}

// dtype reads the name of a type. It recognises the description of a structure, so
// that the error can say why the package refuses it.
func (p *literal) dtype() string {
	if p.accept("[") {
		p.err = fmt.Errorf("%w: an element is a structure: save each field as an array of its own", ErrType)
	}
	return p.quoted()
}

// quoted reads a string without escapes.
func (p *literal) quoted() string {
	quote := "'"
	if !p.accept(quote) {
		quote = `"`
		p.expect(quote)
	}
	text, rest, ended := strings.Cut(p.rest, quote)
	if !ended || strings.ContainsAny(text, "\\\n") {
		p.fail("no plain string")
	}
	if p.err != nil {
		return ""
	}
	p.rest = rest
	return text
}

// boolean reads True or False.
func (p *literal) boolean() bool {
	if p.accept("True") {
		return true
	}
	p.expect("False")
	return false
}

// tuple reads a tuple of sizes.
func (p *literal) tuple() []int {
	sizes := []int{}
	p.expect("(")
	for p.err == nil && !p.accept(")") {
		if len(sizes) == mostAxes {
			p.fail("more than %d axes", mostAxes)
		}
		sizes = append(sizes, p.number())
		if !p.accept(",") {
			p.expect(")")
			if len(sizes) == 1 {
				p.fail("a number in brackets: a shape of one axis ends in a comma")
			}
			break
		}
	}
	return sizes
}

// number reads a size. Python 2 put an L behind large numbers.
func (p *literal) number() int {
	p.skip()
	digits := p.rest[:len(p.rest)-len(strings.TrimLeft(p.rest, "0123456789"))]
	n, err := strconv.Atoi(digits)
	if err != nil {
		p.fail("no size: %.20q", p.rest)
		return 0
	}
	p.rest = p.rest[len(digits):]
	p.accept("L")
	return n
}

// skip passes blanks.
func (p *literal) skip() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// accept passes token if it comes next, and reports whether it does.
func (p *literal) accept(token string) bool {
	p.skip()
	rest, found := strings.CutPrefix(p.rest, token)
	if found = found && p.err == nil; found {
		p.rest = rest
	}
	return found
}

// expect passes token, or fails.
func (p *literal) expect(token string) {
	if !p.accept(token) {
		p.fail("%.20q: want %s", p.rest, token)
	}
}

// fail keeps the first error.
func (p *literal) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: byte %d of its header: found "+format, append([]any{ErrFormat, len(p.all) - len(p.rest)}, args...)...)
	}
}
