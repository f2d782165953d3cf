// Package deploy holds the files by which a run is started on machines of others: a batch script
// for Slurm, manifests for Kubernetes. It has no code. Its tests check that these and the
// Dockerfile agree with the programs, run what is in the image in an empty root, and start both programs by a real sshd, Slurm, Open MPI and MPICH:
//
//	go test ./deploy -real
//
// Everything that such a test starts has its own ports, and its files in a folder of the test.
package deploy
