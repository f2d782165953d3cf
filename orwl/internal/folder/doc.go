// Package folder keeps the cuts of a run on disk. If all processes of the run are gone, the same command continues from there:
// see package lives, which says what a cut is.
//
//	life-000003-run-001-round-00000060-node-2.cut   a part: the records of node 2 of life 3 in the cut after round 60 of run 1
//	node-2.lock                                     process 2 of a run has the folder open
//	node-2.part                                     it is writing a part
//
// A part gets its name when it is whole and synced, so a crash leaves no half of it:
//
//	write node-2.part ──▶ fsync ──▶ rename ──▶ fsync the directory ──▶ Save returns
//
// The folder may be one that all nodes share, or a folder of the same name on each machine. A node reports each part that it sees,
// so both work. [lives.Choose] joins the reports of all nodes.
//
// # What holds
//
//   - When [Folder.Save] returns nil, the part is on the disk.
//   - After any crash, the last two cuts are there for which [Folder.Keep] was called. So if one is damaged, there is one
//     before it. The last one of each former run of the program is there, too.
//   - A file in which any bit is wrong is not loaded. [Folder.Look] names it. It is removed with the cuts of its round.
//   - A file of another program, or of another version of the format, is named, too. It is not loaded, and not removed after that.
//   - Two processes with the same number do not have a folder open at once.
//   - After an error of Save or Keep, for example because the disk is full, these two cuts are still there.
//
// # What is assumed
//
// No two runs in a folder have a life of the same number. So the first life of a run is later than the last one that any of its
// nodes has found: [Found].
//
// The system keeps its word about fsync, and a rename is atomic. The file system has locks: NFS does.
//
// A [Folder] belongs to one goroutine at a time.
package folder
