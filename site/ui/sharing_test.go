package ui

import (
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/site/lab"
)

// TestShortLink: what a host answers becomes an address or a message, never anything else.
func TestShortLink(t *testing.T) {
	const json, plain, html = "application/json", "text/plain; charset=utf-8", "text/html"
	for _, c := range []struct {
		name, want string
		reply      Reply
		link       bool
	}{
		{"stored", "https://lab.example/s/Ab_-9#sweep?x=seed=1,2", Reply{201, false, json + "; charset=utf-8", `{"id":"Ab_-9","path":"s/Ab_-9","query":"?v=1"}`}, true},
		{"elsewhere", "makes no short links", Reply{200, false, json, `{"path":"https://evil.example/s/a"}`}, false},
		{"above", "makes no short links", Reply{200, false, json, `{"path":"s/../../a"}`}, false},
		{"script", "makes no short links", Reply{200, false, json, `{"path":"javascript:alert(1)"}`}, false},
		{"no path", "makes no short links", Reply{200, false, json, `{}`}, false},
		{"no JSON", "makes no short links", Reply{200, false, json, `{`}, false},
		{"a page for all", "makes no short links", Reply{200, false, html, `<!doctype html>`}, false},
		{"not found", "makes no short links", Reply{404, false, plain, "404"}, false},
		{"not allowed", "makes no short links", Reply{405, false, plain, "405: want GET or HEAD"}, false},
		{"no network", "can't be reached", Reply{}, false},
		{"no answer", "has not answered", Reply{Late: true}, false},
		{"bad", "runs=0: want 1 to 1000", Reply{400, false, plain, "runs=0: want 1 to 1000\n"}, false},
		{"too many", "wait a minute", Reply{429, false, plain, "wait a minute"}, false},
		{"full", "no room", Reply{503, false, plain, "no room"}, false},
		{"a page of trouble", "makes no short links", Reply{503, false, html, "<h1>no room</h1>"}, false},
		{"endless", "aaa…", Reply{503, false, plain, strings.Repeat("a", 100000)}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var copied string
			s := Sharing{
				Link: func(link string) string { return "https://lab.example/" + link },
				Copy: func(text string, done func(bool)) { copied = text; done(true) },
				Post: func(to, text string, done func(Reply)) {
					if to != "api/links" || text != "?v=1" {
						t.Errorf("posted %q to %q", text, to)
					}
					done(c.reply)
				},
			}
			s.shorten(&lab.View{Link: "?v=1#sweep?x=seed=1,2"})
			if c.link && (s.link != c.want || copied != c.want || !strings.Contains(s.about, "stores this scenario on this host")) {
				t.Errorf("address %q, copied %q: %s", s.link, copied, s.about)
			}
			if !c.link && (s.link != "" || copied != "" || !strings.Contains(s.about, c.want) || !strings.Contains(s.about, "works everywhere")) {
				t.Errorf("address %q: %s", s.link, s.about)
			}
			if s.said != s.about || s.asking != "" || len(s.about) > 500 {
				t.Errorf("said %q", s.said)
			}
		})
	}
}

// TestShortLinkOfAnother: what was found for a question is not shown with another.
func TestShortLinkOfAnother(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		var answer func(Reply)
		asked := 0
		s.app.Sharing.Post = func(to, text string, done func(Reply)) { asked, answer = asked+1, done }
		s.fire("button.shorten", "click", nil)
		s.fire("button.shorten", "click", nil)
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		answer(Reply{200, false, "application/json", `{"path":"s/abc"}`})
		if html := s.html(); !strings.Contains(html, `value="s/abc"`) || !strings.Contains(html, "by hand") {
			t.Error("there is no short link")
		}
		s.app.State.Open(small + "&seed=9")
		if strings.Contains(s.html(), `value="s/abc"`) {
			t.Error("the short link stays with another question")
		}
	})
}

// TestLateShortLink: an answer that comes when the visitor has gone on to something else does not touch the clipboard.
func TestLateShortLink(t *testing.T) {
	const next = small + "&seed=9"
	for _, c := range []struct {
		name     string
		meantime func(s *screen)
		copied   string // in the end
		found    bool   // the first short link
	}{
		{"nothing", func(*screen) {}, "s/first", true},
		{"a copy", func(s *screen) { s.fire("button.copy", "click", nil) }, "the long link", false},
		{"another question", func(s *screen) { s.app.State.Open(next); s.html() }, "", false},
		{"there and back", func(s *screen) { s.app.State.Open(next); s.html(); s.app.State.Open(small); s.html() }, "s/first", true},
		{"another question's short link", func(s *screen) {
			s.app.State.Open(next)
			s.html()
			s.fire("button.shorten", "click", nil)
		}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			open(t, runner{}, small, func(s *screen) {
				var answers []func(Reply)
				copied := ""
				s.app.Sharing.Post = func(to, text string, done func(Reply)) { answers = append(answers, done) }
				s.app.Sharing.Copy = func(text string, done func(bool)) {
					if copied = text; text == s.app.State.View().Link {
						copied = "the long link"
					}
					done(true)
				}
				waiting := func() bool { return strings.Contains(s.html(), `aria-disabled="true"`) }
				s.fire("button.shorten", "click", nil)
				if !waiting() {
					t.Error("nothing tells that the host is being asked")
				}
				c.meantime(s)
				answers[0](Reply{200, false, "application/json", `{"path":"s/first"}`})
				if copied != c.copied || strings.Contains(s.html(), `value="s/first"`) != c.found {
					t.Errorf("copied %q, want %q; there is %q", copied, c.copied, s.app.Sharing.about)
				}
				if len(answers) == 1 {
					if waiting() {
						t.Error("the button waits for ever")
					}
					return
				}
				if !waiting() {
					t.Error("the second wish is forgotten with the first")
				}
				answers[1](Reply{200, false, "application/json", `{"path":"s/second"}`})
				if copied != "s/second" || !strings.Contains(s.html(), `value="s/second"`) || waiting() {
					t.Errorf("copied %q, want the second", copied)
				}
			})
		})
	}
}

func TestVersions(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		v := &s.app.Versions
		v.This = Build{"one", core.Model}
		taken := 0
		v.Take = func() { taken++ }
		says := func(offline string, offered bool) {
			t.Helper()
			html := s.html()
			if !strings.Contains(html, "Works offline: "+offline) || !strings.Contains(html, "Version one, model") {
				t.Errorf("want offline %s", offline)
			}
			if strings.Contains(html, "Reload now") != offered {
				t.Errorf("offered is not %v", offered)
			}
		}
		says("not yet.", false)
		v.Why = "there is no room"
		says("no, since there is no room.", false)
		v.Kept = &Build{"zero", core.Model}
		says("yes, as version zero, model", false)
		v.Kept = &v.This
		says("yes.", false)
		v.Newer = &Build{"two", core.Model + 1}
		says("yes.", true)
		if !strings.Contains(s.html(), "results can differ") {
			t.Error("nothing is said about the other model")
		}
		s.fire("button.take", "click", nil)
		s.fire("button.later", "click", nil)
		says("yes.", false)
		s.fire("button.these", "click", nil)
		if taken != 2 {
			t.Errorf("taken %d times", taken)
		}
	})
}
