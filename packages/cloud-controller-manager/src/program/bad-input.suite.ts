/** What the program must refuse, and the line that it says then. The files are those of `bad-files.suite.ts`. */

export interface BadInput {
  /** Environment and command line; `--cloud-provider` and `--kubeconfig` are good where it does not say them. */
  readonly line: string;
  /** All that is said. */
  readonly says: string;
}

/** Pairs of lines: the input, and what is said. `{dir}`: the working directory; `{taken}`: a port that is in use. */
function parseTable(table: string): readonly BadInput[] {
  return table
    .trim()
    .split('\n')
    .reduce<string[][]>((pairs, text, i) => {
      if (i % 2 === 0) pairs.push([text.trim()]);
      else pairs.at(-1)?.push(text.trim());
      return pairs;
    }, [])
    .map(([line = '', says = '']) => ({ line, says }));
}

/** Found out by the program alone: nobody was asked anything. */
export const badInputs: readonly BadInput[] = [
  // Flags
  ...parseTable(`
--leader-elct
  unknown flag --leader-elct; did you mean --leader-elect?
--xyzzy
  unknown flag --xyzzy; see --help
--no-leader-elect
  unknown flag --no-leader-elect; write --leader-elect=false
now
  unexpected argument "now": flags only
--cluster-name
  --cluster-name needs a value (string)
--concurrent-node-syncs=many
  invalid value "many" for --concurrent-node-syncs: not a whole number
--concurrent-node-syncs=0
  invalid value "0" for --concurrent-node-syncs: must be at least 1
--node-monitor-period=5
  invalid value "5" for --node-monitor-period: not a duration: write it as 300ms, 1.5s, 5m or 1h30m
--leader-elect=maybe
  invalid value "maybe" for --leader-elect: not a bool: write true or false
--secure-port=99999
  invalid value "99999" for --secure-port: must be at most 65535
--bind-address=localhost
  invalid value "localhost" for --bind-address: not an IP address
--logging-format=xml
  invalid value "xml" for --logging-format: must be "text" or "json"
--vmodule=bad
  invalid value "bad" for --vmodule: "bad" is not pattern=N
-v=-1
  invalid value "-1" for --v: must be at least 0
--kube-api-qps=-1
  invalid value "-1" for --kube-api-qps: must be at least 0
--log-json-info-buffer-size=much
  invalid value "much" for --log-json-info-buffer-size: not a quantity: write it as 512, 64Ki or 1Mi
--cloud-provider=
  --cloud-provider is not set: name a built-in provider, a package or a module
--cloud-provider=external
  --cloud-provider=external is for the kubelet; here, name the provider itself
--cloud-provider=green,,blue
  --cloud-provider=green,,blue: a provider is missing between the commas
--cluster-name=
  --cluster-name must not be empty
--cluster-cidr=10.0.0.0
  --cluster-cidr: "10.0.0.0" is not a CIDR range: write it as 10.0.0.0/8 or fd00::/48
--cluster-cidr=10.0.0.0/33
  --cluster-cidr: "10.0.0.0/33" is not a CIDR range: write it as 10.0.0.0/8 or fd00::/48
--cluster-cidr=10.0.0.0/16,10.1.0.0/16
  --cluster-cidr: must be one CIDR range, or one of IPv4 and one of IPv6
--controllers=*,cloud-nod
  --controllers: no controller "cloud-nod" (did you mean "cloud-node"?); there are cloud-node-controller, cloud-node-lifecycle-controller, service-lb-controller, node-route-controller, orphan-controller, node-ipam-controller, persistent-volume-label-controller, kubelet-serving-approver
--controllers=-cloud-node
  --controllers turns every controller off
--leader-elect-lease-duration=5s
  --leader-elect-lease-duration (5s) must be longer than --leader-elect-renew-deadline (10s)
--leader-elect-retry-period=10s
  --leader-elect-renew-deadline (10s) must be longer than 1.2 × --leader-elect-retry-period (10s)
--leader-elect-resource-name=
  --leader-elect-resource-name and --leader-elect-resource-namespace must not be empty
--leader-elect-resource-lock=endpoints
  invalid value "endpoints" for --leader-elect-resource-lock: must be "leases"
--enable-leader-migration --leader-elect=false
  --enable-leader-migration needs --leader-elect=true
--feature-gates=CloudControllerManagerWebhok=true
  --feature-gates: unknown feature gate "CloudControllerManagerWebhok"; did you mean CloudControllerManagerWebhook?
--feature-gates=ComponentFlagz
  invalid value "ComponentFlagz" for --feature-gates: "ComponentFlagz" is not key=true or key=false
--feature-gates=ComponentFlagz=perhaps
  invalid value "ComponentFlagz=perhaps" for --feature-gates: not a bool: write true or false
--orphan-policy=remove
  invalid value "remove" for --orphan-policy: must be "report" or "delete"
--orphan-max-fraction=30
  invalid value "30" for --orphan-max-fraction: must be at most 1
--node-deletion-max-fraction=2
  invalid value "2" for --node-deletion-max-fraction: must be at most 1
--orphan-check-period=0
  invalid value "0" for --orphan-check-period: must be at least 1s
--orphan-max-deletions=0
  invalid value "0" for --orphan-max-deletions: must be at least 1
--node-deletion-grace-period=0s
  invalid value "0s" for --node-deletion-grace-period: must be at least 1s
--cidr-allocator-type=Mine
  invalid value "Mine" for --cidr-allocator-type: must be "RangeAllocator" or "CloudAllocator" or "IPAMFromCluster" or "IPAMFromCloud"
--controllers=nodeipam --allocate-node-cidrs
  --cluster-cidr is not set: there is nothing to allocate pod CIDRs from
--controllers=nodeipam --allocate-node-cidrs --cluster-cidr=10.0.0.0/24 --node-cidr-mask-size=16
  --node-cidr-mask-size: the node mask size 16 does not fit 10.0.0.0/24: it must be from 24 to 32
--controllers=nodeipam --allocate-node-cidrs --cluster-cidr=10.0.0.0/16 --node-cidr-mask-size=24 --node-cidr-mask-size-ipv4=24
  --node-cidr-mask-size: cannot be set together with --node-cidr-mask-size-ipv4 or --node-cidr-mask-size-ipv6
--controllers=nodeipam --allocate-node-cidrs --cluster-cidr=10.0.0.0/16 --service-cluster-ip-range=x
  --service-cluster-ip-range: "x" is not a CIDR range: write it as 10.0.0.0/8 or fd00::/48
--node-cidr-mask-size=200
  invalid value "200" for --node-cidr-mask-size: must be at most 128
`),
  // Serving, webhooks, and who may ask
  ...parseTable(`
--tls-cert-file=a.crt
  --tls-cert-file is set without --tls-private-key-file
--tls-private-key-file=a.key
  --tls-private-key-file is set without --tls-cert-file
--tls-cert-file={dir}/none.crt --tls-private-key-file={dir}/none.key
  --tls-cert-file: {dir}/none.crt: there is no such file
--tls-cert-file={dir}/text.pem --tls-private-key-file={dir}/good.key
  --tls-cert-file: {dir}/text.pem: no PEM block CERTIFICATE
--tls-cert-file={dir}/good.crt --tls-private-key-file={dir}/text.pem
  --tls-private-key-file: {dir}/text.pem: no PEM block PRIVATE KEY
--tls-cert-file={dir}/good.crt --tls-private-key-file={dir}/other.key
  --tls-cert-file and --tls-private-key-file: these certificates and keys cannot be used: error:05800074:x509 certificate routines::key values mismatch
--tls-cert-file={dir}/broken.pem --tls-private-key-file={dir}/good.key
  --tls-cert-file and --tls-private-key-file: these certificates and keys cannot be used: error:04800064:PEM routines::bad base64 decode
--tls-cert-file={dir}/directory --tls-private-key-file={dir}/good.key
  --tls-cert-file: {dir}/directory: it is a directory, and not a file
--tls-sni-cert-key=a.crt
  invalid value "a.crt" for --tls-sni-cert-key: not cert,key or cert,key:name,name
--tls-sni-cert-key={dir}/none.crt,{dir}/none.key
  --tls-sni-cert-key: {dir}/none.crt: there is no such file
--tls-min-version=VersionSSL3
  invalid value "VersionSSL3" for --tls-min-version: must be "" or "VersionTLS10" or "VersionTLS11" or "VersionTLS12" or "VersionTLS13"
--tls-curve-preferences=7
  invalid value "7" for --tls-curve-preferences: no curve 7; there are 23 (prime256v1), 24 (secp384r1), 25 (secp521r1), 29 (X25519), 4587 (SecP256r1MLKEM768), 4588 (X25519MLKEM768), 4589 (SecP384r1MLKEM1024)
--secure-port={taken}
  cannot listen on 127.0.0.1 port {taken}: the port is in use; see --bind-address and --secure-port
--bind-address=192.0.2.1 --secure-port=7
  cannot listen on 192.0.2.1 port 7: this machine does not have the address; see --bind-address and --secure-port
--webhook-tls-cert-file=a
  --webhook-tls-cert-file is set without --webhook-tls-private-key-file
--webhooks=pvlable
  --webhooks: no webhook "pvlable" (did you mean "pvlabel"?); there are pvlabel, service
--webhook-bind-address=all
  invalid value "all" for --webhook-bind-address: not an IP address
--webhooks=* --feature-gates=CloudControllerManagerWebhook=true --webhook-client-ca-file={dir}/none.crt
  --webhook-client-ca-file: {dir}/none.crt: there is no such file
--webhooks=* --feature-gates=CloudControllerManagerWebhook=true --webhook-tls-cert-file={dir}/none.crt --webhook-tls-private-key-file={dir}/none.key
  --webhook-tls-cert-file: {dir}/none.crt: there is no such file
--webhooks=* --feature-gates=CloudControllerManagerWebhook=true --webhook-tls-cert-file={dir}/good.crt --webhook-tls-private-key-file={dir}/other.key
  --webhook-tls-cert-file and --webhook-tls-private-key-file: these certificates and keys cannot be used: error:05800074:x509 certificate routines::key values mismatch
--client-ca-file={dir}/none.pem
  --client-ca-file: {dir}/none.pem: there is no such file
--client-ca-file={dir}/text.pem
  --client-ca-file: {dir}/text.pem: no PEM block CERTIFICATE
--client-ca-file={dir}/broken.pem
  --client-ca-file: {dir}/broken.pem: a certificate cannot be read: error:04800064:PEM routines::bad base64 decode
--requestheader-client-ca-file={dir}/none.pem
  --requestheader-client-ca-file: {dir}/none.pem: there is no such file
--requestheader-client-ca-file=x --requestheader-username-headers=
  --requestheader-client-ca-file is set without --requestheader-username-headers
--requestheader-uid-headers=x --feature-gates=RemoteRequestHeaderUID=false
  --requestheader-uid-headers needs --feature-gates=RemoteRequestHeaderUID=true
--authentication-token-webhook-cache-ttl=-1s
  invalid value "-1s" for --authentication-token-webhook-cache-ttl: must be at least 0s
`),
  // The API server
  ...parseTable(`
--kubeconfig=
  kubeconfig: no configuration: none of {dir}/.kube/config exists, and this is not a pod; set --kubeconfig or $KUBECONFIG
--kubeconfig={dir}/none
  --kubeconfig={dir}/none: there is no such file
--kubeconfig={dir}/directory
  --kubeconfig={dir}/directory: it is a directory, and not a file
--kubeconfig={dir}/kube/broken
  {dir}/kube/broken:1: not YAML (MISSING_CHAR)
--kubeconfig={dir}/kube/empty
  {dir}/kube/empty: current-context is not set, and no context was asked for: is this a kubeconfig?
--kubeconfig={dir}/kube/text
  {dir}/kube/text: has the wrong type (found a string): this is not a kubeconfig
--kubeconfig={dir}/kube/pod
  {dir}/kube/pod:1: kind: is "Pod", not "Config": this is not a kubeconfig
--kubeconfig={dir}/kube/context
  {dir}/kube/context: there is no context "b"
--kubeconfig={dir}/kube/cluster
  {dir}/kube/cluster:4: contexts[0] "a": context.cluster: there is no cluster "b"
--kubeconfig={dir}/kube/server
  {dir}/kube/server:5: clusters[0] "a": cluster.server: is missing
--kubeconfig={dir}/kube/scheme
  {dir}/kube/scheme:5: clusters[0] "a": cluster.server: has scheme ftp; only https and http are known
--kubeconfig={dir}/kube/number
  {dir}/kube/number:5: clusters[0] "a": cluster.server: is not a URL like https://host:6443 (its host would be read as 0.0.0.7)
--kubeconfig={dir}/kube/ca
  {dir}/kube/ca:5: clusters[0] "a": cluster.certificate-authority: cannot read {dir}/kube/none.pem (there is no such file)
--kubeconfig={dir}/kube/ca-text
  {dir}/kube/ca-text:5: clusters[0] "a": cluster.certificate-authority-data: is base64, but not of PEM text
--kubeconfig={dir}/kube/token
  {dir}/kube/token:6: users[0] "a": user.tokenFile: cannot read {dir}/kube/none (there is no such file)
--kubeconfig={dir}/kube/exec
  {dir}/kube/exec:6: users[0] "a": user.exec.apiVersion: is missing; use client.authentication.k8s.io/v1
HTTPS_PROXY=socks5://p:1 --kubeconfig={dir}/kube/far
  $HTTPS_PROXY: has scheme socks5; only http and https proxies are supported: except the API server with NO_PROXY, or set proxy-url
KUBECONFIG={dir}/none:{dir}/nothing --kubeconfig=
  kubeconfig: no configuration: none of {dir}/none, {dir}/nothing exists, and this is not a pod; set --kubeconfig or $KUBECONFIG
--master=https://
  --master: is not a URL like https://host:6443
--authentication-kubeconfig={dir}/none
  --authentication-kubeconfig={dir}/none: there is no such file
--authorization-kubeconfig={dir}/none
  --authorization-kubeconfig={dir}/none: there is no such file
`),
  // Files of configuration
  ...parseTable(`
--config=none.yml
  --config={dir}/none.yml: there is no such file
--config=directory
  --config={dir}/directory: it is a directory, and not a file
--config=config/broken.yml
  {dir}/config/broken.yml:1: not YAML: Flow sequence in block collection must be sufficiently indented and end with a ]
--config=config/empty.yml
  {dir}/config/empty.yml:1: the file must be a mapping
--config=config/version.yml
  {dir}/config/version.yml:1: apiVersion must be cloudcontrollermanager.config.k8s.io/v1alpha1
--config=config/kind.yml
  {dir}/config/kind.yml:2: kind must be CloudControllerManagerConfiguration
--config=config/key.yml
  {dir}/config/key.yml:4: generic.leaderElectoin: unknown key
--config=config/type.yml
  {dir}/config/type.yml:4: nodeController.concurrentNodeSyncs: must be a number
--config=config/range.yml
  {dir}/config/range.yml:4: nodeController.concurrentNodeSyncs: invalid value "0": must be at least 1
--config=config/twice.yml
  {dir}/config/twice.yml:4: Generic: duplicate key
--config=config/scalar.yml
  {dir}/config/scalar.yml:3: generic must be a mapping
--config=config/alias.yml
  {dir}/config/alias.yml:4: webhook: aliases are not read
--config=config/lease.yml
  --leader-elect-lease-duration (1s) must be longer than --leader-elect-renew-deadline (10s)
--enable-leader-migration --leader-migration-config=none.yml
  --leader-migration-config={dir}/none.yml: there is no such file
--enable-leader-migration --leader-migration-config=migration/broken.yml
  {dir}/migration/broken.yml:1: not YAML: Flow sequence must end with a ]
--enable-leader-migration --leader-migration-config=migration/version.yml
  {dir}/migration/version.yml:1: apiVersion must be one of controllermanager.config.k8s.io/v1alpha1, controllermanager.config.k8s.io/v1beta1, controllermanager.config.k8s.io/v1
--enable-leader-migration --leader-migration-config=migration/nameless.yml
  {dir}/migration/nameless.yml:1: leaderName: must be a string, not empty
--enable-leader-migration --leader-migration-config=migration/unknown.yml
  {dir}/migration/unknown.yml:4: controllerLeaders[0].name: no controller "rout" (did you mean "route"?); there are cloud-node-controller, cloud-node-lifecycle-controller, service-lb-controller, node-route-controller, orphan-controller, node-ipam-controller, persistent-volume-label-controller, kubelet-serving-approver
--enable-leader-migration --leader-migration-config=migration/component.yml
  {dir}/migration/component.yml:4: controllerLeaders[0].component: must be a string, not empty
--enable-leader-migration --leader-migration-config=migration/held.yml
  migration/held.yml: leaderName: cloud-controller-manager is already the Lease of --leader-elect-resource-name: use another name
--enable-leader-migration --leader-migration-config=migration/lock.yml
  {dir}/migration/lock.yml:4: resourceLock must be leases: there is no other lock any more
--enable-leader-migration --leader-migration-config=migration/key.yml
  {dir}/migration/key.yml:4: resourceLock: unknown key; there are apiVersion, kind, leaderName, controllerLeaders
`),
  // Clouds
  ...parseTable(`
--cloud-config=none.json
  --cloud-config=none.json: there is no such file
--cloud-config=directory
  --cloud-config=directory: it is a directory, and not a file
--cloud-provider=north=green,south=green --cloud-config=cloud.json
  --cloud-config=cloud.json: with the providers north, south each file must be given as <provider>=<file>, not as "cloud.json"
--cloud-provider=north=green,south=green --cloud-config=west=cloud.json
  --cloud-config=west=cloud.json: with the providers north, south each file must be given as <provider>=<file>, not as "west=cloud.json"
--cloud-provider=north=green,south=green --cloud-config=north=a,north=b
  --cloud-config=north=a,north=b: there are two files for the provider north
--cloud-provider=north=green,south=green --cloud-config=north=none
  --cloud-config=none: there is no such file
--cloud-provider=strict --cloud-config=cloud.json
  provider strict: region is not set; see --cloud-config=cloud.json
--cloud-provider=strict
  provider strict: region is not set; --cloud-config is not set
--cloud-provider=strict --kubeconfig={dir}/kube/far
  provider strict: region is not set; --cloud-config is not set
--cloud-provider=careless --cloud-config=cloud.json
  checking the config of the provider careless failed: no such index; see --cloud-config=cloud.json
--cloud-call-limits=green
  invalid value "green" for --cloud-call-limits: "green" is not provider=qps, provider=qps:burst or provider/bucket=qps:burst
--cloud-call-limits=green=1,grey/volumes=2
  --cloud-call-limits=grey/volumes=2: no provider grey; there are green
--cloud-provider=green,green
  --cloud-provider=green,green: two providers have the name green; rename one of them: <name>=<provider>
--cloud-provider=north=stubborn
  --cloud-provider=stubborn: this provider takes no other name: it is stubborn, and not north
--cloud-provider=grean
  --cloud-provider=grean: neither a built-in provider (careless, green, odd, picky, strict, stubborn), nor the path of a module, nor an npm package installed (--provider-path says where those are)
--cloud-provider=grean --provider-path=directory
  --cloud-provider=grean: neither a built-in provider (careless, green, odd, picky, strict, stubborn), nor the path of a module, nor an npm package installed in directory
--cloud-provider=./none.ts
  --cloud-provider=./none.ts: there is no file {dir}/none.ts
--cloud-provider=./cloud.json
  --cloud-provider=./cloud.json: a provider module ends in .js, .mjs, .ts
--cloud-provider=./syntax.mjs
  --cloud-provider=./syntax.mjs: {dir}/syntax.mjs could not be loaded: Unexpected end of input (at {dir}/syntax.mjs:1:17)
--cloud-provider=./throws.mjs
  --cloud-provider=./throws.mjs: {dir}/throws.mjs could not be loaded: no license (at {dir}/throws.mjs:1:7)
--cloud-provider=./imports.mjs
  --cloud-provider=./imports.mjs: {dir}/imports.mjs could not be loaded: Cannot find package 'not-installed' imported from {dir}/imports.mjs
--cloud-provider=./named.mjs
  --cloud-provider=./named.mjs: the module has no default export; it must be a function that makes the provider
--cloud-provider=./object.mjs
  --cloud-provider=./object.mjs: the module's default export must be a function that makes the provider, not a value of type object
--cloud-provider=./factory.mjs
  --cloud-provider=./factory.mjs: its factory failed: no key (at default ({dir}/factory.mjs:1:30))
--cloud-provider=./promise.mjs
  --cloud-provider=./promise.mjs: its factory must return a provider, not a promise
--cloud-provider=./nothing.mjs
  --cloud-provider=./nothing.mjs: its factory must return a provider, not a value of type undefined
--cloud-provider=./nameless.mjs
  --cloud-provider=./nameless.mjs: the provider's name must be lower-case letters, digits and dashes, not undefined
--cloud-provider=./bad-name.mjs
  --cloud-provider=./bad-name.mjs: the provider's name must be lower-case letters, digits and dashes, not "My Cloud"
--cloud-provider=./openless.mjs
  --cloud-provider=./openless.mjs: the provider mine has no method open(host)
--cloud-provider=not-json --provider-path=.
  --cloud-provider=not-json: {dir}/node_modules/not-json/package.json is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)
--cloud-provider=not-exported --provider-path=.
  --cloud-provider=not-exported: {dir}/node_modules/not-exported/package.json has no export . for import
`),
];

/** What only the API server, the provider or the system can know. They were asked, and nothing was changed. */
export const inputsRefusedByOthers: readonly BadInput[] = parseTable(`
--cloud-provider=picky --cloud-config=cloud.json
  provider picky: region is not set; see --cloud-config=cloud.json
--cloud-provider=picky
  provider picky: region is not set; --cloud-config is not set
--cloud-provider=odd
  the provider odd has no method instances.lookUp
--kubeconfig={dir}/nobody
  the API server does not accept the credentials: renew the token or certificate of the kubeconfig or service account: GET /api/v1/namespaces/kube-system: Unauthorized (401 Unauthorized)
--webhooks=* --feature-gates=CloudControllerManagerWebhook=true --webhook-bind-address=127.0.0.1 --webhook-secure-port={taken}
  cannot listen on 127.0.0.1 port {taken}: the port is in use; see --webhook-bind-address and --webhook-secure-port
`);
