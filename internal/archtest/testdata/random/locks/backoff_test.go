package locks

import _ "math/rand/v2"
