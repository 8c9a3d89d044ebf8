package vt

import "strconv"

// sgr sets the style of what is printed next. SGR, CSI ... m.
func (t *Terminal) sgr() {
	q := &t.seq
	t.penChanged()
	if q.colon != 0 {
		t.sgrColons()
		return
	}
	for i := 0; i < q.n; i++ {
		if n := q.param[i]; n == 38 || n == 48 || n == 58 {
			i = t.sgrColor(n, i, false)
		} else {
			t.sgrOne(n)
		}
	}
}

// sgrColons is sgr where some parameter has sub-parameters.
func (t *Terminal) sgrColons() {
	q := &t.seq
	for i := 0; i < q.n; i++ {
		n := q.param[i]
		colon := i+1 < q.n && q.colon&(1<<(i+1)) != 0
		switch {
		case n == 38, n == 48, n == 58:
			i = t.sgrColor(n, i, colon)
			continue
		case n == 4 && colon:
			if sub := q.param[i+1]; sub <= uint16(UnderlineDashed) {
				t.pen.Underline = Underline(sub)
			} else {
				t.pen.Underline = UnderlineSingle
			}
		case colon:
			t.drop(DropUnknown) // no other attribute has sub-parameters
		default:
			t.sgrOne(n)
		}
		for i+1 < q.n && q.colon&(1<<(i+1)) != 0 {
			i++
		}
	}
}

var sgrOn = [...]Attr{1: Bold, 2: Faint, 3: Italic, 5: Blink, 6: Blink, 7: Inverse, 8: Invisible, 9: Strike}

var sgrOff = [...]Attr{22: Bold | Faint, 23: Italic, 25: Blink, 27: Inverse, 28: Invisible, 29: Strike}

// sgrOne is one attribute without sub-parameters.
func (t *Terminal) sgrOne(n uint16) {
	p := &t.pen
	switch n {
	case 0:
		*p = Style{Link: p.Link}
	case 1, 2, 3, 5, 6, 7, 8, 9:
		p.Attrs |= sgrOn[n]
	case 4:
		p.Underline = UnderlineSingle
	case 21:
		p.Underline = UnderlineDouble
	case 24:
		p.Underline = UnderlineNone
	case 22, 23, 25, 26, 27, 28, 29:
		p.Attrs &^= sgrOff[n]
	case 30, 31, 32, 33, 34, 35, 36, 37:
		p.FG = Indexed(uint8(n - 30))
	case 39:
		p.FG = 0
	case 40, 41, 42, 43, 44, 45, 46, 47:
		p.BG = Indexed(uint8(n - 40))
	case 49:
		p.BG = 0
	case 53:
		p.Attrs |= Overline
	case 55:
		p.Attrs &^= Overline
	case 59:
		p.UL = 0
	case 90, 91, 92, 93, 94, 95, 96, 97:
		p.FG = Indexed(uint8(n - 90 + 8))
	case 100, 101, 102, 103, 104, 105, 106, 107:
		p.BG = Indexed(uint8(n - 100 + 8))
	case 10, 11, 12, 13, 14, 15, 16, 17, 18, 19: // fonts
	default:
		t.drop(DropUnknown)
	}
}

// sgrColor reads 38, 48 or 58 at parameter i, in the forms 38;5;n, 38;2;r;g;b,
// 38:5:n, 38:2:r:g:b and 38:2:space:r:g:b. It returns the last parameter used.
func (t *Terminal) sgrColor(which uint16, i int, colon bool) int {
	q := &t.seq
	if rest := q.param[i:q.n]; !colon && len(rest) >= 3 && rest[1] == 5 && rest[2] < 256 {
		t.setColor(which, Indexed(uint8(rest[2])))
		return i + 2
	}
	end := i + 1
	if colon {
		for end < q.n && q.colon&(1<<end) != 0 {
			end++
		}
	} else {
		end = q.n
	}
	args := q.param[i+1 : end]
	var c Color
	used := len(args)
	ok := false
	switch {
	case len(args) >= 2 && args[0] == 5:
		c, ok = Indexed(uint8(args[1])), args[1] < 256
		used = 2
	case len(args) >= 4 && args[0] == 2:
		rgb := args[1:]
		used = 4
		if colon && len(rgb) >= 4 {
			rgb = rgb[1:]
		}
		c = RGB(uint8(rgb[0]), uint8(rgb[1]), uint8(rgb[2]))
		ok = rgb[0] < 256 && rgb[1] < 256 && rgb[2] < 256
	}
	if colon {
		used = len(args)
	}
	if !ok {
		t.drop(DropUnknown)
		return i + used
	}
	t.setColor(which, c)
	return i + used
}

// setColor sets what SGR 38, 48 or 58 names.
func (t *Terminal) setColor(which uint16, c Color) {
	switch which {
	case 38:
		t.pen.FG = c
	case 48:
		t.pen.BG = c
	case 58:
		t.pen.UL = c
	}
}

// appendSGR appends the parameters of the SGR that sets s from the default.
func appendSGR(b []byte, s Style) []byte {
	b = append(b, '0')
	for n, a := range sgrOn {
		if n != 6 && a != 0 && s.Attrs&a != 0 {
			b = append(b, ';', '0'+byte(n))
		}
	}
	switch s.Underline {
	case UnderlineNone:
	case UnderlineSingle:
		b = append(b, ";4"...)
	default:
		b = append(b, ";4:"...)
		b = append(b, '0'+byte(s.Underline))
	}
	if s.Attrs&Overline != 0 {
		b = append(b, ";53"...)
	}
	b = appendColor(b, s.FG, 30)
	b = appendColor(b, s.BG, 40)
	return appendColor(b, s.UL, 50)
}

func appendColor(b []byte, c Color, base int) []byte {
	if i, ok := c.Index(); ok {
		b = append(b, ';')
		switch {
		case i < 8 && base < 50:
			return strconv.AppendInt(b, int64(base)+int64(i), 10)
		case i < 16 && base < 50:
			return strconv.AppendInt(b, int64(base+60-8)+int64(i), 10)
		}
		b = strconv.AppendInt(b, int64(base)+8, 10)
		b = append(b, ":5:"...)
		return strconv.AppendInt(b, int64(i), 10)
	}
	if r, g, bl, ok := c.RGB(); ok {
		b = append(b, ';')
		b = strconv.AppendInt(b, int64(base)+8, 10)
		b = append(b, ":2::"...)
		b = strconv.AppendInt(b, int64(r), 10)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(g), 10)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(bl), 10)
	}
	return b
}
