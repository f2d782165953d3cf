package resource

// WriteLost notes that the home may not have the last write of this node.
func (f *mirrored) WriteLost(error) {}
