package orwl

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/orwl/go-orwl/internal/queue"
	"github.com/orwl/go-orwl/resource"
)

// A declaration refuses a resource that another runtime or queue.New made, also
// if this runtime has one of the same name.
func TestForeignResource(t *testing.T) {
	bare, err := queue.New("r", 8)
	if err != nil {
		t.Fatal(err)
	}
	const declare = "declare it by Array with this runtime: "
	const foreign = "orwl: resource is not of this runtime: " + declare
	const none = "orwl: resource is nil: " + declare
	for _, c := range []struct {
		name string
		r    *resource.Resource
		is   error
		want string
	}{
		{"another runtime", mustNew(t, Options{}).Resource("r", 8), errForeign, foreign + `"r", `},
		{"queue.New", (*resource.Resource)(bare), errForeign, foreign + `"r", `},
		{"none", nil, errResource, none},
	} {
		for _, same := range []bool{false, true} {
			for what, declare := range map[string]func(rt *Runtime, t *Task){
				`read by task "a"`:  func(_ *Runtime, t *Task) { t.Read(c.r) },
				`write by task "a"`: func(_ *Runtime, t *Task) { t.Write(c.r) },
				"home":              func(rt *Runtime, _ *Task) { rt.Home(c.r, 0) },
				"snapshots":         func(rt *Runtime, _ *Task) { rt.Snapshots(c.r) },
			} {
				t.Run(fmt.Sprintf("%s/%t/%s", c.name, same, what), func(t *testing.T) {
					rt := mustNew(t, Options{})
					if same {
						rt.Resource("r", 8)
					}
					task := rt.Task("a")
					task.Do(nothing)
					declare(rt, task)
					err := rt.Run(context.Background())
					if want := c.want + what; !errors.Is(err, c.is) || err.Error() != want {
						t.Errorf("%v\nwant %s", err, want)
					}
				})
			}
		}
	}
}
