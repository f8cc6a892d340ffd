package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/site/lab"
)

// A card's size in pixels: what those who show previews ask for.
const (
	CardWidth  = 1200
	CardHeight = 630
)

const (
	margin = 56
	zoom   = 1.6             // of the histogram, so that it can be read in a chat
	floor  = CardHeight - 28 // where it ends
)

// Card draws a result as a card, a PNG: the verdicts and the histogram.
func Card(r *core.Result) ([]byte, error) {
	a := lab.NewAnswer(r, false)
	c, err := newCanvas()
	if err != nil {
		return nil, err
	}
	c.head(strings.Join(a.Tags, " · "))
	y := 142.0
	const most = 4 // verdicts there is room for
	for i, v := range a.Verdicts[:min(len(a.Verdicts), most)] {
		soft := v.Soft
		v.Soft = ""
		if len(a.Verdicts) == 1 {
			y = c.paragraph(v.String(), c.bold, 38, ink, y, 2)
			y = c.paragraph(soft, c.regular, 24, softInk, y, 2)
			continue
		}
		y = c.paragraph(v.String(), c.bold, 26, colours[min(i+1, len(colours)-1)], y, 1)
	}
	if more := len(a.Verdicts) - most; more > 0 {
		y = c.paragraph("… and "+strconv.Itoa(more)+" more", c.regular, 24, softInk, y, 1)
	}

	d := distribution(a, (CardWidth-2*margin)/zoom)
	for i := range d.Curves {
		d.Curves[i].Runs, d.Curves[i].Published = nil, nil // too small to be seen
	}
	d.Plot = 1
	if svg := d.SVG(); svg != "" {
		laid, err := read(svg)
		if err != nil {
			return nil, err
		}
		d.Plot = max((floor-y)/zoom-laid.height, 60) + d.Plot
		if laid, err = read(d.SVG()); err != nil {
			return nil, err
		}
		if err := c.drawing(laid, margin, floor-laid.height*zoom); err != nil {
			return nil, err
		}
	}
	return c.png()
}

// Plain draws the card of a scenario that has not been simulated: what it asks, and why there is no answer.
func Plain(s scenario.Scenario, why string) ([]byte, error) {
	c, err := newCanvas()
	if err != nil {
		return nil, err
	}
	c.head(Basis(s))
	y := c.paragraph(Title(s), c.bold, 48, ink, 200, 3)
	y = c.paragraph(Runs(s), c.regular, 28, softInk, y+16, 4)
	c.paragraph(why, c.regular, 28, ink, y+16, 3)
	return c.png()
}

// A canvas is a card in the making.
type canvas struct {
	img           *image.RGBA
	bold, regular *opentype.Font
	faces         map[faceKey]font.Face
}

type faceKey struct {
	font *opentype.Font
	size float64
}

func newCanvas() (*canvas, error) {
	c := &canvas{img: image.NewRGBA(image.Rect(0, 0, CardWidth, CardHeight)), faces: make(map[faceKey]font.Face)}
	var err error
	if c.bold, err = opentype.Parse(gobold.TTF); err != nil {
		return nil, err
	}
	if c.regular, err = opentype.Parse(goregular.TTF); err != nil {
		return nil, err
	}
	draw.Draw(c.img, c.img.Bounds(), image.NewUniform(rgb(paper, 1)), image.Point{}, draw.Src)
	return c, nil
}

// head draws what every card begins with: whose it is, and what its figures rest on.
func (c *canvas) head(basis string) {
	c.rect(0, 0, CardWidth, 10, colours[0])
	c.text("schedlab", c.bold, 32, ink, margin, 72, "start")
	for size := 24.0; ; size-- {
		if width := c.width(basis, c.regular, size); width < CardWidth-2*margin-190 || size < 14 {
			c.text(basis, c.regular, size, softInk, CardWidth-margin, 72, "end")
			break
		}
	}
	c.rect(margin, 92, CardWidth-2*margin, 1.5, faint)
}

// paragraph writes a text from y on, in at most so many lines, and returns where the next one may begin.
func (c *canvas) paragraph(text string, f *opentype.Font, size float64, colour string, y float64, most int) float64 {
	if text == "" {
		return y
	}
	lines := wrap(text, func(line string) bool { return c.width(line, f, size) <= CardWidth-2*margin })
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] += " …"
	}
	for _, line := range lines {
		c.text(line, f, size, colour, margin, y, "start")
		y += math.Round(size * 1.25)
	}
	return y
}

// drawing draws what package chart has laid out, with its corner at (x, y).
func (c *canvas) drawing(d *drawing, x, y float64) error {
	for i := range d.shapes {
		s := &d.shapes[i]
		st := s.style()
		if s.text != "" {
			c.text(s.text, c.regular, st.size*zoom, st.fill, x+s.x*zoom, y+s.y*zoom, or(s.at, "start"))
			continue
		}
		list, err := lines(s.path)
		if err != nil {
			return err
		}
		for i := range list {
			for j, p := range list[i].points {
				list[i].points[j] = point{x + p.x*zoom, y + p.y*zoom}
			}
		}
		if st.fill != "" {
			c.fill(list, rgb(st.fill, st.opacity))
		}
		if st.stroke != "" {
			c.stroke(list, st.width*zoom, st.dash, rgb(st.stroke, 1))
		}
	}
	return nil
}

// fill fills the inside of lines.
func (c *canvas) fill(list []line, colour color.Color) {
	r := vector.NewRasterizer(CardWidth, CardHeight)
	for _, l := range list {
		polygon(r, l.points)
	}
	c.paint(r, colour)
}

func polygon(r *vector.Rasterizer, points []point) {
	for i, p := range points {
		if i == 0 {
			r.MoveTo(float32(p.x), float32(p.y))
		} else {
			r.LineTo(float32(p.x), float32(p.y))
		}
	}
	r.ClosePath()
}

func (c *canvas) paint(r *vector.Rasterizer, colour color.Color) {
	r.Draw(c.img, c.img.Bounds(), image.NewUniform(colour), image.Point{})
}

// stroke draws lines, each piece as a rectangle that reaches over its ends by half
// the width, which makes the corners.
func (c *canvas) stroke(list []line, width float64, dash []float64, colour color.Color) {
	r := vector.NewRasterizer(CardWidth, CardHeight)
	for _, l := range list {
		points := l.points
		if l.closed {
			points = append(points[:len(points):len(points)], points[0])
		}
		d := dashes{dash: dash}
		for i := 1; i < len(points); i++ {
			d.split(points[i-1], points[i], func(a, b point) { piece(r, a, b, width/2, dash == nil) })
		}
	}
	c.paint(r, colour)
}

// piece adds a straight stroke from a to b.
func piece(r *vector.Rasterizer, a, b point, half float64, over bool) {
	length := math.Hypot(b.x-a.x, b.y-a.y)
	if length == 0 {
		return
	}
	ux, uy := (b.x-a.x)/length*half, (b.y-a.y)/length*half
	if over {
		a, b = point{a.x - ux, a.y - uy}, point{b.x + ux, b.y + uy}
	}
	polygon(r, []point{{a.x - uy, a.y + ux}, {a.x + uy, a.y - ux}, {b.x + uy, b.y - ux}, {b.x - uy, b.y + ux}})
}

// dashes cuts a line into strokes and gaps, which go on around its corners.
type dashes struct {
	dash []float64
	i    int     // in dash: even ones are strokes
	done float64 // of dash[i]
}

func (d *dashes) split(a, b point, stroke func(a, b point)) {
	if d.dash == nil {
		stroke(a, b)
		return
	}
	length := math.Hypot(b.x-a.x, b.y-a.y)
	at := func(t float64) point { return point{a.x + (b.x-a.x)*t/length, a.y + (b.y-a.y)*t/length} }
	for t := 0.0; t < length; {
		step := min(d.dash[d.i]*zoom-d.done, length-t)
		if d.i%2 == 0 {
			stroke(at(t), at(t+step))
		}
		t += step
		if d.done += step; d.done >= d.dash[d.i]*zoom-1e-9 {
			d.i, d.done = (d.i+1)%len(d.dash), 0
		}
	}
}

func (c *canvas) rect(x, y, w, h float64, colour string) {
	c.fill([]line{{points: []point{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}}}, rgb(colour, 1))
}

func (c *canvas) face(f *opentype.Font, size float64) font.Face {
	key := faceKey{f, size}
	if c.faces[key] == nil {
		// Fails for sizes below 0 only.
		c.faces[key], _ = opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	}
	return c.faces[key]
}

func (c *canvas) width(text string, f *opentype.Font, size float64) float64 {
	return float64(font.MeasureString(c.face(f, size), text)) / 64
}

// text writes with its baseline at y.
func (c *canvas) text(text string, f *opentype.Font, size float64, colour string, x, y float64, at string) {
	switch at {
	case "middle":
		x -= c.width(text, f, size) / 2
	case "end":
		x -= c.width(text, f, size)
	}
	d := font.Drawer{Dst: c.img, Src: image.NewUniform(rgb(colour, 1)), Face: c.face(f, size), Dot: fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}}
	d.DrawString(text)
}

func (c *canvas) png() ([]byte, error) {
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, c.img)
	return b.Bytes(), err
}

// rgb reads #rrggbb.
func rgb(hex string, opacity float64) color.Color {
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 24)
	if err != nil {
		panic(err) // ours
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), uint8(math.Round(opacity * 255))}
}
