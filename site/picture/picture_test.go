package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/site/chart"
	"schedlab/site/lab"
)

func result(t *testing.T, link string) *core.Result {
	t.Helper()
	s, problems := scenario.Parse(link)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r, err := core.Run(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var links = []string{
	"?numipi=2000&runs=6",
	"?numipi=500&runs=4&arm=",
	"?numipi=500&runs=1",
	"?m=xeon-240&numipi=500&runs=4&bg=pair&arm=&arm=always-ipi&arm=skip-newidle&arm=notify-ipi&arm=sm-idle-v1&arm=sm-idle-v2",
	"?w=hackbench&m=laptop&runs=1&groups=1&loops=10", // both arms the same, so that one hides the other
}

// TestShapes: all that package chart draws is understood, and nothing is drawn
// that the page would draw otherwise.
func TestShapes(t *testing.T) {
	for _, link := range links {
		a := lab.NewAnswer(result(t, link), false)
		for _, width := range []float64{390, 900} {
			svg := distribution(a, width).SVG()
			d, err := read(svg)
			if err != nil {
				t.Fatalf("%s: %v", link, err)
			}
			if want := strings.Count(svg, "<path") + strings.Count(svg, "<text"); len(d.shapes) != want {
				t.Errorf("%s: %d shapes of %d", link, len(d.shapes), want)
			}
			for _, s := range d.shapes {
				if s.path == "" && s.text == "" {
					t.Errorf("%s: an empty %s", link, s.class)
				}
				list, err := lines(s.path)
				if err != nil {
					t.Errorf("%s: %v", link, err)
				}
				for _, l := range list {
					for _, p := range l.points {
						if p.x < -1 || p.y < -1 || p.x > d.width+1 || p.y > d.height+1 {
							t.Errorf("%s: %s leaves the picture at %v", link, s.class, p)
						}
					}
				}
				if st := s.style(); st.fill == "" && st.stroke == "" {
					t.Errorf("%s: %s is not to be seen", link, s.class)
				}
			}
		}
	}
}

func TestLines(t *testing.T) {
	for path, want := range map[string][]line{
		"M1 2H5V-3": {{points: []point{{1, 2}, {5, 2}, {5, -3}}}},
		"M1 2h2v2h-2z M7.5-1V0": {{points: []point{{1, 2}, {3, 2}, {3, 4}, {1, 4}}, closed: true},
			{points: []point{{7.5, -1}, {7.5, 0}}}},
		"": nil,
	} {
		if got, err := lines(path); err != nil || !slices.EqualFunc(got, want, func(a, b line) bool { return a.closed == b.closed && slices.Equal(a.points, b.points) }) {
			t.Errorf("%q: %v, %v", path, got, err)
		}
	}
	circle, err := lines("M0 5a5 5 0 1 0 10 0a5 5 0 1 0 -10 0")
	if err != nil || len(circle) != 1 {
		t.Fatal(circle, err)
	}
	top, bottom := 5.0, 5.0
	for _, p := range circle[0].points {
		top, bottom = min(top, p.y), max(bottom, p.y)
		if d := (p.x-5)*(p.x-5) + (p.y-5)*(p.y-5); d < 24.9 || d > 25.1 {
			t.Errorf("%v is not on the circle", p)
		}
	}
	if top > 0.1 || bottom < 9.9 {
		t.Errorf("a circle from %v to %v", top, bottom)
	}
	for _, path := range []string{"H5", "M1", "M1 2C3", "M1 2Hx", "x", "M1 2a5"} {
		if got, err := lines(path); err == nil {
			t.Errorf("%q: %v", path, got)
		}
	}
}

// near tells whether an area has a pixel of about a colour.
func near(img image.Image, area image.Rectangle, hex string) bool {
	want := rgb(hex, 1).(color.NRGBA)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			if abs(c.R, want.R)+abs(c.G, want.G)+abs(c.B, want.B) < 12 {
				return true
			}
		}
	}
	return false
}

func abs(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

func TestCard(t *testing.T) {
	for i, link := range links {
		r := result(t, link)
		data, err := Card(r)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil || img.Bounds() != image.Rect(0, 0, 1200, 630) {
			t.Fatalf("%s: %v, %v", link, img.Bounds(), err)
		}
		if again, _ := Card(r); !bytes.Equal(data, again) {
			t.Errorf("%s: another card the second time", link)
		}
		plot := image.Rect(margin, 330, CardWidth-margin, floor)
		for arm := range min(len(r.Scenario.Arms), 3) {
			if hidden := i == 4 && arm == 0; !hidden && !near(img, plot, colours[arm]) {
				t.Errorf("%s: no curve of arm %d", link, arm)
			}
		}
		if absent := len(r.Scenario.Arms); i < 3 && near(img, plot, colours[absent]) {
			t.Errorf("%s: a curve of arm %d", link, absent)
		}
		// Nothing is drawn over the edge, which stays paper.
		for _, edge := range []image.Rectangle{image.Rect(0, 11, 20, CardHeight), image.Rect(CardWidth-20, 11, CardWidth, CardHeight), image.Rect(0, CardHeight-14, CardWidth, CardHeight)} {
			for _, colour := range append(slices.Clone(colours), softInk) {
				if near(img, edge, colour) {
					t.Errorf("%s: %s at the edge %v", link, colour, edge)
				}
			}
		}
	}
}

func TestPlain(t *testing.T) {
	s, _ := scenario.Parse(links[3] + "&c.rq_visit=50&idle=POLL,C1")
	data, err := Plain(s, strings.Repeat("A reason that is far too long for a card. ", 20))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil || img.Bounds() != image.Rect(0, 0, 1200, 630) {
		t.Fatal(img.Bounds(), err)
	}
	if near(img, image.Rect(0, CardHeight-14, CardWidth, CardHeight), ink) {
		t.Error("it has more text than room")
	}
}

// TestSVG: an SVG file is well-formed, needs no style sheet, and says what it must wherever it is quoted.
func TestSVG(t *testing.T) {
	for _, link := range links {
		r := result(t, link)
		svg, err := SVG(r)
		if err != nil {
			t.Fatal(err)
		}
		decoder := xml.NewDecoder(strings.NewReader(svg))
		text := ""
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", link, err)
			}
			switch token := token.(type) {
			case xml.CharData:
				text += string(token) + " "
			case xml.StartElement:
				for _, a := range token.Attr {
					if key := a.Name.Local; key == "class" || key == "style" || strings.HasPrefix(key, "on") || key == "href" {
						t.Errorf("%s: <%s %s>", link, token.Name.Local, key)
					}
				}
			}
		}
		for _, want := range []string{"simulated · model ", "simulated, model ", r.Scenario.Background + " background", r.Scenario.Query()} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q", link, want)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, svg := range []string{"<svg", `<svg width="1" height="1"><circle/></svg>`, `<svg width="wide" height="1"></svg>`, `<svg width="1" height="1"><text x="" y="1">a</text></svg>`} {
		if d, err := read(svg); err == nil {
			t.Errorf("%s: %v", svg, d)
		}
	}
	// Markup in a name stays text, through the chart and back.
	name := `<b a="1">&lt;`
	svg := chart.Distribution{Width: 600, Curves: []chart.Curve{{Name: name, Runs: []float64{1000}}}}.SVG()
	d, err := read(svg)
	if err != nil || !slices.ContainsFunc(d.shapes, func(s shape) bool { return s.text == name }) {
		t.Errorf("%v: %s", err, svg)
	}
}

func TestWrap(t *testing.T) {
	if got := broken("one three five sevenseven", 9); !slices.Equal(got, []string{"one three", "five", "sevenseven"}) {
		t.Errorf("%q", got)
	}
	if got := broken("", 9); !slices.Equal(got, []string{""}) {
		t.Errorf("%q", got)
	}
}
