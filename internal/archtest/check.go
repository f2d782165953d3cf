package archtest

import "fmt"

// A violation is one place where the module breaks a rule.
type violation struct {
	at   string // file:line, or a file or folder
	rule string // a word to find the rule by
	text string // the fault and the remedy
}

func (v violation) String() string { return fmt.Sprintf("%s: [%s] %s", v.at, v.rule, v.text) }

// check reads the module whose root is the folder root and reports every
// violation in it.
func check(root string) (found []violation, err error) { return checkIn(root, ".") }

// Laboratory reports every violation in the module whose root is the folder root, a line for each. The module is the
// laboratory: its folder in the rules is lab.
func Laboratory(root string) (lines []string, err error) {
	found, err := checkIn(root, "lab")
	for _, v := range found {
		lines = append(lines, v.String())
	}
	return lines, err
}

// checkIn is check for a module that is the folder at in the rules.
func checkIn(root, at string) (found []violation, err error) {
	t, err := load(root, at)
	if err != nil {
		return nil, err
	}
	for _, p := range t.packages {
		found = append(found, t.checkImports(p)...)
		found = append(found, t.checkPure(p)...)
		found = append(found, t.checkHouse(p)...)
	}
	return found, nil
}
