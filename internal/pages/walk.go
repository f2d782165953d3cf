package pages

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Of are the pages of the module whose root is the folder root: its files that end with .md.
func Of(root string) (all []string, err error) {
	err = walk(root, func(path string) error {
		if filepath.Ext(path) == ".md" {
			all = append(all, path)
		}
		return nil
	})
	return all, err
}

// Documents are the files doc.go of a module, in which packages say what they are for.
func Documents(root string) (all []string, err error) {
	err = walk(root, func(path string) error {
		if filepath.Base(path) == "doc.go" {
			all = append(all, path)
		}
		return nil
	})
	return all, err
}

// walk visits the files of a module. It leaves out testdata, folders that begin with a dot, and the laboratory, which is
// a module of its own.
func walk(root string, visit func(path string) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return visit(path)
		case path != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || isLaboratory(path)):
			return fs.SkipDir
		}
		return nil
	})
}

// isLaboratory reports whether a folder is the root of the laboratory.
func isLaboratory(folder string) bool {
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	return err == nil && strings.HasPrefix(string(text), "module github.com/orwl/go-orwl/lab\n")
}
