package main

func beLate() {}
