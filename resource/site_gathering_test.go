package resource

import (
	"errors"
	"testing"
)

// A site says whether a home of its waits for first requests.
func TestSiteGathering(t *testing.T) {
	n := newNetwork(2, SiteOptions{})
	r := n.share(t, "r", 8, 0, HomeAt{Expect: 2}, Options{})
	var here, there Place
	fine(t, here.RequestOrdered(r[0], Read, 1))
	if !n.sites[0].Gathering() || n.sites[1].Gathering() {
		t.Error("want the home to wait, and nobody else")
	}
	fine(t, there.RequestOrdered(r[1], Read, 2))
	n.settle(t)
	if n.sites[0].Gathering() {
		t.Error("it waits, and all are there")
	}
}

// A policy is given before the first request, or not at all.
func TestSetPolicy(t *testing.T) {
	r := newResource(t, 8)
	if err := r.SetPolicy(Abort + 1); err == nil {
		t.Error("a policy that there is not")
	}
	fine(t, r.SetPolicy(Poison))
	if r.Policy() != Poison {
		t.Errorf("policy %d", r.Policy())
	}
	var p Place
	fine(t, p.Request(r, Read))
	if err := r.SetPolicy(Discard); !errors.Is(err, ErrUsed) || r.Policy() != Poison {
		t.Errorf("a policy for what is requested: %v", err)
	}
}
