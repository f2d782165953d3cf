package stencil

// dealBlocks says which node has which block: as many for each node, in the order of the
// blocks.
func (g *Grid) dealBlocks(nodes int) []int {
	blocks := g.blocks.product()
	dealt := make([]int, blocks)
	for n := range dealt {
		dealt[n] = n * nodes / blocks
	}
	return dealt
}

// stepName is a direction in the user's dimensions.
func (g *Grid) stepName(d direction) string { return g.blockName(d.step()) }
