package handle

func forget() { delete(names, 1) }
