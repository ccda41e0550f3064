// kube-protobuf prints, with `tables`, the tables by which packages/kube reads Kubernetes' protobuf: for each message its fields by number, as
// the Go types say: their tags hold the number, the name in JSON and whether JSON leaves a zero out. With `vectors` it prints objects
// in both encodings, by which that is tested.
package main

import (
	"fmt"
	"log"
	"os"
	"reflect"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What is read: the kinds that are listed and watched, and what every answer may be.
var roots = []any{corev1.Node{}, corev1.Service{}, metav1.Status{}, runtime.TypeMeta{}}

// What defaultTransform drops: it is passed over unread. Messages, lists and maps, which all begin with their length.
var skipped = map[string]bool{
	"ObjectMeta.managedFields":    true,
	"NodeStatus.allocatable":      true,
	"NodeStatus.capacity":         true,
	"NodeStatus.config":           true,
	"NodeStatus.daemonEndpoints":  true,
	"NodeStatus.declaredFeatures": true,
	"NodeStatus.features":         true,
	"NodeStatus.images":           true,
	"NodeStatus.runtimeHandlers":  true,
	"NodeStatus.volumesAttached":  true,
	"NodeStatus.volumesInUse":     true,
}

// Types whose JSON is not their structure.
var scalars = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():        "T",
	reflect.TypeFor[intstr.IntOrString](): "I",
}

var messages = map[string]string{}

func main() {
	log.SetFlags(0)
	if len(os.Args) == 2 && os.Args[1] == "tables" {
		printTables()
	} else if len(os.Args) == 2 && os.Args[1] == "vectors" {
		printVectors()
	} else {
		log.Fatal("usage: kube-protobuf tables|vectors")
	}
}

func printTables() {
	for _, root := range roots {
		addMessage(reflect.TypeOf(root))
	}
	fmt.Println("// Written by tools/kube-protobuf from k8s.io/api " + version() + ". Do not edit.")
	fmt.Println()
	fmt.Println("/** Message → fields, each `number:name:type`; what the types mean is said in `message-table.ts`. */")
	fmt.Println("export const MESSAGES: Readonly<Record<string, string>> = {")
	names := make([]string, 0, len(messages))
	for name := range messages {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		line := fmt.Sprintf("  %s: '%s',", name, messages[name])
		if len(line) > 120 {
			line = fmt.Sprintf("  %s:\n    '%s',", name, messages[name])
		}
		fmt.Println(line)
	}
	fmt.Println("};")
}

func addMessage(t reflect.Type) string {
	name := t.Name()
	if _, done := messages[name]; done {
		return name
	}
	messages[name] = ""
	var fields []string
	for i := range t.NumField() {
		field := t.Field(i)
		json, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Type == reflect.TypeFor[metav1.TypeMeta]() {
			// Not in the message: the envelope has it.
			continue
		}
		wire := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(wire) < 2 || json == "" || strings.Contains(options, "inline") {
			log.Fatalf("%s.%s: inlined, or without a name or a number: the reader has no means for it", name, field.Name)
		}
		kind := "-"
		if !skipped[name+"."+json] {
			kind = typeOf(name+"."+json, field.Type, strings.Contains(options, "omitempty"), strings.Contains(options, "omitzero"))
		}
		fields = append(fields, fmt.Sprintf("%s:%s:%s", wire[1], json, kind))
	}
	messages[name] = strings.Join(fields, " ")
	return name
}

func typeOf(path string, t reflect.Type, omitEmpty, omitZero bool) string {
	switch t.Kind() {
	case reflect.Pointer:
		// What is pointed at is there with its zero.
		return typeOf(path, t.Elem(), false, false)
	case reflect.Slice:
		if !omitEmpty {
			log.Fatalf("%s: a list that JSON shows when it is empty: the reader has no means for it", path)
		}
		return typeOf(path, t.Elem(), false, false) + "*"
	case reflect.Map:
		element := typeOf(path, t.Elem(), false, false)
		if !omitEmpty || t.Key().Kind() != reflect.String || element != "s" {
			log.Fatalf("%s: a map that the reader has no means for", path)
		}
		return element + "%"
	}
	if scalar, known := scalars[t]; known {
		return scalar
	}
	kind := ""
	switch t.Kind() {
	case reflect.String:
		kind = "s"
	case reflect.Bool:
		kind = "b"
	case reflect.Int32, reflect.Int64:
		kind = "i"
	case reflect.Struct:
		if omitZero {
			log.Fatalf("%s: a message that JSON leaves out when it is zero: the reader has no means for it", path)
		}
		return addMessage(t)
	default:
		log.Fatalf("%s: %s: the reader has no means for it", path, t)
	}
	if omitEmpty || omitZero {
		kind += "?"
	}
	return kind
}
