module github.com/orwl/go-orwl/lab
