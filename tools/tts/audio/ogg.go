package audio

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// inspectOgg walks the pages of an Ogg file (RFC 3533) and takes the length
// from the last one: Opus counts in 48 kHz after its pre-skip (RFC 7845), Vorbis
// in its own rate. A file without a last page was cut.
func inspectOgg(r io.Reader, c Container) (Info, error) {
	info := Info{Container: c, Frames: -1, Peak: -1}
	br := bufio.NewReaderSize(r, 64<<10)
	var preSkip, granule int64
	var last bool
	page := make([]byte, 0, 64<<10)
	for n := 0; ; n++ {
		var h [27]byte
		if _, err := io.ReadFull(br, h[:]); err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return info, oggCut(err)
		}
		if string(h[:4]) != "OggS" {
			return info, fmt.Errorf("%w: bytes between Ogg pages that are none", ErrNotAudio)
		}
		table := make([]byte, h[26])
		if _, err := io.ReadFull(br, table); err != nil {
			return info, oggCut(err)
		}
		size := 0
		for _, s := range table {
			size += int(s)
		}
		page = append(page[:0], make([]byte, size)...)
		if _, err := io.ReadFull(br, page); err != nil {
			return info, oggCut(err)
		}
		if oggCRC(h, table, page) != binary.LittleEndian.Uint32(h[22:]) {
			return info, fmt.Errorf("%w: an Ogg page has a wrong checksum", ErrNotAudio)
		}
		if n == 0 {
			preSkip = firstPacket(&info, page)
		}
		if g := int64(binary.LittleEndian.Uint64(h[6:])); g > 0 {
			granule = g
		}
		last = h[5]&4 != 0
	}
	if !last {
		return info, fmt.Errorf("%w: the last Ogg page is missing", ErrTruncated)
	}
	if info.Rate == 0 {
		return info, fmt.Errorf("%w: no codec header in the Ogg file", ErrNotAudio)
	}
	info.Framed, info.Frames = true, granule-preSkip
	if info.Frames <= 0 {
		return info, ErrEmpty
	}
	return info, nil
}

func firstPacket(info *Info, p []byte) (preSkip int64) {
	switch {
	case len(p) >= 19 && string(p[:8]) == "OpusHead":
		info.Rate, info.Channels = 48000, int(p[9])
		return int64(binary.LittleEndian.Uint16(p[10:]))
	case len(p) >= 16 && string(p[:7]) == "\x01vorbis":
		info.Channels, info.Rate = int(p[11]), int(binary.LittleEndian.Uint32(p[12:]))
	}
	return 0
}

func oggCut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: an Ogg page is cut", ErrTruncated)
	}
	return err
}

// oggCRC is the checksum of RFC 3533 §6: polynomial 0x04c11db7, not reflected,
// over the page with its checksum field as zero.
func oggCRC(h [27]byte, table, page []byte) uint32 {
	copy(h[22:26], "\x00\x00\x00\x00")
	var crc uint32
	for _, part := range [][]byte{h[:], table, page} {
		for _, b := range part {
			crc = crc<<8 ^ oggTable[byte(crc>>24)^b]
		}
	}
	return crc
}

var oggTable = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i) << 24
		for range 8 {
			if c&0x8000_0000 != 0 {
				c = c<<1 ^ 0x04c1_1db7
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}()

// inspectFLAC reads STREAMINFO, the block that must come first. It does not
// decode, so the file's end is not proven.
func inspectFLAC(r io.ReaderAt) (Info, error) {
	info := Info{Container: FLAC, Frames: -1, Peak: -1}
	var b [42]byte
	if _, err := r.ReadAt(b[:], 0); err != nil {
		return info, fmt.Errorf("%w: the FLAC header is cut", ErrTruncated)
	}
	v := binary.BigEndian.Uint64(b[18:])
	info.Rate = int(v >> 44)
	info.Channels = int(v>>41&7) + 1
	if n := int64(v & (1<<36 - 1)); n > 0 {
		info.Frames = n
	}
	return info, nil
}
