// kubelet-plugin runs image credential providers by the code with which the kubelet runs them.
//
//	kubelet-plugin CredentialProviderConfig bin-dir < questions > answers
//
// A question is a line {"image", "serviceAccount", "token", "annotations"}, an answer {"found", "credentials": [{"username", "password"}]}.
// What goes wrong is in the kubelet's own log, on standard error.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/credentialprovider/plugin"
)

type question struct {
	Image          string            `json:"image"`
	ServiceAccount string            `json:"serviceAccount"`
	Token          string            `json:"token"`
	Annotations    map[string]string `json:"annotations"`
}

type credential struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

type answer struct {
	Found       bool         `json:"found"`
	Credentials []credential `json:"credentials"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: kubelet-plugin CredentialProviderConfig bin-dir")
	}
	var asked question
	token := func(_, _ string, request *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
		request.Status.Token = asked.Token
		request.Status.ExpirationTimestamp = metav1.NewTime(time.Now().Add(time.Hour))
		return request, nil
	}
	account := func(namespace, name string) (*v1.ServiceAccount, error) {
		return &v1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: "11111111-2222-3333-4444-555555555555", Annotations: asked.Annotations,
		}}, nil
	}
	if err := plugin.RegisterCredentialProviderPlugins(args[0], args[1], token, account); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		asked = question{}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		keyring := plugin.NewExternalCredentialProviderDockerKeyring("default", "pod", "66666666-7777-8888-9999-000000000000", asked.ServiceAccount)
		found, ok := keyring.Lookup(asked.Image)
		given := answer{Found: ok, Credentials: []credential{}}
		for _, one := range found {
			given.Credentials = append(given.Credentials, credential{one.Username, one.Password})
		}
		if err := out.Encode(given); err != nil {
			return err
		}
	}
	return lines.Err()
}
