package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"
)

// Requests with this one are the lab's own: they are not counted, and nothing is done to them.
const labAgent = "outrigger-lab"

// wire stands before the simulator: it counts requests, breaks them by rules, and takes from answers what a user may not see, or
// what vCenter itself does not know of a machine that it cannot reach. The simulator has neither.
type wire struct {
	next           http.Handler
	registry       *simulator.Registry
	user, password string

	lock  sync.Mutex
	down  bool
	calls []call
	rules []*rule
	// Cookies of sessions that clients opened.
	sessions map[string]bool
	rest     map[string]bool
	// References of machines that the user may not see.
	hidden map[string]bool
	// References of machines whose configuration vCenter does not know.
	unknown map[string]bool
}

type call struct {
	Method string `json:"method"`
	Agent  string `json:"agent"`
	// Milliseconds since 1970.
	At    int64 `json:"at"`
	Bytes int   `json:"bytes"`
}

// What is done to some requests instead of, or before, they are answered.
type rule struct {
	// A SOAP method, or `GET /rest/…` by its beginning. `*`: every one.
	Method string `json:"method"`
	// So many are let through first.
	Skip int `json:"skip"`
	// How many times; 0: until the rules are cleared.
	Count int `json:"count"`
	// The connection ends without an answer.
	Cut bool `json:"cut"`
	// The answer is this status.
	Status int `json:"status"`
	// Before it is handled.
	DelayMs int `json:"delayMs"`
	// The answer is carried out, and then the connection ends.
	Lose bool `json:"lose"`
	// All sessions of clients end, before it is handled.
	KillSessions bool `json:"killSessions"`
}

func newWire(next http.Handler, registry *simulator.Registry, user, password string) *wire {
	w := &wire{next: next, registry: registry, user: user, password: password,
		sessions: map[string]bool{}, rest: map[string]bool{}, hidden: map[string]bool{}, unknown: map[string]bool{}}
	registry.SessionManager().ValidLogin = func(login *types.Login) bool {
		if login.UserName == labAgent {
			return login.Password == labAgent
		}
		w.lock.Lock()
		defer w.lock.Unlock()
		return login.UserName == w.user && login.Password == w.password
	}
	return w
}

var soapMethod = regexp.MustCompile(`<(?:\w+:)?Body[^>]*>\s*<(?:\w+:)?(\w+)`)

func methodOf(request *http.Request, body []byte) string {
	if request.Method == http.MethodPost && !strings.HasPrefix(request.URL.Path, "/rest/") {
		if match := soapMethod.FindSubmatch(body); match != nil {
			return string(match[1])
		}
	}
	path := request.Method + " " + request.URL.Path
	if action := request.URL.Query().Get("~action"); action != "" {
		path += "?~action=" + action
	}
	return path
}

func (w *wire) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	if request.UserAgent() == labAgent {
		w.next.ServeHTTP(response, request)
		return
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	method := methodOf(request, body)
	w.lock.Lock()
	down := w.down
	var rule *rule
	if !down {
		w.calls = append(w.calls, call{Method: method, Agent: request.UserAgent(), At: time.Now().UnixMilli()})
		rule = w.match(method)
	}
	at := len(w.calls) - 1
	w.lock.Unlock()
	if down {
		cut(response)
		return
	}
	if rule != nil {
		time.Sleep(time.Duration(rule.DelayMs) * time.Millisecond)
		if rule.KillSessions {
			w.killSessions()
		}
		if rule.Cut {
			cut(response)
			return
		}
		if rule.Status != 0 {
			http.Error(response, "a rule of the lab", rule.Status)
			return
		}
	}
	if reference := w.forbidden(body); reference != "" {
		response.Header().Set("Content-Type", "text/xml; charset=utf-8")
		response.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(response, noPermission, reference)
		return
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	w.next.ServeHTTP(answer, request)
	w.remember(answer.Result().Cookies(), request, answer)
	if rule != nil && rule.Lose {
		cut(response)
		return
	}
	text := w.filter(method, answer.Body.Bytes())
	w.lock.Lock()
	if at < len(w.calls) {
		w.calls[at].Bytes = len(text)
	}
	w.lock.Unlock()
	for key, values := range answer.Header() {
		response.Header()[key] = values
	}
	response.Header().Del("Content-Length")
	response.WriteHeader(answer.Code)
	_, _ = response.Write(text)
}

func cut(response http.ResponseWriter) {
	if hijacker, ok := response.(http.Hijacker); ok {
		if connection, _, err := hijacker.Hijack(); err == nil {
			_ = connection.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// Under the lock.
func (w *wire) match(method string) *rule {
	for at, rule := range w.rules {
		isOne := rule.Method == "*" || rule.Method == method || strings.HasPrefix(method, rule.Method+"?") ||
			(strings.Contains(rule.Method, " /") && strings.HasPrefix(method, rule.Method))
		if !isOne {
			continue
		}
		if rule.Skip > 0 {
			rule.Skip--
			continue
		}
		if rule.Count > 0 {
			if rule.Count--; rule.Count == 0 {
				w.rules = append(w.rules[:at:at], w.rules[at+1:]...)
			}
		}
		return rule
	}
	return nil
}

const restSession = "/rest/com/vmware/cis/session"

func (w *wire) remember(cookies []*http.Cookie, request *http.Request, answer *httptest.ResponseRecorder) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, cookie := range cookies {
		if cookie.Name == "vmware_soap_session" {
			w.sessions[cookie.Value] = true
		}
	}
	if request.URL.Path == restSession && request.Method == http.MethodDelete {
		delete(w.rest, request.Header.Get("vmware-api-session-id"))
		if cookie, err := request.Cookie("vmware-api-session-id"); err == nil {
			delete(w.rest, cookie.Value)
		}
	}
	if request.URL.Path == restSession && request.Method == http.MethodPost && answer.Code == http.StatusOK {
		if match := regexp.MustCompile(`"value":\s*"([^"]+)"`).FindSubmatch(answer.Body.Bytes()); match != nil {
			w.rest[string(match[1])] = true
		}
	}
}

// Ends every session that a client has opened. Answers how many SOAP and REST sessions there were.
func (w *wire) killSessions() (int, int) {
	w.lock.Lock()
	sessions, rest := w.sessions, w.rest
	w.sessions, w.rest = map[string]bool{}, map[string]bool{}
	w.lock.Unlock()
	manager := w.registry.SessionManager()
	ended := 0
	for key := range sessions {
		// Another session's key than the one that asks, as the simulator demands.
		context := &simulator.Context{Map: w.registry, Session: &simulator.Session{}}
		if manager.TerminateSession(context, &types.TerminateSession{SessionId: []string{key}}).Fault() == nil {
			ended++
		}
	}
	for id := range rest {
		request := httptest.NewRequest(http.MethodDelete, restSession, nil)
		request.Header.Set("vmware-api-session-id", id)
		w.next.ServeHTTP(httptest.NewRecorder(), request)
	}
	return ended, len(rest)
}

const noPermission = `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body><soapenv:Fault><faultcode>ServerFaultCode</faultcode><faultstring>Permission to perform this operation was denied.</faultstring><detail><NoPermissionFault xmlns="urn:vim25" xsi:type="NoPermission"><object type="VirtualMachine">%s</object><privilegeId>System.View</privilegeId></NoPermissionFault></detail></soapenv:Fault></soapenv:Body></soapenv:Envelope>`

var (
	askedMachine = regexp.MustCompile(`type="VirtualMachine"[^>]*>([^<]+)<`)
	objects      = regexp.MustCompile(`(?s)<(objects|objectSet)>.*?</(?:objects|objectSet)>`)
	firstObject  = regexp.MustCompile(`<obj type="VirtualMachine">([^<]+)</obj>`)
	configValues = regexp.MustCompile(`(?s)<propSet><name>(?:summary\.)?config(?:\.[^<]*)?</name>.*?</propSet>`)
	found        = regexp.MustCompile(`<returnval type="VirtualMachine">([^<]+)</returnval>`)
)

// The reference that a request names and that its user may not see.
func (w *wire) forbidden(body []byte) string {
	w.lock.Lock()
	defer w.lock.Unlock()
	if len(w.hidden) == 0 {
		return ""
	}
	for _, match := range askedMachine.FindAllSubmatch(body, -1) {
		if w.hidden[string(match[1])] {
			return string(match[1])
		}
	}
	return ""
}

func (w *wire) filter(method string, text []byte) []byte {
	w.lock.Lock()
	defer w.lock.Unlock()
	if len(w.hidden) == 0 && len(w.unknown) == 0 {
		return text
	}
	text = objects.ReplaceAllFunc(text, func(block []byte) []byte {
		match := firstObject.FindSubmatch(block)
		if match == nil {
			return block
		}
		reference := string(match[1])
		if w.hidden[reference] {
			return nil
		}
		if w.unknown[reference] {
			return configValues.ReplaceAll(block, nil)
		}
		return block
	})
	if !strings.HasPrefix(method, "Find") {
		return text
	}
	return found.ReplaceAllFunc(text, func(block []byte) []byte {
		reference := string(found.FindSubmatch(block)[1])
		if w.hidden[reference] || (w.unknown[reference] && strings.Contains(method, "Uuid")) {
			return nil
		}
		return block
	})
}
