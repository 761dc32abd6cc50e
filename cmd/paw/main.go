// Command paw runs several AI coding CLIs side by side on one repository.
package main

func main() {}
