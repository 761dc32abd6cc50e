// Package errs is how paw tells its user what is wrong: an error with an exit code and with commands that work when
// they are pasted, and the words that such texts are made of.
//
// It imports nothing of paw. Begin with Error and New.
package errs
