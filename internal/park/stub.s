// The compiler accepts functions without a body in a package with an assembly file.
