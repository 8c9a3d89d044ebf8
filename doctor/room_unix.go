//go:build unix

package doctor

import "golang.org/x/sys/unix"

// statfs asks the system for the room that is left.
func statfs(path string) (Room, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return Room{}, err
	}
	size := uint64(st.Bsize)
	return Room{
		Bytes: uint64(max(st.Bavail, 0)) * size, BytesAll: uint64(st.Blocks) * size,
		Files: uint64(max(st.Ffree, 0)), FilesAll: uint64(st.Files),
	}, nil
}
