package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

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
		text = "of no release"
	}
	if commit != "" {
		text += " (commit " + commit + changed + ")"
	}
	return fmt.Sprintf("%s, %s, %s/%s", text, info.GoVersion, runtime.GOOS, runtime.GOARCH)
}
