package picture

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A drawing is a picture of package chart, taken apart.
type drawing struct {
	width, height float64
	words         string // for those who don't see it
	shapes        []shape
}

// A shape is a path or a text.
type shape struct {
	class string // its first word says what it is
	arm   int
	path  string // as SVG has it
	text  string
	x, y  float64 // of a text: its anchor on its baseline
	at    string  // start, middle or end
}

func (s *shape) style() style { return styleOf(s.class, s.arm) }

// read takes a picture of package chart apart.
func read(svg string) (*drawing, error) {
	d := new(drawing)
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return d, nil
		}
		if err != nil {
			return nil, err
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attrs := make(map[string]string)
		for _, a := range element.Attr {
			attrs[a.Name.Local] = a.Value
		}
		number := func(key string) float64 {
			v, e := strconv.ParseFloat(attrs[key], 64)
			if e != nil {
				err = fmt.Errorf("%s %s=%q: %w", element.Name.Local, key, attrs[key], e)
			}
			return v
		}
		var s shape
		for i, class := range strings.Fields(attrs["class"]) {
			if i == 0 {
				s.class = class
			} else if arm, ok := strings.CutPrefix(class, "arm"); ok {
				s.arm, _ = strconv.Atoi(arm)
			}
		}
		switch element.Name.Local {
		case "svg":
			d.width, d.height, d.words = number("width"), number("height"), attrs["aria-label"]
		case "path":
			s.path = attrs["d"]
			d.shapes = append(d.shapes, s)
		case "text":
			s.x, s.y, s.at = number("x"), number("y"), attrs["text-anchor"]
			if e := decoder.DecodeElement(&s.text, &element); e != nil {
				return nil, e
			}
			d.shapes = append(d.shapes, s)
		default:
			err = fmt.Errorf("no style is known for <%s>", element.Name.Local)
		}
		if err != nil {
			return nil, err
		}
	}
}

type point struct{ x, y float64 }

// A line is one stroke of a path; closed tells that its end is its beginning.
type line struct {
	points []point
	closed bool
}

// lines follows a path, of which arcs become short straight pieces.
func lines(path string) (list []line, err error) {
	rest := path
	number := func() (v float64) {
		rest = strings.TrimLeft(rest, " ")
		n := 0
		for n < len(rest) && strings.IndexByte("-.0123456789", rest[n]) >= 0 && (n == 0 || rest[n] != '-') {
			n++
		}
		v, e := strconv.ParseFloat(rest[:n], 64)
		if e != nil && err == nil {
			err = fmt.Errorf("path %.40q: %w", path, e)
		}
		rest = rest[n:]
		return v
	}
	var at point
	to := func(p point) {
		at = p
		if len(list) == 0 {
			err = fmt.Errorf("path %.40q: begins with no M", path)
			return
		}
		l := &list[len(list)-1]
		l.points = append(l.points, p)
	}
	for err == nil {
		rest = strings.TrimLeft(rest, " ")
		if rest == "" {
			return list, nil
		}
		op := rest[0]
		rest = rest[1:]
		switch op {
		case 'M':
			at = point{number(), number()}
			list = append(list, line{points: []point{at}})
		case 'H':
			to(point{number(), at.y})
		case 'V':
			to(point{at.x, number()})
		case 'h':
			to(point{at.x + number(), at.y})
		case 'v':
			to(point{at.x, at.y + number()})
		case 'a': // package chart draws half circles only, from side to side
			r := number()
			for range 4 {
				number()
			}
			dx := number()
			number()
			const pieces = 12
			centre := point{at.x + dx/2, at.y}
			from := math.Pi
			if dx < 0 {
				from = 0
			}
			for i := 1; i <= pieces; i++ {
				angle := from - math.Pi*float64(i)/pieces
				to(point{centre.x + r*math.Cos(angle), centre.y + r*math.Sin(angle)})
			}
		case 'z', 'Z':
			if n := len(list); n > 0 {
				list[n-1].closed = true
				at = list[n-1].points[0]
			}
		default:
			err = fmt.Errorf("path %.40q: unknown command %q", path, op)
		}
	}
	return nil, err
}
