package ui

import (
	"encoding/json"
	"strings"
	"time"

	"schedlab/site/lab"
)

// A Sharing is what came of the visitor's wish for a link.
type Sharing struct {
	Link                  func(link string) string                // makes a whole address of a link; nil leaves it as it is
	Copy                  func(text string, done func(ok bool))   // copies to the clipboard; nil can't
	Post                  func(to, text string, done func(Reply)) // posts to an address beside the page; nil can't
	Wait                  func(wait time.Duration, f func())      // calls f later; nil never
	of, about, link, said string                                  // the link that it is about, what there is to read, the address, and what is to be heard
	asking                string                                  // the link for which the host is being asked
	copied                bool
	wish                  int // counts what the visitor has wished for: the last alone counts
}

// A Reply is a host's answer.
type Reply struct {
	Status int    // 0: there was none
	Late   bool   // it was not waited for any longer
	Type   string // of Text
	Text   string
}

func (s *Sharing) copyLink(link string) {
	address := s.address(link)
	last := s.wished()
	s.copy(address, func(ok bool) {
		if !last() {
			return
		}
		*s = s.without()
		s.copied = ok
		if ok {
			s.said = "The link is copied."
			s.later(func() { s.copied = s.copied && !last() })
			return
		}
		s.show(link, address, "The clipboard is closed to this page. Copy the link by hand:")
	})
}

// shorten asks the host for a short address of the scenario that is shown. A sweep is not stored: it stays behind the #.
// What comes when the visitor has wished for something else, or looks at something else, is for nobody: it
// must not take the place of what is on the clipboard by then.
func (s *Sharing) shorten(shown *lab.View) {
	link := shown.Link
	if s.asking == link {
		return
	}
	last := s.wished()
	query, hash, _ := strings.Cut(link, "#")
	if hash != "" {
		hash = "#" + hash
	}
	done := func(r Reply) {
		if !last() {
			return
		}
		path, trouble := r.short()
		*s = s.without()
		if shown.Link != link {
			return
		}
		if trouble != "" {
			s.show(link, "", trouble)
			return
		}
		const keeps = "It stores this scenario on this host, for as long as the host keeps it, and nothing else."
		address := s.address(path) + hash
		s.copy(address, func(ok bool) {
			if !last() {
				return
			}
			if ok {
				s.show(link, address, "The short link is copied. "+keeps)
			} else {
				s.show(link, address, "The clipboard is closed to this page: copy the short link by hand. "+keeps)
			}
		})
	}
	if s.Post == nil {
		done(Reply{})
		return
	}
	s.asking, s.said = link, "Asking for a short link."
	s.Post("api/links", query, done)
}

// stored tells whether that is the address of a short link: beside the page, and nothing else.
func stored(path string) bool {
	id, ok := strings.CutPrefix(path, "s/")
	return ok && id != "" && !strings.ContainsFunc(id, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}

// short returns a short link's address beside the page, or why there is none.
func (r Reply) short() (path, trouble string) {
	const anyway = " The link in the address bar works everywhere, without a host's help."
	kind, _, _ := strings.Cut(r.Type, ";")
	kind = strings.TrimSpace(kind)
	var answer struct{ Path string }
	switch {
	case r.Late:
		return "", "The host has not answered in time, so there is no short link." + anyway
	case r.Status == 0:
		return "", "The host can't be reached, so there is no short link." + anyway
	case r.Status < 300 && kind == "application/json" && json.Unmarshal([]byte(r.Text), &answer) == nil && stored(answer.Path):
		return answer.Path, ""
	case r.Status >= 400 && r.Status != 404 && r.Status != 405 && kind == "text/plain" && strings.TrimSpace(r.Text) != "":
		const most = 300
		text := []rune(strings.TrimSpace(r.Text))
		if len(text) > most {
			text = append(text[:most], '…')
		}
		return "", "No short link. The host says: " + string(text) + "." + anyway
	}
	return "", "This host makes no short links." + anyway
}

// show shows the address that was found for a link, with words about it, which are heard too.
func (s *Sharing) show(of, address, about string) {
	s.of, s.link, s.about, s.said = of, address, about, about
}

// without is s with nothing found.
func (s *Sharing) without() Sharing {
	return Sharing{Link: s.Link, Copy: s.Copy, Post: s.Post, Wait: s.Wait, wish: s.wish}
}

// wished begins with a wish, and returns what tells whether it is still the last.
func (s *Sharing) wished() (last func() bool) {
	*s = s.without()
	s.wish++
	wish := s.wish
	return func() bool { return s.wish == wish }
}

func (s *Sharing) address(link string) string {
	if s.Link == nil {
		return link
	}
	return s.Link(link)
}

func (s *Sharing) copy(text string, done func(ok bool)) {
	if s.Copy == nil {
		done(false)
		return
	}
	s.Copy(text, done)
}

func (s *Sharing) later(f func()) {
	if s.Wait != nil {
		s.Wait(2*time.Second, f)
	}
}
