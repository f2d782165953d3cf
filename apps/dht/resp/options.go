package resp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/orwl/go-orwl/apps/dht/budget"
	"github.com/orwl/go-orwl/apps/dht/table"
)

// Options say what a server serves, to which clients, and how much of it.
type Options struct {
	// Store is what it serves.
	Store Store
	// Password is what clients must give before anything else, if it is not empty.
	Password string
	// Clients is how many connections there are at a time, at most: 1 to 65536,
	// 10000 if zero.
	Clients int
	// Memory is what clients' requests and replies take, the store's if that has one. A request for which it
	// has no room is answered by OOM, and a client for which it has none is refused. Nil is no limit.
	Memory *budget.Budget
	// Patience is how long a client may take to give the password, and for a request that has
	// begun, beside what its size takes at 16 KiB/s: 30 s if zero.
	Patience time.Duration
	// Idle is for how long a connection may neither send nor take a byte: 0 for
	// ever, or at least a millisecond.
	Idle time.Duration
	// Bulk is the longest string of a request, in bytes: 64 to 512 MiB, 1 MiB if zero.
	Bulk int
	// Request is the longest request, and Reply the longest reply, in bytes: Bulk and
	// 1024 to 1 GiB, 64 MiB if zero.
	Request, Reply int
	// Now is the time in Unix milliseconds: the machine's clock if nil.
	Now func() int64
	// Timed, if not nil, is told how long each pipeline took, from when it was read to
	// when its replies were written, by the name of its last command. Several
	// connections call it at a time.
	Timed func(command string, took time.Duration)
	// Log gets what goes wrong with connections. If it is nil, nothing is logged.
	Log *slog.Logger
}

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

// The defaults and limits of Options.
const (
	DefaultClients  = 10000
	MostClients     = 1 << 16
	DefaultPatience = 30 * time.Second
	DefaultBulk     = 1 << 20
	LeastBulk       = 64
	MostBulk        = 512 << 20
	DefaultRequest  = 64 << 20
	MostRequest     = 1 << 30
	overhead        = 1024 // of a request, at least, around its longest string
)

func (o Options) withDefaults() Options {
	if o.Clients == 0 {
		o.Clients = DefaultClients
	}
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	if o.Bulk == 0 {
		o.Bulk = DefaultBulk
	}
	if o.Request == 0 {
		o.Request = max(DefaultRequest, o.Bulk+overhead)
	}
	if o.Reply == 0 {
		o.Reply = max(DefaultRequest, o.Bulk+overhead)
	}
	if o.Now == nil {
		o.Now = func() int64 { return time.Now().UnixMilli() }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) validate() error {
	switch {
	case o.Store == nil:
		return errors.New("resp: Options.Store is nil, want the table to serve")
	case o.Clients < 1 || o.Clients > MostClients:
		return fmt.Errorf("resp: Options.Clients is %d, want 1 to %d", o.Clients, MostClients)
	case o.Idle != 0 && o.Idle < time.Millisecond:
		return fmt.Errorf("resp: Options.Idle is %v, want 0 or at least 1ms", o.Idle)
	case o.Patience < time.Millisecond:
		return fmt.Errorf("resp: Options.Patience is %v, want at least 1ms, or 0 for %v", o.Patience, DefaultPatience)
	case o.Bulk < LeastBulk || o.Bulk > MostBulk:
		return fmt.Errorf("resp: Options.Bulk is %d, want %d to %d", o.Bulk, LeastBulk, MostBulk)
	case o.Request < o.Bulk+overhead || o.Request > MostRequest:
		return fmt.Errorf("resp: Options.Request is %d, want %d to %d", o.Request, o.Bulk+overhead, MostRequest)
	case o.Reply < o.Bulk+overhead || o.Reply > MostRequest:
		return fmt.Errorf("resp: Options.Reply is %d, want %d to %d", o.Reply, o.Bulk+overhead, MostRequest)
	}
	return nil
}
