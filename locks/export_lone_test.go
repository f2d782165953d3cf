package locks

// GoAlone lets ranks go alone by operations, too, if the lock lets them go alone at all.
func GoAlone(o *Options) { o.lone = true }
