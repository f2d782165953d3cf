package launch

import "os"

// KeyFromEnvironment is the cluster key alone, of ORWL_KEY or of the file ORWL_KEY_FILE, for a
// process that is not part of a run. It is nil if neither is set.
func KeyFromEnvironment() ([]byte, error) {
	return surroundings{os.Getenv, readKeyFile, os.Hostname}.key()
}
