// The vCenter of the lab: govmomi's simulator with machines that can be nodes, and a control endpoint beside it, by which tests
// change what is there and break it. One process is one vCenter. It prints one line of JSON when it listens, and ends when its
// stdin does.
package main

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	_ "github.com/vmware/govmomi/lookup/simulator"
	_ "github.com/vmware/govmomi/ssoadmin/simulator"
	_ "github.com/vmware/govmomi/sts/simulator"
	_ "github.com/vmware/govmomi/vapi/simulator"
)

// What is printed when it listens.
type ready struct {
	Port         string `json:"port"`
	Control      string `json:"control"`
	InstanceUUID string `json:"instanceUuid"`
	// PEM; it is valid for 127.0.0.1.
	Certificate string `json:"certificate"`
	SHA1        string `json:"sha1"`
	SHA256      string `json:"sha256"`
}

func main() {
	var shape shape
	listen := flag.String("listen", "127.0.0.1:0", "address of the vCenter")
	flag.StringVar(&shape.name, "name", "a", "the machines are named <name>-0 … ; no two vCenters have the same")
	flag.IntVar(&shape.datacenters, "datacenters", 1, "datacenters, each in a folder of its own where -folders is set")
	flag.IntVar(&shape.clusters, "clusters", 1, "clusters of each datacenter")
	flag.IntVar(&shape.hosts, "hosts", 3, "hosts of each cluster")
	flag.IntVar(&shape.folders, "folders", 0, "how many of the datacenters are in a folder, their machines and hosts too")
	flag.IntVar(&shape.machines, "machines", 3, "machines of each cluster")
	user := flag.String("user", "user", "its user")
	password := flag.String("password", "pass", "its password")
	flag.Parse()

	model, instanceUUID, err := create(shape)
	if err != nil {
		log.Fatal(err)
	}
	service := model.Service
	service.TLS = new(tls.Config)
	service.RegisterEndpoints = true
	service.Listen = &url.URL{Host: *listen, User: url.UserPassword(*user, *password)}
	server := service.NewServer()
	wire := newWire(server.Config.Handler, model.Map(), *user, *password)
	server.Config.Handler = wire
	control, err := newControl(model, wire, server.URL)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(http.Serve(listener, control)) }()
	raw := server.Certificate().Raw
	sum1, sum256 := sha1.Sum(raw), sha256.Sum256(raw)
	_ = json.NewEncoder(os.Stdout).Encode(ready{
		Port:         server.URL.Port(),
		Control:      "http://" + listener.Addr().String(),
		InstanceUUID: instanceUUID,
		Certificate:  string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})),
		SHA1:         thumbprint(sum1[:]),
		SHA256:       thumbprint(sum256[:]),
	})
	_, _ = io.Copy(io.Discard, os.Stdin)
	server.CloseClientConnections()
	model.Remove()
}

// As vCenter's own pages write it: AA:BB:….
func thumbprint(sum []byte) string {
	text := strings.ToUpper(hex.EncodeToString(sum))
	var pairs []string
	for at := 0; at < len(text); at += 2 {
		pairs = append(pairs, text[at:at+2])
	}
	return strings.Join(pairs, ":")
}
