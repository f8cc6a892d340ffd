// Package e2e tests the built page in a real browser, as people use it: by
// pointer and keyboard. It is all tests, so that nothing of the browser's
// driver is in the command.
//
// The tests test the page as it was last built (go run ./site/build), in
// Chromium, and only if they are asked for:
//
//	SCHEDLAB_E2E=1 go test ./site/e2e
//
// With SCREENSHOTS=DIR, TestScreenshots writes pictures of the page in its states
// to that folder; with PICTURE=testdata/page.png, TestPicture writes the one that the README
// shows: its figures must be those of the present model; with
// SCHEDLAB_BENCH=1, TestSpeed prints how fast the page is; with SCHEDLAB_ALL=1, TestEvidenceAll runs all
// published tables, which takes a quarter of an hour and more.
package e2e
