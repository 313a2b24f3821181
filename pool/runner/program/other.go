//go:build !linux

package main

import "errors"

var errLinux = errors.New("this program is for Linux: containers and far hosts run it")

func serve(options) error { return errLinux }
func join(string) error   { return errLinux }
func hash() string        { return "" }
