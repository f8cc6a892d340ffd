// Package ui is the page: Vugu components, one for each thing that a user
// sees, over the state and the words of package lab and the pictures of
// package chart. Main runs it in a browser; natively the components can be
// rendered and their handlers called, which is how they are tested.
//
// What the components do about Vugu's ways: every render walks the whole tree, so a
// picture is one Picture, which touches the DOM only when it has changed, and
// what is folded away is not there. What may come and go stands last in its
// parent, so that no field that has the focus is replaced. <details> are
// opened by state, since a render would close them. Each part of the answer has an
// element of its own which is empty in Vugu's tree, and so left alone in the
// document, unless the part is to be rendered: see Parts. Vugu forgets a component that a
// render leaves out, so what it has made with effort is kept by the App: see Memos.
package ui

//go:generate go tool vugugen -skip-go-mod -skip-main .
//go:generate gofmt -w .
