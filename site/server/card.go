package server

import (
	"net/http"

	"schedlab/site/picture"
)

// card draws the card of a link, a PNG. A link that can't be simulated here gets one that
// says what it asks, since a preview without a picture would be none: that one is drawn in a moment, so it needs no
// leave of the limiter, and is not kept, where any number of wrong links would push out what was simulated.
func (s *Server) card(w http.ResponseWriter, r *http.Request) {
	question, wrong, _ := parse(r.URL.RawQuery)
	plain := func(why string) ([]byte, error) {
		leave, err := s.turn(r)
		if err != nil {
			return nil, err
		}
		defer leave()
		return picture.Plain(question, why)
	}
	var body []byte
	var err error
	if wrong != "" {
		body, err = plain("This link has mistakes in it, so this is the nearest question: open it to see them.")
	} else {
		body, err = s.simulated(r, question, "card", picture.Card)
		if no, ok := err.(*refusal); ok && no.lasts {
			body, err = plain("Not simulated here: open the link, and your browser does it.")
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
