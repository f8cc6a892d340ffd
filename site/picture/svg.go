package picture

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"schedlab/core"
	"schedlab/site/lab"
)

// SVG draws a result as an SVG file: verdicts, and the histogram with a dot for
// each run. Nothing in it needs a style sheet or a font, so that it is the same in a
// mail, a document and a browser whose policy allows no styles.
func SVG(r *core.Result) (string, error) {
	const width, margin, lead = 880.0, 16.0, 20.0
	a := lab.NewAnswer(r, false)
	var d drawing
	if svg := distribution(a, width).SVG(); svg != "" {
		read, err := read(svg)
		if err != nil {
			return "", err
		}
		d = *read
	}
	head := headings(a, func(text string) []string { return broken(text, 118) })
	top := margin + lead*float64(len(head)+1)
	height := top + d.height + margin + lead

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]s %[2]s" width="%[1]s" height="%[2]s" role="img" aria-label="%[3]s" font-family="system-ui, 'DejaVu Sans', sans-serif">`+"\n",
		num(width+2*margin), num(height), html.EscapeString(strings.Join(head, " ")+" "+d.words))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", paper)
	text := func(x, y, size float64, fill, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%s" y="%s" font-size="%s" fill="%s" text-anchor="%s">%s</text>`+"\n", num(x), num(y), num(size), fill, anchor, html.EscapeString(s))
	}
	for i, line := range head {
		text(margin, margin+lead*float64(i)+14, 14, ink, "start", line)
	}
	text(margin, margin+lead*float64(len(head))+12, 12, softInk, "start", strings.Join(a.Tags, " · "))
	fmt.Fprintf(&b, `<g transform="translate(%s %s)">`+"\n", num(margin), num(top))
	for i := range d.shapes {
		s := &d.shapes[i]
		st := s.style()
		if s.text != "" {
			text(s.x, s.y, st.size, st.fill, or(s.at, "start"), s.text)
			continue
		}
		fmt.Fprintf(&b, `<path d="%s" fill="%s"`, html.EscapeString(s.path), or(st.fill, "none"))
		if st.fill != "" {
			fmt.Fprintf(&b, ` fill-opacity="%s"`, num(st.opacity))
		}
		if st.stroke != "" {
			fmt.Fprintf(&b, ` stroke="%s" stroke-width="%s"`, st.stroke, num(st.width))
		}
		for j, length := range st.dash {
			b.WriteString([]string{` stroke-dasharray="`, " "}[min(j, 1)] + num(length))
		}
		if st.dash != nil {
			b.WriteByte('"')
		}
		b.WriteString("/>\n")
	}
	b.WriteString("</g>\n")
	text(margin, height-margin, 11, softInk, "start", a.Link)
	b.WriteString("</svg>\n")
	return b.String(), nil
}

// headings are the verdicts on a result, and what else must not be left out, in lines.
func headings(a *lab.Answer, breaks func(string) []string) (lines []string) {
	for _, v := range a.Verdicts {
		lines = append(lines, breaks(v.String())...)
	}
	for _, w := range slices.Concat(a.Cautions, a.Warnings) {
		lines = append(lines, breaks(w)...)
	}
	return lines
}

// broken breaks a text at spaces into lines of at most so many characters.
func broken(text string, most int) []string {
	return wrap(text, func(line string) bool { return len([]rune(line)) <= most })
}

// wrap breaks a text at spaces into lines that fit, as far as its words do.
func wrap(text string, fits func(string) bool) (lines []string) {
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if longer := strings.TrimPrefix(line+" "+word, " "); line == "" || fits(longer) {
			line = longer
		} else {
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

func num(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
