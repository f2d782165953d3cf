package p2p_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/orwl/go-orwl/net/p2p"
)

// Two nodes, which would be two processes: node 1 finds node 0, and says something.
// They gather before they close, so that neither leaves while the other speaks.
func Example() {
	ctx := context.Background()
	address, done := make(chan string, 1), make(chan error)
	play := func(o p2p.Options, say string) error {
		n, err := p2p.Join(ctx, o)
		if err != nil {
			return err
		}
		if say != "" {
			err = n.Send(0, 1, []byte(say), nil, false)
		} else {
			err = n.Receive(1, p2p.Receiver{Take: func(from int, header, _ []byte) error {
				fmt.Printf("node %d says %s\n", from, header)
				return nil
			}})
		}
		if err == nil {
			_, err = n.Gather(ctx, "end", nil)
		}
		return errors.Join(err, n.Close(ctx))
	}
	go func() {
		done <- play(p2p.Options{Number: 0, Nodes: 2, Listening: func(a string) { address <- a }}, "")
	}()
	err := play(p2p.Options{Number: 1, Nodes: 2, Root: <-address}, "hello")
	fmt.Println(err, <-done)
	// Output:
	// node 1 says hello
	// <nil> <nil>
}
