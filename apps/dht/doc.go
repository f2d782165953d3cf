// Command dht is the distributed hash table as a program: `dht serve` is a server
// that redis clients speak to, `dht bench` the paper's benchmark of one volume.
//
//	go run ./apps/dht serve
//	redis-cli set k v
//
// A server alone keeps the table itself. `-nodes N` starts N processes that share one table,
// and each of them serves all keys. The table is apps/dht/table, its Redis face apps/dht/resp.
//
// The order of locks is the order of the packages below: nothing here holds one while it calls
// them.
package main
