//go:build race || !(amd64 || arm64 || loong64 || mips64 || mips64le || ppc64 || ppc64le || riscv64 || s390x || wasm)

package tally

// ordinary selects an ordinary store. Here the race detector looks, or a Count is
// larger than a machine word.
const ordinary = false
