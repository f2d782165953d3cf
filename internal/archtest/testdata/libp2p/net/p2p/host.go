package p2p

import _ "github.com/libp2p/go-libp2p"
