//go:build !darwin

package safepath

// spelling is a name as this system compares names: byte by byte.
func spelling(path string) string { return path }
