// Package dist holds the page as ./build.sh makes it: a static site, which any
// host can serve from any path, and which the command serves from within
// itself. A clean clone has none, and compiles all the same.
package dist

import (
	"embed"
	"io/fs"
)

// The files are in www, which site/build fills and git ignores but for .keep.
//
//go:embed all:www
var files embed.FS

// Page returns the page's files, beside each its compressed forms (.br, .gz); ok is false if no
// page was there when the program was built.
func Page() (page fs.ReadDirFS, ok bool) {
	sub, err := fs.Sub(files, "www")
	if err != nil {
		panic(err) // the name is right, or it would not have compiled
	}
	_, err = fs.Stat(sub, "index.html")
	return sub.(fs.ReadDirFS), err == nil
}
