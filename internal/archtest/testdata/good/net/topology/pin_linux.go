package topology

func pin() bool { return true }
