package ui

import "schedlab/site/lab"

// A shownCases knows which tables of the evidence stand in the document, and as what: a render leaves those alone that
// would come out the same. A page of tables is more than a render should make at once, so that they come
// by turns.
type shownCases struct {
	shown map[int]shownCase
	fresh map[int]bool // to be rendered now
	list  bool         // what is around them is to be rendered
	more  bool         // others are due, in a render that follows
	last  seenEvidence
}

// seenEvidence is what a render of the evidence was of.
type seenEvidence struct {
	some                  bool // there has been one
	version, found, folds uint64
	width                 float64
}

// A shownCase is what a table in the document was rendered of.
type shownCase struct {
	version uint64
	width   float64 // if it has a picture
}

// next finds what is to be rendered now, and tells whether anything is.
func (s *shownCases) next(c *App) bool {
	if s.shown == nil {
		s.shown = map[int]shownCase{}
	}
	s.fresh, s.more = map[int]bool{}, false
	for _, thread := range lab.Threads() {
		for _, series := range thread.Series {
			for _, k := range series.Cases {
				if !c.folds.Open(seriesFold(series), false) {
					delete(s.shown, k)
					continue
				}
				now := shownCase{version: c.view.Evidence.Cases[k].Version}
				if len(c.view.Evidence.Cases[k].Tried) > 0 {
					now.width = c.EvidenceWidth
				}
				switch shown, ok := s.shown[k]; {
				case ok && shown == now:
				case c.MostCases > 0 && len(s.fresh) == c.MostCases:
					s.more = true
				default:
					s.fresh[k], s.shown[k] = true, now
				}
			}
		}
	}
	v := &c.view.Evidence
	now := seenEvidence{true, v.Version, v.Found, c.folds.version, c.EvidenceWidth}
	due := now != s.last || len(s.fresh) > 0
	s.last.version = now.version
	s.list = now != s.last || len(s.fresh) > 0
	s.last = now
	return due
}

// seriesFold is the name of a series' fold.
func seriesFold(s *lab.Series) string { return "evidence: " + s.Title + s.Source }
