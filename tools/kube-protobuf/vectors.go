package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"reflect"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// vector is an object in both encodings, as the API server writes them.
type vector struct {
	Name     string          `json:"name"`
	Kind     string          `json:"kind"`
	Protobuf []byte          `json:"protobuf"`
	JSON     json.RawMessage `json:"json"`
}

// Objects of each kind that are filled at random; beside them one that is empty and one in which everything is set.
const randomVectors = 3

func printVectors() {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	serializer := protobuf.NewSerializer(scheme, scheme)
	var vectors []vector
	add := func(name string, object runtime.Object) {
		kind := reflect.TypeOf(object).Elem().Name()
		object.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
		var encoded strings.Builder
		if err := serializer.Encode(object, &encoded); err != nil {
			log.Fatal(err)
		}
		text, err := json.Marshal(object)
		if err != nil {
			log.Fatal(err)
		}
		vectors = append(vectors, vector{Name: kind + ": " + name, Kind: kind, Protobuf: []byte(encoded.String()), JSON: text})
	}
	random := rand.New(rand.NewSource(1))
	for _, make := range []func() runtime.Object{
		func() runtime.Object { return &corev1.Node{} },
		func() runtime.Object { return &corev1.Service{} },
		func() runtime.Object { return &metav1.Status{} },
	} {
		add("empty", make())
		full := make()
		fill(reflect.ValueOf(full).Elem(), random, 1)
		add("everything set", full)
		for index := range randomVectors {
			object := make()
			fill(reflect.ValueOf(object).Elem(), random, 0.5)
			add(fmt.Sprintf("random %d", index), object)
		}
	}
	nodes := &corev1.NodeList{}
	add("empty", nodes)
	nodes = &corev1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: "12", Continue: "next"}}
	remaining := int64(1 << 40)
	nodes.RemainingItemCount = &remaining
	for range 2 {
		node := corev1.Node{}
		fill(reflect.ValueOf(&node).Elem(), random, 0.2)
		nodes.Items = append(nodes.Items, node)
	}
	add("two", nodes)

	for index, one := range vectors {
		separator := ","
		if index == 0 {
			separator = "["
		}
		line, err := json.Marshal(one)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n%s", separator, line)
	}
	fmt.Println("\n]")
}

var texts = []string{"", "a", "True", "KubeletHasSufficientMemory", "zone-ä", "日本語", "\"<&>\\\u2028", strings.Repeat("long ", 40)}
var integers = []int64{0, 1, -1, 127, 128, -128, 1<<31 - 1, -1 << 31}
var longs = []int64{1 << 40, -1 << 40, 1<<53 + 1, 1<<63 - 1, -1 << 63}
var quantities = []string{"0", "4", "100m", "16Gi", "1Ki", "15.5Gi", "1e3", "-2"}
var seconds = []int64{0, 1, -1, 1_790_000_000, 253_402_300_799, -62_135_596_799, 951_782_400}

// fill sets each field with the probability.
func fill(value reflect.Value, random *rand.Rand, probability float64) {
	switch value.Interface().(type) {
	case metav1.TypeMeta:
		return
	case metav1.Time:
		value.Set(reflect.ValueOf(metav1.Time{Time: time.Unix(pick(seconds, random), 0).UTC()}))
		return
	case resource.Quantity:
		value.Set(reflect.ValueOf(resource.MustParse(pick(quantities, random))))
		return
	case metav1.FieldsV1:
		value.Set(reflect.ValueOf(metav1.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}))
		return
	case intstr.IntOrString:
		options := []intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(8080), intstr.FromString("http"), intstr.FromString("")}
		value.Set(reflect.ValueOf(options[random.Intn(len(options))]))
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem(), random, probability)
	case reflect.Struct:
		for index := range value.NumField() {
			if random.Float64() < probability {
				fill(value.Field(index), random, probability)
			}
		}
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		for index := range 2 {
			fill(value.Index(index), random, probability)
		}
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		for _, key := range []string{"example.com/a", "b"} {
			element := reflect.New(value.Type().Elem()).Elem()
			fill(element, random, probability)
			value.SetMapIndex(reflect.ValueOf(key).Convert(value.Type().Key()), element)
		}
	case reflect.String:
		value.SetString(pick(texts, random))
	case reflect.Bool:
		value.SetBool(probability == 1 || random.Intn(2) == 0)
	case reflect.Int32:
		value.SetInt(pick(integers, random))
	case reflect.Int64:
		value.SetInt(pick(append(longs, integers...), random))
	default:
		log.Fatalf("%s cannot be filled", value.Type())
	}
}

func pick[T any](values []T, random *rand.Rand) T {
	return values[random.Intn(len(values))]
}
