package e2e

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// What a key brings about can take things away above the field, fold it away, or end in a
// message: whoever types goes on typing.
func TestTypingGoesOn(t *testing.T) {
	for _, c := range []struct{ query, field, keys string }{
		{"?model=1&numipi=10&runs=4&bg=quiet", "#f-seed", "7"},
		{"?foo=1&numipi=10&runs=4&bg=quiet", "#f-runs", "0"},
		{"?idle=x&numipi=10&runs=4&bg=quiet", "#f-numipi", "5"},
		{"?c.relax=5&numipi=10&runs=4&bg=quiet", "[name='c.relax']", "x"},
		{"?c.relax=1&numipi=10&runs=4&bg=quiet", "[name='c.relax']", "9"}, // its default
	} {
		t.Run(c.query, func(t *testing.T) {
			b := newTab(t, assets(t))
			b.open(c.query)
			b.wait(is("done"))
			before := eval[string](b, "document.querySelector(`"+c.field+"`).value")
			b.focus(c.field)
			b.press(kb.End, c.keys)
			b.wait("document.querySelector(`" + c.field + "`)?.value == `" + before + c.keys + "`")
			if !eval[bool](b, "document.activeElement == document.querySelector(`"+c.field+"`)") {
				t.Errorf("the field has lost the focus")
			}
			eval[any](b, "document.activeElement.blur(), null")
			b.wait(is("done"))
			if text := eval[string](b, "document.getElementById(`trouble`).textContent"); text != "" {
				t.Errorf("the page says %q", text)
			}
		})
	}
}

// A text that no field could hold does not stop the page.
func TestLongFragment(t *testing.T) {
	b := newTab(t, assets(t))
	long := make([]byte, 20_000)
	for i := range long {
		long[i] = '1'
	}
	b.open(small + "#sweep?x=c.rq_visit=1," + string(long))
	b.wait(is("done"))
	b.wait("document.querySelector(`.sweep .problem`)?.textContent")
}
