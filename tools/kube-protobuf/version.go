package main

import (
	"log"
	"runtime/debug"
)

// version of k8s.io/api that this program was built with.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/api" {
				return module.Version
			}
		}
	}
	log.Fatal("the version of k8s.io/api is not known")
	return ""
}
