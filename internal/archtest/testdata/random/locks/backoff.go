package locks

import (
	_ "crypto/rand"
	_ "hash/maphash"
	_ "math/rand"
	_ "math/rand/v2"
)
