package pages

import (
	"regexp"
	"strings"
)

// Block is code of a page, and what its fence says.
type Block struct {
	Line  int // of its first line
	Fence string
	Code  string
}

// Blocks are the code blocks of Markdown: fenced, or indented by four spaces.
func Blocks(text string) (all []Block) {
	var b *Block
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case fenced && isFence:
			fenced, b = false, nil
		case fenced:
			b.Code += line + "\n"
		case isFence:
			all = append(all, Block{Line: i + 2, Fence: fence})
			fenced, b = true, &all[len(all)-1]
		case !indented:
			b = nil
		case b == nil:
			all = append(all, Block{Line: i + 1})
			b = &all[len(all)-1]
			fallthrough
		default:
			b.Code += code + "\n"
		}
	}
	return all
}

// Comments are the code blocks of a package comment that contain Go.
func Comments(text string) (all []Block) {
	var b *Block
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
			all = append(all, Block{Line: i + 1})
			b = &all[len(all)-1]
			fallthrough
		default:
			b.Code += blank + code + "\n"
		}
		blank = ""
	}
	for i := range all {
		if Calls.MatchString(all[i].Code) {
			all[i].Fence = "go"
		}
	}
	return all
}

// Calls matches a line of Go: a definition, or a call of an exported name.
var Calls = regexp.MustCompile(`:=|\b[a-z]\w*\.[A-Z]\w*(\[\w+\])?\(`)
