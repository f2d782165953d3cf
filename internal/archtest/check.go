package archtest

import "fmt"

// A violation is one place where the module breaks a rule.
type violation struct {
	at   string // file:line, or a file or folder
	rule string // a word to find the rule by
	text string // what is wrong and what to do
}

func (v violation) String() string { return fmt.Sprintf("%s: [%s] %s", v.at, v.rule, v.text) }

// check reads the module whose root is the folder root and reports every
// violation in it.
func check(root string) (found []violation, err error) {
	t, err := load(root)
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
