// Over 400 lines: one chart, and one test for each value of it.
/**
 * The chart is rendered by `make chart` into `snapshots/`, as Helm is not there everywhere. What is in them is compared here with
 * what is generated; that they are of the chart as it is, a test in `scripts/` knows by its digest.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import type { PolicyRule } from '../rbac/merge-rules.ts';
import { rolesForFlags } from '../rbac/roles-for-flags.ts';
import { version } from '../program/version.ts';
import { deployFiles } from './deploy-files.ts';
import { podLabels } from './pod-template.ts';
import { pvLabelWebhookConfiguration } from './pv-label-webhook.ts';
import { serviceWebhookConfiguration } from './service-webhook.ts';
import { alerts } from './monitoring/alerts.ts';

const DEPLOY = new URL('../../../../deploy/', import.meta.url);
const CHART = new URL('helm/outrigger-cloud-controller-manager/', DEPLOY);
const files = await deployFiles();

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  /** A rule about pages of servers has neither groups nor resources. */
  readonly rules?: readonly Partial<PolicyRule>[];
  readonly spec?: {
    readonly groups?: readonly { readonly rules: readonly { readonly alert: string }[] }[];
    readonly template?: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } };
  };
}

/** By kind, namespace and name. */
function objectsOf(text: string): Readonly<Record<string, Manifest>> {
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Manifest | null);
  const found = objects.filter((object) => object !== null);
  return Object.fromEntries(
    found.map((object) => [`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`, object]),
  );
}

function snapshot(name: string): Readonly<Record<string, Manifest>> {
  return objectsOf(readFileSync(new URL(`snapshots/${name}.yaml`, CHART), 'utf8'));
}

function generated(...paths: readonly string[]): Readonly<Record<string, Manifest>> {
  return Object.assign({}, ...paths.map((path) => objectsOf(files.get(path) ?? ''))) as Record<string, Manifest>;
}

test('the chart has the version of the program', () => {
  const chart = parse(readFileSync(new URL('Chart.yaml', CHART), 'utf8')) as Record<string, unknown>;
  assert.deepEqual([chart['version'], chart['appVersion']], [version.replace(/^v/u, ''), version]);
});

test('the notes of the chart and its guide say the same of an uninstall', () => {
  const notes = readFileSync(new URL('templates/NOTES.txt', CHART), 'utf8');
  const guide = readFileSync(new URL('../docs/guides/deploy/helm.md', DEPLOY), 'utf8');
  const values = parse(readFileSync(new URL('values.yaml', CHART), 'utf8')) as object;
  // With the defaults of the values, which the guide has.
  const filled = notes.replaceAll(
    /\{\{ (?:default "([^"]*)" )?\.Values\.([\w.]+) \}\}/gu,
    (_, other: string, name: string) => {
      const value = name.split('.').reduce<unknown>((object, key) => (object as Record<string, unknown>)[key], values);
      return (value as string) || other;
    },
  );
  const removing = (text: string): readonly string[] =>
    [...text.matchAll(/^ +(kubectl .*delete (?!service).*)$/gmu)].map(([, command = '']) => command);
  const [, uninstall = ''] = guide.split('**Uninstall.**');
  assert.deepEqual(removing(filled), removing(uninstall));
  // Of leader migration, and what cert-manager has made for the chart's Certificate, which Helm does not know.
  for (const name of ['lease cloud-provider-extraction-migration', 'secret outrigger-cloud-controller-manager-webhook'])
    assert.ok(uninstall.includes(`delete ${name} --ignore-not-found`), name);
});

test('with the default values it has the objects of the manifest', () => {
  assert.deepEqual(snapshot('default'), generated('cloud-controller-manager.yml'));
});

test('as a Deployment it has the objects of that manifest', () => {
  assert.deepEqual(snapshot('deployment'), generated('cloud-controller-manager-deployment.yml'));
});

test('monitoring adds what deploy/monitoring has, as the values say', () => {
  const paths = ['monitoring/service-monitor.yml', 'monitoring/prometheus-rule.yml'];
  const expected = generated('cloud-controller-manager.yml', ...paths);
  const rendered = snapshot('monitoring');
  assert.deepEqual(Object.keys(rendered).toSorted(), Object.keys(expected).toSorted());
  const rule = Object.values(rendered).find(({ kind }) => kind === 'PrometheusRule');
  assert.deepEqual(
    rule?.spec?.groups?.flatMap(({ rules }) => rules.map(({ alert }) => alert)),
    alerts.map(({ name }) => name).filter((name) => name !== 'OutriggerOrphans'),
  );
});

for (const name of [
  'default',
  'deployment',
  'monitoring',
  'node-ranges',
  'openstack',
  'vsphere',
  'own-module',
  'two-providers',
  'approving',
  'volume-labels',
]) {
  test(`${name}: the roles grant all that the program asks for with the flags that it gets, and beside those of the manifest no more`, async () => {
    const rendered = snapshot(name);
    const [args] = Object.values(rendered).flatMap(
      ({ spec }) => spec?.template?.spec.containers.map((container) => container.args) ?? [],
    );
    assert.ok(args);
    // The file is in the pod; the Lease in it is the one of upstream's default, which is taken without it.
    const flags = args.filter((flag) => !flag.startsWith('--leader-migration-config='));
    const needed = (await rolesForFlags(flags, 'kube-system')) as readonly Manifest[];
    const missing = needed.flatMap((role) => {
      if (role.rules === undefined) {
        const key = `${role.kind} ${role.metadata.namespace ?? ''}/${role.metadata.name}`;
        assert.deepEqual(rendered[key], role, `${key} is missing`);
      }
      return [...grants(role)].filter((grant) => !granted(rendered, grant));
    });
    assert.deepEqual(missing, []);
    const manifest = Object.values(generated('cloud-controller-manager.yml', 'monitoring/service-monitor.yml'));
    const wanted = new Set([...manifest, ...needed].flatMap((role) => [...grants(role)]));
    const tooMuch = Object.values(rendered).flatMap((role) => [...grants(role)].filter((grant) => !wanted.has(grant)));
    assert.deepEqual(tooMuch, []);
  });
}

test('the rules that only some flags bring are all that any flags bring, as one account', async () => {
  const everything = await rolesForFlags(
    [
      '--cloud-provider=memory',
      '--controllers=*,node-ipam-controller,persistent-volume-label-controller,kubelet-serving-approver',
      '--cluster-cidr=10.244.0.0/16',
      '--allocate-node-cidrs',
      '--cidr-allocator-type=CloudAllocator',
    ],
    'kube-system',
  );
  const more = parseAllDocuments(files.get('helm/outrigger-cloud-controller-manager/files/more-rules.yaml') ?? '');
  const rules = more.map((document) => document.toJS() as { readonly kind: string; readonly rule: PolicyRule });
  const roles = Object.values(generated('cloud-controller-manager.yml')).map((role) => ({
    ...role,
    rules: [...(role.rules ?? []), ...rules.filter(({ kind }) => kind === role.kind).map(({ rule }) => rule)],
  }));
  const missing = (everything as readonly Manifest[])
    .flatMap((role) => [...grants(role)])
    .filter((grant) => !granted(Object.fromEntries(roles.entries()), grant));
  assert.deepEqual(missing, []);
});

test('what is set to the values is in the objects', () => {
  const rendered = snapshot('own');
  assert.deepEqual(Object.keys(rendered), [
    'ServiceAccount kube-system/outrigger-cloud-controller-manager',
    'ConfigMap kube-system/authorities',
    'Deployment kube-system/outrigger-cloud-controller-manager',
  ]);
  const values = parse(readFileSync(new URL('ci/own-values.yaml', CHART), 'utf8')) as Record<string, never>;
  const deployment = Object.values(rendered)[2] as unknown as {
    readonly spec: { readonly replicas: number; readonly template: { metadata: object; spec: Record<string, never> } };
  };
  const { metadata, spec } = deployment.spec.template;
  const [container] = spec['containers'] as unknown as readonly Record<string, unknown>[];
  assert.equal(deployment.spec.replicas, 3);
  assert.deepEqual((metadata as { annotations?: unknown }).annotations, values['podAnnotations']);
  for (const key of [
    'affinity',
    'imagePullSecrets',
    'nodeSelector',
    'priorityClassName',
    'tolerations',
    'topologySpreadConstraints',
  ]) {
    assert.deepEqual(spec[key], values[key], key);
  }
  for (const [key, value] of [
    ['env', 'extraEnv'],
    ['envFrom', 'extraEnvFrom'],
    ['resources', 'resources'],
  ] as const) {
    assert.deepEqual(container?.[key], values[value], value);
  }
  assert.deepEqual((metadata as { labels?: unknown }).labels, { ...podLabels, 'example.com/team': 'cloud' });
  assert.deepEqual((container?.['volumeMounts'] as unknown[] | undefined)?.slice(1), values['extraVolumeMounts']);
  assert.deepEqual((spec['volumes'] as unknown as unknown[]).slice(1), values['extraVolumes']);
  const [account, extra] = Object.values(rendered);
  assert.deepEqual((account?.metadata as { annotations?: unknown } | undefined)?.annotations, {
    'example.com/identity': 'cloud',
  });
  assert.deepEqual((extra as { data?: unknown }).data, { release: 'outrigger-cloud-controller-manager' });
  assert.equal(container?.['image'], 'registry.example/cloud-controller-manager:v9.9.9');
  assert.equal(container?.['imagePullPolicy'], 'IfNotPresent');
  assert.deepEqual(container?.['args'], [
    '--cloud-provider=memory',
    '--cloud-config=/etc/outrigger/cloud.json',
    '--cluster-name=kubernetes',
    '--v=4',
  ]);
  assert.match(JSON.stringify(spec['volumes']), /"secretName":"my-cloud"/u);
});

interface PodSpec {
  readonly affinity?: object;
  readonly nodeSelector?: object;
  readonly containers: readonly [
    {
      readonly args: readonly string[];
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    },
  ];
  readonly volumes: readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[];
}

function podOf(name: string): PodSpec {
  const workload = Object.values(snapshot(name)).find(({ kind }) => kind === 'DaemonSet' || kind === 'Deployment');
  return workload?.spec?.template?.spec as unknown as PodSpec;
}

/** Of the chart's Secret. */
function secretData(name: string): Readonly<Record<string, string>> | undefined {
  const secret = Object.values(snapshot(name)).find(({ kind }) => kind === 'Secret');
  return (secret as { stringData?: Readonly<Record<string, string>> } | undefined)?.stringData;
}

test('node-ranges: with nodeSelector a DaemonSet runs there, and not on control-plane nodes only', () => {
  const { affinity, nodeSelector } = podOf('node-ranges');
  assert.deepEqual([affinity, nodeSelector], [undefined, { pool: 'system' }]);
});

test('monitoring: an affinity for some nodes leaves a DaemonSet on control-plane nodes', () => {
  const { affinity } = podOf('monitoring') as { readonly affinity: { readonly nodeAffinity: object } };
  assert.deepEqual(Object.keys(affinity.nodeAffinity).toSorted(), [
    'preferredDuringSchedulingIgnoredDuringExecution',
    'requiredDuringSchedulingIgnoredDuringExecution',
  ]);
});

test('own-module: the files of a module are a ConfigMap, which is mounted where --cloud-provider looks', () => {
  const files = snapshot('own-module')['ConfigMap kube-system/outrigger-cloud-controller-manager-provider'];
  assert.deepEqual(Object.keys((files as unknown as { data: object }).data), ['my-cloud.js', 'provider.js']);
  const { containers, volumes } = podOf('own-module');
  const [{ args, volumeMounts }] = containers;
  assert.deepEqual(args.slice(0, 2), [
    '--cloud-provider=/etc/outrigger-provider/my-cloud.js',
    '--cloud-config=/etc/outrigger/token',
  ]);
  assert.equal(volumeMounts[1]?.mountPath, '/etc/outrigger-provider');
  assert.deepEqual(volumes[1], {
    name: 'provider-module',
    configMap: { name: 'outrigger-cloud-controller-manager-provider' },
  });
  const template = Object.values(snapshot('own-module')).find(({ kind }) => kind === 'DaemonSet')?.spec?.template;
  assert.match(JSON.stringify(template), /"checksum\/provider-module":"[0-9a-f]{64}"/u);
});

test('vsphere: credentials of a Secret are mounted where the configuration says', () => {
  const { containers, volumes } = podOf('vsphere');
  const config = parse(secretData('vsphere')?.['vsphere.yaml'] ?? '') as { global: { secretsDirectory: string } };
  assert.equal(containers[0].volumeMounts[1]?.mountPath, config.global.secretsDirectory);
  assert.deepEqual(volumes[1], {
    name: 'cloud-credentials',
    secret: { secretName: 'vsphere-credentials', defaultMode: 0o440 },
  });
});

test('two-providers: each has the file of its own name, from the values or from a Secret', () => {
  const { containers, volumes } = podOf('two-providers');
  const dir = '/etc/outrigger';
  assert.deepEqual(containers[0].args.slice(0, 3), [
    '--cloud-provider=openstack,vsphere,edge=@example/edge-provider',
    `--cloud-config=openstack=${dir}/openstack.conf,vsphere=${dir}/vsphere.conf,edge=${dir}/edge.conf`,
    `--provider-path=${dir}-provider`,
  ]);
  assert.deepEqual(Object.keys(secretData('two-providers') ?? {}), ['edge.conf', 'vsphere.conf']);
  const own = 'outrigger-cloud-controller-manager-config';
  const items = (key: string, path: string): object => ({ items: [{ key, path }] });
  assert.deepEqual(volumes[0]?.['projected'], {
    defaultMode: 0o440,
    sources: [
      { secret: { name: 'openstack', ...items('cloud.conf', 'openstack.conf') } },
      { secret: { name: own, ...items('vsphere.conf', 'vsphere.conf') } },
      { secret: { name: own, ...items('edge.conf', 'edge.conf') } },
    ],
  });
  assert.deepEqual(volumes[2], { name: 'provider-module', image: { reference: 'registry.example/edge-provider:v1' } });
});

test('leader-migration: the file is where the flag says, and names the Lease that the roles are about', () => {
  const files =
    snapshot('leader-migration')['ConfigMap kube-system/outrigger-cloud-controller-manager-leader-migration'];
  const { data } = files as unknown as { readonly data: Readonly<Record<string, string>> };
  assert.deepEqual(parse(data['leader-migration.yaml'] ?? ''), {
    apiVersion: 'controllermanager.config.k8s.io/v1',
    kind: 'LeaderMigrationConfiguration',
    leaderName: 'cloud-provider-extraction-migration',
    controllerLeaders: [{ name: 'service-lb-controller', component: '*' }],
  });
  const [{ args, volumeMounts }] = podOf('leader-migration').containers;
  assert.ok(args.includes(`--leader-migration-config=${volumeMounts[1]?.mountPath}/leader-migration.yaml`));
});

test('network-policy: pods are selected by their labels; in are health and metrics, out are DNS and the ports of the values', () => {
  const policy = snapshot('network-policy')['NetworkPolicy kube-system/outrigger-cloud-controller-manager'];
  const tcp = (...ports: number[]): object[] => ports.map((port) => ({ port, protocol: 'TCP' }));
  assert.deepEqual(policy?.spec, {
    podSelector: { matchLabels: podLabels },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [
      {
        ports: tcp(10_258),
        from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      },
    ],
    egress: [
      { ports: [{ port: 53, protocol: 'UDP' }, ...tcp(53)] },
      { ports: tcp(443, 6443, 5000, 9696) },
      { to: [{ ipBlock: { cidr: '192.0.2.0/24' } }] },
    ],
  });
  assert.ok(!('hostNetwork' in podOf('network-policy')));
});

test('helm test checks the flags of the program, in a pod that takes no port and that nothing selects', () => {
  const { metadata, spec } = Object.values(snapshot('test'))[0] as unknown as {
    readonly metadata: { readonly labels: object };
    readonly spec: PodSpec & { readonly affinity: object; readonly restartPolicy: string };
  };
  const [container] = spec.containers;
  assert.deepEqual(container.args, ['config', 'validate', ...podOf('deployment').containers[0].args]);
  assert.equal('ports' in container || 'livenessProbe' in container, false);
  assert.deepEqual(Object.keys(spec.affinity), ['nodeAffinity']);
  assert.notDeepEqual({ ...metadata.labels, ...podLabels }, metadata.labels);
});

/** As the values of webhooks-cert-manager say, but for what makes the authority known. */
const served = [
  pvLabelWebhookConfiguration(),
  serviceWebhookConfiguration({ providerName: 'openstack', classes: ['example.com/fast'], isDefault: true }),
  serviceWebhookConfiguration({ providerName: 'edge', classes: ['example.com/edge'], isDefault: false }),
] as readonly Manifest[];

test('webhooks-cert-manager: the configurations of the program, one for each provider, and one certificate for all', () => {
  const rendered = Object.values(snapshot('webhooks-cert-manager'));
  const name = 'outrigger-cloud-controller-manager-webhook';
  const found = rendered.filter(({ kind }) => kind.endsWith('WebhookConfiguration'));
  assert.deepEqual(
    found.map(({ metadata }) => metadata.name).toSorted(),
    served.map(({ metadata }) => metadata.name).toSorted(),
  );
  for (const { metadata, ...rest } of served) {
    const annotations = { 'cert-manager.io/inject-ca-from': `kube-system/${name}` };
    const same = found.find((one) => one.metadata.name === metadata.name);
    assert.deepEqual(same, { ...rest, metadata: { ...metadata, annotations } }, metadata.name);
  }
  const certificate = rendered.find(({ kind }) => kind === 'Certificate');
  const services = rendered.filter(({ kind }) => kind === 'Service').map((service) => service.metadata.name);
  assert.equal(services.length, 2);
  assert.deepEqual(certificate?.spec, {
    secretName: name,
    issuerRef: { name: 'cluster', kind: 'ClusterIssuer' },
    dnsNames: services.map((service) => `${service}.kube-system.svc`),
  });
  const { containers, volumes } = podOf('webhooks-cert-manager');
  assert.deepEqual(containers[0].args.slice(-3), [
    '--webhooks=pvlabel,service',
    '--feature-gates=CloudControllerManagerWebhook=true',
    '--webhook-cert-dir=/etc/outrigger-webhook',
  ]);
  // No pod waits for what cert-manager makes once the nodes are initialised.
  const items = ['crt', 'key'].map((end) => ({ key: `tls.${end}`, path: `cloud-controller-manager-webhook.${end}` }));
  assert.deepEqual(volumes[1]?.['secret'], { secretName: name, defaultMode: 0o440, optional: true, items });
});

test('webhooks-own: the Secret and the authority of the values, and the API server is let in', () => {
  const rendered = snapshot('webhooks-own');
  const found = rendered['ValidatingWebhookConfiguration /load-balancers.openstack.outrigger.dev'];
  assert.deepEqual(Object.keys(found?.metadata ?? {}), ['name']);
  assert.match(JSON.stringify(found), /"caBundle":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"/u);
  assert.equal(Object.values(rendered).filter(({ kind }) => kind === 'Certificate').length, 0);
  assert.deepEqual(podOf('webhooks-own').containers[0].args.slice(-2), [
    '--webhook-tls-cert-file=/etc/outrigger-webhook/tls.crt',
    '--webhook-tls-private-key-file=/etc/outrigger-webhook/tls.key',
  ]);
  assert.deepEqual(podOf('webhooks-own').volumes[1]?.['secret'], { secretName: 'webhook', defaultMode: 0o440 });
  const policy = rendered['NetworkPolicy kube-system/outrigger-cloud-controller-manager'];
  assert.deepEqual((policy?.spec as { ingress?: unknown } | undefined)?.ingress, [
    { ports: [{ port: 10_258, protocol: 'TCP' }] },
    { ports: [{ port: 10_260, protocol: 'TCP' }] },
  ]);
});

/** Each a thing that may be done: where, to what, which. */
function* grants({ metadata, rules = [] }: Manifest): Generator<string> {
  for (const { apiGroups = [], resourceNames = ['*'], resources = [], verbs = [] } of rules) {
    for (const parts of apiGroups.flatMap((group) => resources.map((resource) => `${group}/${resource}`))) {
      for (const name of resourceNames) {
        for (const verb of verbs) yield [metadata.namespace ?? '*', parts, name, verb].join(' ');
      }
    }
  }
}

/** Whether it, or something wider, is granted. */
function granted(objects: Readonly<Record<string, Manifest>>, grant: string): boolean {
  const [namespace = '', resource = '', name = '', verb = ''] = grant.split(' ');
  const all = new Set(Object.values(objects).flatMap((object) => [...grants(object)]));
  return [namespace, '*'].some((where) =>
    [name, '*'].some((which) => all.has(`${where} ${resource} ${which} ${verb}`)),
  );
}
