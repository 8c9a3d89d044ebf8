package safepath

import "strings"

// dataVolume holds the same files as the root, by links that no call reports.
const dataVolume = "/System/Volumes/Data"

// spelling is a name as this system compares names: without regard to case,
// to characters that the file system ignores, and to the volume that the root
// shows again.
func spelling(path string) string {
	folded := foldCase(path)
	if rest, ok := below(folded, foldCase(dataVolume)); ok && rest != "" {
		return rest
	}
	return strings.Clone(folded)
}
