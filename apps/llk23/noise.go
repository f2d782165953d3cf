package main

// noise are initial values that any program can make for itself, element by
// element and in any order: numbers from 0 to 1 drawn by a hash of plane, row
// and column, scaled so that iterating converges.
func noise(p plane, i, j int) float64 {
	u := uniform(uint64(p)+1, uint64(i), uint64(j))
	switch p {
	case planeData:
		return u
	case planeZz:
		return 0.01 * u
	default:
		return 0.25 * u
	}
}

// uniform is a number from [0,1) for element (i,j) of plane t.
func uniform(t, i, j uint64) float64 {
	h := finalise(t*0x9E3779B97F4A7C15 + i*0xBF58476D1CE4E5B9 + j*0x94D049BB133111EB)
	return float64(h>>11) * 0x1p-53
}

// finalise is the finaliser of splitmix64.
func finalise(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
