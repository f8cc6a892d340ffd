package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestTips: what a field means is said when the pointer is on it and when it has the focus, on the
// screen, and Escape takes it away.
func TestTips(t *testing.T) {
	b := newTab(t, assets(t))
	const shown = `(() => {
		const tips = [...document.querySelectorAll(".tip")].filter((e) => e.getClientRects().length > 0 && getComputedStyle(e).opacity == 1);
		const inside = tips.every((e) => { const r = e.getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth; });
		return inside && document.documentElement.scrollWidth <= innerWidth ? tips.map((e) => e.id).join() : "outside of the screen: " + tips.map((e) => e.id).join();
	})()`
	for _, width := range []int{1440, 390} {
		b.screen(width, false)
		b.open(small + "#sweep?x=c.rq_visit=1,2")
		b.wait(is("done"))
		if width < 500 {
			b.click(".foldline")
		}
		b.click("h2.hidden") // a place without a tip
		for field, tip := range map[string]string{
			"#f-numipi": "f-numipi-help", "#f-timeout": "f-timeout-help", "#f-cpulist": "f-cpulist-help", "#f-seed": "f-seed-help",
			"#f-w": "f-w-hint", "#f-k": "f-k-hint", "#f-modified": "f-modified-help", "[data-idle=C2] input": "idle-C2", "#axis-0-values": "axis-0-help",
		} {
			b.focus("button.copy")
			b.press(kb.Shift)
			b.wait(shown + ` == ""`)
			at := eval[[2]float64](b, fmt.Sprintf(`(() => {
				const e = document.querySelector(%q);
				e.scrollIntoView({block: "center", behavior: "instant"});
				const r = e.getBoundingClientRect();
				return [r.x + r.width / 2, r.y + r.height / 2];
			})()`, field))
			b.do(chromedp.MouseEvent("mouseMoved", at[0], at[1]))
			b.wait(fmt.Sprintf("%s == %q", shown, tip))
			if eval[bool](b, fmt.Sprintf(`(() => {
				const tip = document.getElementById(%q), r = tip.getBoundingClientRect();
				return document.elementsFromPoint(r.x + r.width / 2, r.y + r.height / 2).includes(tip);
			})()`, tip)) {
				t.Errorf("%s catches clicks on what it lies over", tip)
			}
			b.press(kb.Escape)
			b.wait(shown + ` == ""`)
			b.do(chromedp.MouseEvent("mouseMoved", 2, 2))
			b.focus(field)
			b.press(kb.Shift)
			b.wait(fmt.Sprintf("%s == %q", shown, tip))
			if described := eval[string](b, fmt.Sprintf("document.querySelector(%q).getAttribute('aria-describedby')", field)); described != tip {
				t.Errorf("%s is described by %q", field, described)
			}
		}
	}
}

// TestAbout: each "about it" leads to an entry of the catalogue.
func TestAbout(t *testing.T) {
	b := newTab(t, assets(t))
	b.open(small)
	b.wait(is("done"))
	b.click("[data-arm='1'] .edit")
	b.wait(`document.querySelectorAll(".patch a.about").length >= 5`)
	for _, machine := range eval[[]string](b, `[...document.querySelector("#f-m").options].map((e) => e.value)`) {
		b.choose("#f-m", machine)
		b.wait(fmt.Sprintf(`document.querySelector("[data-key=m] a.about").href.endsWith("catalogue.html#machine-%s")`, machine))
		if machine == "vm-2" {
			break
		}
	}
	links := eval[[]string](b, `[...document.querySelectorAll("a.about")].map((e) => e.getAttribute("href"))`)
	machines := eval[[]string](b, `[...document.querySelector("#f-m").options].map((e) => "catalogue.html#machine-" + e.value)`)
	if len(links) < 9 {
		t.Errorf("links %q", links)
	}
	for _, link := range append(links, machines...) {
		b.open(link)
		b.wait(`document.querySelector(":target")`)
	}
}
