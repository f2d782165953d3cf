package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// built is the version that the build says, where Go cannot know it: the image's build has no .git.
//
//	go build -ldflags '-X github.com/orwl/go-orwl/internal/command.built=v0.1.0' ./cmd/orwl
var built string

// Version is the module's version, or the commit that this program was built from, and
// the Go and the platform that it was built for.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return runtime.Version()
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	text, commit, changed := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = ", changed"
		}
	}
	if text == "" || text == "(devel)" {
		text = cmp.Or(built, "of no release")
	}
	if commit != "" {
		text += " (commit " + commit + changed + ")"
	}
	return fmt.Sprintf("%s, %s, %s/%s", text, info.GoVersion, runtime.GOOS, runtime.GOARCH)
}
