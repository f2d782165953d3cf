package main

// kernels are all kernels, in the order in which they are listed to people.
func kernels() []kernel { return []kernel{listing(), fast()} }

// kernelByName is the kernel that a flag names.
func kernelByName(name string) (k kernel, ok bool) {
	for _, k := range kernels() {
		if k.name == name {
			return k, true
		}
	}
	return kernel{}, false
}

// kernelNames are the names that kernelByName knows.
func kernelNames() []string {
	var names []string
	for _, k := range kernels() {
		names = append(names, k.name)
	}
	return names
}
