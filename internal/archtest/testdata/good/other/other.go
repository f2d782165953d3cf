package other

func init() { go func() {}() }
