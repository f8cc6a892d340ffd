package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"strings"
)

// Icons for those who take no SVG, made of it: as it is, and on a ground without corners, with
// room around the drawing for whatever shape a home screen cuts.
var icons = []struct {
	name  string
	size  int
	whole bool
}{
	{"icon-192.png", 192, false},
	{"icon-512.png", 512, false},
	{"icon-whole.png", 512, true},
}

// A drawing is as much of SVG as the icon needs: a square ground with round
// corners, and paths of absolute M, C, S and Z, filled or stroked.
type drawing struct {
	ViewBox string `xml:"viewBox,attr"`
	Ground  struct {
		Radius float64 `xml:"rx,attr"`
		Fill   string  `xml:"fill,attr"`
	} `xml:"rect"`
	Paths []struct {
		D      string  `xml:"d,attr"`
		Fill   string  `xml:"fill,attr"`
		Stroke string  `xml:"stroke,attr"`
		Width  float64 `xml:"stroke-width,attr"`
	} `xml:"path"`
}

type point struct{ x, y float64 }

// drawIcon returns the icon as a PNG of so many pixels a side.
func drawIcon(svg []byte, size int, whole bool) ([]byte, error) {
	var d drawing
	if err := xml.Unmarshal(svg, &d); err != nil {
		return nil, err
	}
	var side float64
	if _, err := fmt.Sscanf(d.ViewBox, "0 0 %g", &side); err != nil {
		return nil, fmt.Errorf("view box %q: %w", d.ViewBox, err)
	}
	scale := side / float64(size) // of the drawing, to a pixel
	zoom := 1.0
	if whole {
		zoom = 1.4 // a circle of 0.8 of the side is what is always seen
	}

	type layer struct {
		color  color.NRGBA
		within func(point) float64 // distance to the edge, negative outside
	}
	ground, err := parseColor(d.Ground.Fill)
	if err != nil {
		return nil, err
	}
	square := func(p point) float64 { return roundSquare(p, side, d.Ground.Radius) }
	if whole {
		square = func(point) float64 { return side }
	}
	layers := []layer{{ground, square}}
	for _, path := range d.Paths {
		line, err := flatten(path.D)
		if err != nil {
			return nil, err
		}
		l := layer{within: func(p point) float64 { return path.Width/2 - distance(p, line) }}
		paint := path.Stroke
		if path.Fill != "none" {
			paint = path.Fill
			l.within = func(p point) float64 {
				if inside(p, line) {
					return distance(p, line)
				}
				return -distance(p, line)
			}
		}
		if l.color, err = parseColor(paint); err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}

	// A few shades along the edges are enough for the eye, and for a palette.
	const shades = 8
	picture := image.NewPaletted(image.Rect(0, 0, size, size), nil)
	index := map[color.NRGBA]uint8{}
	for y := range size {
		for x := range size {
			p := point{(float64(x) + .5) * scale, (float64(y) + .5) * scale}
			p = point{side/2 + (p.x-side/2)*zoom, side/2 + (p.y-side/2)*zoom}
			var c color.NRGBA
			for _, l := range layers {
				c = over(l.color, c, math.Round(min(max(l.within(p)/(scale*zoom)+.5, 0), 1)*shades)/shades)
			}
			i, ok := index[c]
			if !ok {
				if len(index) == 256 {
					return nil, errors.New("the drawing has too many colours")
				}
				i = uint8(len(index))
				index[c] = i
				picture.Palette = append(picture.Palette, c)
			}
			picture.SetColorIndex(x, y, i)
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&out, picture)
	return out.Bytes(), err
}

// over puts a part of an opaque colour over another one.
func over(top, below color.NRGBA, part float64) color.NRGBA {
	if below.A == 0 {
		top.A = uint8(math.Round(255 * part))
		return top
	}
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*part + float64(b)*(1-part))) }
	return color.NRGBA{mix(top.R, below.R), mix(top.G, below.G), mix(top.B, below.B), below.A}
}

// parseColor reads #rgb and #rrggbb.
func parseColor(text string) (color.NRGBA, error) {
	hex := strings.TrimPrefix(text, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	n, err := strconv.ParseUint(hex, 16, 24)
	if err != nil || len(hex) != 6 {
		return color.NRGBA{}, fmt.Errorf("no colour: %q", text)
	}
	return color.NRGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}, nil
}

// roundSquare is how far p is within a square with round corners.
func roundSquare(p point, side, radius float64) float64 {
	x, y := math.Abs(p.x-side/2)-side/2+radius, math.Abs(p.y-side/2)-side/2+radius
	return radius - math.Hypot(max(x, 0), max(y, 0)) - min(max(x, y), 0)
}

// flatten returns a path's points, on lines that are as good as its curves.
func flatten(d string) ([]point, error) {
	const pieces = 32
	var line []point
	var control point // the last curve's second one
	words := strings.Fields(strings.NewReplacer("M", " M ", "C", " C ", "S", " S ", "Z", " Z ", ",", " ").Replace(d))
	command := ""
	for len(words) > 0 {
		if strings.Contains("MCSZ", words[0]) {
			command, words = words[0], words[1:]
		}
		need := map[string]int{"M": 1, "C": 3, "S": 2}[command]
		if command == "Z" && len(line) > 0 {
			line = append(line, line[0])
			continue
		}
		if need == 0 || len(words) < 2*need {
			return nil, fmt.Errorf("no path that can be drawn: %q", d)
		}
		var points []point
		for i := range need {
			x, err1 := strconv.ParseFloat(words[2*i], 64)
			y, err2 := strconv.ParseFloat(words[2*i+1], 64)
			if err1 != nil || err2 != nil {
				return nil, fmt.Errorf("no path that can be drawn: %q", d)
			}
			points = append(points, point{x, y})
		}
		words = words[2*need:]
		if command == "M" {
			line = append(line, points[0])
			continue
		}
		if len(line) == 0 {
			return nil, fmt.Errorf("a path that begins nowhere: %q", d)
		}
		from := line[len(line)-1]
		if command == "S" { // the first control point is the last one, seen from the other side
			points = append([]point{{2*from.x - control.x, 2*from.y - control.y}}, points...)
		}
		control = points[1]
		for i := 1; i <= pieces; i++ {
			t := float64(i) / pieces
			u := 1 - t
			at := func(a, b, c, d float64) float64 { return u*u*u*a + 3*u*u*t*b + 3*u*t*t*c + t*t*t*d }
			line = append(line, point{
				at(from.x, points[0].x, points[1].x, points[2].x),
				at(from.y, points[0].y, points[1].y, points[2].y),
			})
		}
	}
	return line, nil
}

// distance is how far p is from a line.
func distance(p point, line []point) float64 {
	nearest := math.Inf(1)
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		dx, dy := b.x-a.x, b.y-a.y
		t := 0.0
		if square := dx*dx + dy*dy; square > 0 {
			t = min(max(((p.x-a.x)*dx+(p.y-a.y)*dy)/square, 0), 1)
		}
		dx, dy = p.x-a.x-t*dx, p.y-a.y-t*dy
		nearest = min(nearest, dx*dx+dy*dy)
	}
	return math.Sqrt(nearest)
}

// inside tells whether p is within a closed line.
func inside(p point, line []point) bool {
	in := false
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if (a.y > p.y) != (b.y > p.y) && p.x < a.x+(b.x-a.x)*(p.y-a.y)/(b.y-a.y) {
			in = !in
		}
	}
	return in
}
