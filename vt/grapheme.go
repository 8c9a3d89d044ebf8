package vt

//go:generate go run gentables/main.go

// A graphemeClass is the Grapheme_Cluster_Break of a code point, with the parts
// of Indic_Conjunct_Break that matter (Unicode standard annex 29).
type graphemeClass uint8

const (
	classOther graphemeClass = iota
	classControl
	classExtend      // Extend that Indic conjuncts may hold
	classExtendPlain // other Extend
	classLinker
	classZWJ
	classSpacing
	classPrepend
	classRegional
	classL
	classV
	classT
	classLV
	classLVT
	classPictographic
	classConsonant
)

// A prop is what the tables say of one code point.
type prop uint8

func propOf(r rune) prop {
	if uint32(r) > 0x10FFFF {
		return 1
	}
	return prop(propSecond[int(propFirst[r>>8])<<8|int(r&0xFF)])
}

func (p prop) width() int           { return int(p & 3) }
func (p prop) class() graphemeClass { return graphemeClass(p >> 2) }

// A graphemeState is what the rules have to remember of a cluster so far.
type graphemeState struct {
	last    graphemeClass
	pict    bool  // Extended_Pictographic Extend* so far
	pictZWJ bool  // and then a ZWJ
	odd     bool  // an odd number of regional indicators
	indic   uint8 // 1: consonant seen; 2: and a linker
}

func (s graphemeState) start(c graphemeClass) graphemeState {
	n := graphemeState{last: c, pict: c == classPictographic, odd: c == classRegional}
	if c == classConsonant {
		n.indic = 1
	}
	return n
}

// next adds a code point. It reports false when a new cluster begins with it.
func (s graphemeState) next(c graphemeClass) (graphemeState, bool) {
	if !s.joins(c) {
		return s.start(c), false
	}
	n := s
	n.last = c
	switch c {
	case classExtend, classLinker, classExtendPlain:
		n.pictZWJ = false
	case classZWJ:
		n.pictZWJ = s.pict
		n.pict = false
	default:
		n.pict, n.pictZWJ = c == classPictographic, false
	}
	n.odd = c == classRegional && !s.odd
	switch c {
	case classConsonant:
		n.indic = 1
	case classLinker:
		if s.indic > 0 {
			n.indic = 2
		}
	case classExtend, classZWJ:
	default:
		n.indic = 0
	}
	return n, true
}

// joins reports whether no boundary lies before c. GB6 to GB13.
func (s graphemeState) joins(c graphemeClass) bool {
	if s.last == classControl || c == classControl {
		return false
	}
	switch c {
	case classExtend, classExtendPlain, classLinker, classZWJ, classSpacing:
		return true
	case classL, classLV, classLVT:
		if s.last == classL {
			return true
		}
	case classV:
		if s.last == classL || s.last == classV || s.last == classLV {
			return true
		}
	case classT:
		if s.last == classV || s.last == classLV || s.last == classT || s.last == classLVT {
			return true
		}
	case classConsonant:
		if s.indic == 2 {
			return true
		}
	case classPictographic:
		if s.pictZWJ {
			return true
		}
	case classRegional:
		if s.last == classRegional && s.odd {
			return true
		}
	}
	return s.last == classPrepend
}
