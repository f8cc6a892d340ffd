package server

import (
	"net/http"

	"schedlab/site/picture"
)

// card draws the card of a link, a PNG. A link that can't be simulated here gets one that
// says what it asks, since a preview without a picture would be none.
func (s *Server) card(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", hourly)
	question, wrong := parse(r.URL.RawQuery)
	why := "This link has mistakes in it, so this is the nearest question: open it to see them."
	var body []byte
	var err error
	if wrong == "" {
		body, err = s.simulated(r, question, "card", picture.Card)
		if no, ok := err.(*refusal); ok {
			why, err = "Not simulated here: open the link, and your browser does it.", nil
			if !no.lasts {
				h.Set("Cache-Control", "no-store")
			}
		}
	}
	if body == nil && err == nil {
		body, err = picture.Plain(question, why)
	}
	if err != nil {
		s.refuseRun(w, err)
		return
	}
	h.Set("Content-Type", "image/png")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // it is there to be shown elsewhere
	w.Write(body)
}
