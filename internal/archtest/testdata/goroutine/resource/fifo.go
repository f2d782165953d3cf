package resource

import (
	"context"
	"sync"
)

func grant(ctx context.Context, wake func()) {
	go wake()
	var group sync.WaitGroup
	group.Go(wake)
	context.AfterFunc(ctx, wake)
}
