package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// A printer writes text and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

const (
	indent   = "  "
	maxWidth = 100 // columns
)

// field prints a name and a text, broken into lines. It prints nothing for an
// empty text.
func (p *printer) field(name, text string) {
	if text == "" {
		return
	}
	line := indent + fmt.Sprintf("%-11s", name)
	hang := strings.Repeat(" ", utf8.RuneCountInString(line))
	n := len(hang)
	for word := range strings.FieldsSeq(text) {
		if n+1+utf8.RuneCountInString(word) > maxWidth && n > len(hang) {
			p.printf("%s\n", line)
			line, n = hang, len(hang)
		}
		line += " " + word
		n += 1 + utf8.RuneCountInString(word)
	}
	p.printf("%s\n", line)
}

// table prints rows of cells in columns.
func (p *printer) table(rows [][]string) {
	t := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		if _, err := fmt.Fprintf(t, "%s%s\n", indent, strings.Join(row, "\t")); p.err == nil {
			p.err = err
		}
	}
	if err := t.Flush(); p.err == nil {
		p.err = err
	}
}

// printable spells out characters that a terminal obeys instead of printing.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
