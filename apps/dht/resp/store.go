package resp

import (
	"context"

	"github.com/orwl/go-orwl/apps/dht/table"
)

// Store is what the server serves: a *table.Strings. Connections use it at the same
// time.
type Store interface {
	// Do executes ops, each atomically, and says in results[i] what came of ops[i];
	// ops on one key in their order. A value is appended to what Result.Value was.
	Do(ctx context.Context, ops []table.Op, results []table.Result)
	// Scan goes on from a cursor, 0 to begin, and calls each with about count keys,
	// valid during the call. It returns the next cursor, 0 at the end. A key that is
	// there all the time is seen at least once.
	Scan(ctx context.Context, cursor uint64, count int, each func(key []byte)) (next uint64, err error)
	// Len is how many keys there are.
	Len(ctx context.Context) (int64, error)
	// Clear removes all keys.
	Clear(ctx context.Context) error
}
