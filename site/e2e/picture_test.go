package e2e

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPicture writes the README's picture of the page to the file that PICTURE names: the
// published runs on 240 CPUs, from the top to what lies below the histogram.
func TestPicture(t *testing.T) {
	file := os.Getenv("PICTURE")
	if file == "" {
		t.Skip("PICTURE names no file")
	}
	b := newTab(t, assets(t))
	b.screen(1440, false)
	b.open("?m=xeon-240")
	b.wait(is("done"))
	shot, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	b.check(err)
	whole, err := png.Decode(bytes.NewReader(shot))
	b.check(err)
	end := eval[float64](b, `document.querySelector("[data-table=account] table").getBoundingClientRect().bottom + scrollY`)
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	b.check(encoder.Encode(&out, reduced(whole, image.Rect(0, 0, 1440, int(end)+6))))
	if out.Len() > 200<<10 {
		t.Errorf("%d bytes are too many for a README", out.Len())
	}
	b.check(os.WriteFile(file, out.Bytes(), 0o644))
}

// reduced is a part of a picture in its 256 most frequent colours, which is most of what
// a page has: the rest are shades along the edges of letters.
func reduced(src image.Image, part image.Rectangle) *image.Paletted {
	count := map[color.RGBA]int{}
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			count[color.RGBAModel.Convert(src.At(x, y)).(color.RGBA)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(count), func(c, d color.RGBA) int {
		return cmp.Or(count[d]-count[c], int(c.R)-int(d.R), int(c.G)-int(d.G), int(c.B)-int(d.B))
	})
	var palette color.Palette
	for _, c := range colors[:min(len(colors), 256)] {
		palette = append(palette, c)
	}
	dst := image.NewPaletted(image.Rect(0, 0, part.Dx(), part.Dy()), palette)
	draw.Draw(dst, dst.Bounds(), src, part.Min, draw.Src)
	return dst
}
