//go:build !race && (amd64 || arm64 || loong64 || mips64 || mips64le || ppc64 || ppc64le || riscv64 || s390x || wasm)

package tally

// ordinary selects an ordinary store: a Count is one machine word, and no race
// detector looks.
const ordinary = true
