package table_test

import (
	"context"
	"fmt"
	"log"

	"github.com/orwl/go-orwl/apps/dht/table"
)

func ExampleStrings() {
	ctx := context.Background()
	t, err := table.NewStrings(ctx, table.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	ops := []table.Op{
		{Kind: table.Set, Key: []byte("greeting"), Value: []byte("hello")},
		{Kind: table.Append, Key: []byte("greeting"), Value: []byte(", world")},
		{Kind: table.Get, Key: []byte("greeting")},
		{Kind: table.Add, Key: []byte("visits"), Number: 1},
	}
	results := make([]table.Result, len(ops))
	t.Do(ctx, ops, results)
	for _, r := range results {
		if r.Err != nil {
			log.Fatal(r.Err)
		}
	}
	fmt.Printf("%s, %d\n", results[2].Value, results[3].Number)
	// Output: hello, world, 1
}
