// Package chart turns figures into pictures and into words for people: numbers
// with units, a logarithmic axis, histograms on shared bins, dots, a
// machine's picture, the curves and maps of a sweep. A picture is the text of an <svg> element, laid out in CSS pixels for the
// width it will have, so that its text keeps its size on a phone. It styles
// nothing: what is drawn how is said by classes, which the style sheet knows.
//
// Everything is a pure function, the same on every platform; nothing knows a
// browser.
package chart
