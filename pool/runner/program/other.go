//go:build !linux

package main

import "errors"

var errLinux = errors.New("this program is for Linux: containers and far hosts run it")

func serveRunner(options) error { return errLinux }
func joinServer(string) error   { return errLinux }
func hashFile() string          { return "" }
