//go:build plan9

package handle

import _ "github.com/orwl/go-orwl/locks" // below, but handle sees it through resource only
