package pages

import (
	"regexp"
	"strings"
)

// block is code of a page, and what its fence says.
type block struct {
	line  int // of its first line
	fence string
	code  string
}

// blocks are the code blocks of Markdown: fenced, or indented by four spaces.
func blocks(text string) (all []block) {
	var b *block
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case fenced && isFence:
			fenced, b = false, nil
		case fenced:
			b.code += line + "\n"
		case isFence:
			all = append(all, block{line: i + 2, fence: fence})
			fenced, b = true, &all[len(all)-1]
		case !indented:
			b = nil
		case b == nil:
			all = append(all, block{line: i + 1})
			b = &all[len(all)-1]
			fallthrough
		default:
			b.code += code + "\n"
		}
	}
	return all
}

// comments are the code blocks of a package comment that contain Go.
func comments(text string) (all []block) {
	var b *block
	blank := ""
	for i, line := range strings.Split(text, "\n") {
		code, indented := strings.CutPrefix(line, "//\t")
		switch {
		case line == "//" && b != nil:
			blank += "\n"
			continue
		case !indented:
			b = nil
		case b == nil:
			all = append(all, block{line: i + 1})
			b = &all[len(all)-1]
			fallthrough
		default:
			b.code += blank + code + "\n"
		}
		blank = ""
	}
	for i := range all {
		if calls.MatchString(all[i].code) {
			all[i].fence = "go"
		}
	}
	return all
}

// calls matches a line of Go: a definition, or a call of an exported name.
var calls = regexp.MustCompile(`:=|\b[a-z]\w*\.[A-Z]\w*(\[\w+\])?\(`)
