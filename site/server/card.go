package server

import (
	"net/http"

	"schedlab/site/picture"
)

// card draws the card of a link, a PNG. A link that can't be simulated here gets one that
// says what it asks, since a preview without a picture would be none.
func (s *Server) card(w http.ResponseWriter, r *http.Request) {
	question, wrong, _ := parse(r.URL.RawQuery)
	plain := func(form, why string) ([]byte, error) {
		return s.made(r, form, question.Query(), func() ([]byte, error) { return picture.Plain(question, why) })
	}
	var body []byte
	var err error
	if wrong != "" {
		body, err = plain("card of a wrong link", "This link has mistakes in it, so this is the nearest question: open it to see them.")
	} else {
		body, err = s.simulated(r, question, "card", picture.Card)
		if no, ok := err.(*refusal); ok && no.lasts {
			body, err = plain("card of a long link", "Not simulated here: open the link, and your browser does it.")
		}
	}
	if err != nil {
		s.refuseRun(w, err)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", hourly)
	h.Set("Content-Type", "image/png")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // it is there to be shown elsewhere
	w.Write(body)
}
