package orwl

import _ "github.com/libp2p/go-libp2p/core/host"
