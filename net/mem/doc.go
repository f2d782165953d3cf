// Package mem is the window of ranks that are goroutines of one process.
//
// Every rank's segment is a Go slice. An operation is one atomic instruction and a look
// at one line. A wait spins for as long as that has paid lately, and then parks the
// goroutine: 64 ranks on two cores do not collapse.
//
//	fabric, err := mem.New(mem.Options{Topology: topology.Flat(2)})
//	if err != nil {
//		return err
//	}
//	defer fabric.Close()
//	counter, err := fabric.Alloc(1)
//	if err != nil {
//		return err
//	}
//	w, err := fabric.Window(0)
//	if err != nil {
//		return err
//	}
//	w.FetchOp(1, counter, rma.Sum, 7)
//	fmt.Println("rank 1 has", w.Get(1, counter))
//	// Output:
//	// rank 1 has 7
//
// One goroutine at a time uses a rank's window. Another goroutine may take over, if
// something orders the two.
package mem
