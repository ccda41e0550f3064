/** Files of which each is bad in one way. */

const CONFIG = 'apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1\nkind: CloudControllerManagerConfiguration\n';

function migration(rest: string, version = 'v1'): string {
  return `apiVersion: controllermanager.config.k8s.io/${version}\nkind: LeaderMigrationConfiguration\n${rest}`;
}

function kubeconfig(cluster: string, user = 'token: abc'): string {
  return `apiVersion: v1
kind: Config
current-context: a
contexts: [{ name: a, context: { cluster: a, user: a } }]
clusters: [{ name: a, cluster: { ${cluster} } }]
users: [{ name: a, user: { ${user} } }]
`;
}

/** In the working directory of each run. */
export const badFiles: Readonly<Record<string, string>> = {
  'directory/file': '',
  'text.pem': 'x',
  'broken.pem': '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n',

  'config/broken.yml': 'a: [',
  'config/empty.yml': '',
  'config/version.yml': 'apiVersion: v1\n',
  'config/kind.yml': CONFIG.replace('CloudControllerManagerConfiguration', 'Pod'),
  'config/key.yml': `${CONFIG}generic:\n  leaderElectoin: {}\n`,
  'config/type.yml': `${CONFIG}nodeController:\n  concurrentNodeSyncs: "3"\n`,
  'config/range.yml': `${CONFIG}nodeController:\n  concurrentNodeSyncs: 0\n`,
  'config/twice.yml': `${CONFIG}generic: {}\nGeneric: {}\n`,
  'config/scalar.yml': `${CONFIG}generic: 5\n`,
  'config/alias.yml': `${CONFIG}generic: &g {}\nwebhook: *g\n`,
  'config/lease.yml': `${CONFIG}generic:\n  leaderElection:\n    leaseDuration: 1s\n`,

  'migration/broken.yml': '[',
  'migration/version.yml': migration('leaderName: a\n', 'v2'),
  'migration/nameless.yml': migration(''),
  'migration/unknown.yml': migration('leaderName: a\ncontrollerLeaders: [{ name: rout, component: "*" }]\n'),
  'migration/component.yml': migration('leaderName: a\ncontrollerLeaders: [{ name: route }]\n'),
  'migration/held.yml': migration('leaderName: cloud-controller-manager\n'),
  'migration/lock.yml': migration('leaderName: a\nresourceLock: endpoints\n', 'v1beta1'),
  'migration/key.yml': migration('leaderName: a\nresourceLock: leases\n'),

  'kube/broken': '{',
  'kube/empty': '',
  'kube/text': 'hello',
  'kube/pod': 'kind: Pod\napiVersion: v1\n',
  'kube/context': 'apiVersion: v1\nkind: Config\ncurrent-context: b\n',
  'kube/cluster':
    'apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{ name: a, context: { cluster: b } }]\n',
  'kube/server': kubeconfig(''),
  'kube/scheme': kubeconfig('server: "ftp://a"'),
  'kube/number': kubeconfig('server: 7'),
  'kube/ca': kubeconfig('server: "https://127.0.0.1:1", certificate-authority: none.pem'),
  'kube/ca-text': kubeconfig('server: "https://127.0.0.1:1", certificate-authority-data: "aGVsbG8="'),
  'kube/token': kubeconfig('server: "https://127.0.0.1:1"', 'tokenFile: none'),
  'kube/exec': kubeconfig('server: "https://127.0.0.1:1"', 'exec: { command: x }'),
  'kube/nowhere': kubeconfig('server: "https://127.0.0.1:1"'),
  'kube/far': kubeconfig('server: "https://api.invalid:6443"'),

  'syntax.mjs': 'export default (',
  'throws.mjs': 'throw new Error("no license\\nsee the manual")',
  'imports.mjs': 'import "not-installed"; export default () => ({})',
  'named.mjs': 'export const provider = 1',
  'object.mjs': 'export default {}',
  'factory.mjs': 'export default () => { throw new Error("no key"); }',
  'promise.mjs': 'export default async () => ({})',
  'nothing.mjs': 'export default () => undefined',
  'nameless.mjs': 'export default () => ({ open() {}, close() {} })',
  'bad-name.mjs': 'export default () => ({ name: "My Cloud", open() {}, close() {} })',
  'openless.mjs': 'export default () => ({ name: "mine", close() {} })',
  'node_modules/not-json/package.json': '{',
  'node_modules/not-exported/package.json': '{"exports":{"./x":"./x.js"}}',
};
