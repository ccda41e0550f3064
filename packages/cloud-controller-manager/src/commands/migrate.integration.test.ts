import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  createClient,
  createTransport,
  loadConfig,
  systemClock,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '@outrigger/kube';
import { startEmbeddedApiServer, startFaultProxy, type EmbeddedApiServer } from '@outrigger/testing';
import type { Environment } from '../program/environment.ts';
import { judgeCluster, readsOf } from '../migrate/judge-cluster.ts';
import { readCluster } from '../migrate/read-cluster.ts';
import { migrateCommand } from './migrate.ts';

const SECRET = 'canary-of-the-other-manager';

async function check(
  kubeconfig: string,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let [out, err] = ['', ''];
  const environment = {
    builtInProviders: { memory: () => import('@outrigger/provider-memory') },
    env: {},
    workingDirectory: '/',
    stdout: { write: (text: string) => void (out += text) },
    stderr: { write: (text: string) => void (err += text) },
  } as unknown as Environment;
  const code = await migrateCommand.run(['check', `--kubeconfig=${kubeconfig}`, ...args], environment);
  return { code, out, err };
}

async function start(t: TestContext): Promise<{ readonly server: EmbeddedApiServer; readonly kubeconfig: string }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'migrate-'));
  const server = await startEmbeddedApiServer();
  t.after(async () => {
    await server[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });
  const put = (kind: string, apiVersion: string, namespace: string | undefined, name: string, rest: object): void => {
    server.store.put({ kind, apiVersion, metadata: { name, ...(namespace !== undefined && { namespace }) }, ...rest });
  };
  put('Node', 'v1', undefined, 'a', {
    spec: { providerID: 'acme://a' },
    status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
  });
  const run = (name: string, command: readonly string[]): void =>
    put('Pod', 'v1', 'kube-system', name, {
      spec: { nodeName: 'a', containers: [{ name: 'main', image: 'x', command }] },
    });
  run('kcm', ['kube-controller-manager', '--cloud-provider=external']);
  run('api', ['kube-apiserver']);
  run('acme-ccm', ['acme-cloud-controller-manager', `--acme-token=${SECRET}`]);
  put('Lease', 'coordination.k8s.io/v1', 'kube-system', 'cloud-controller-manager', {
    spec: {
      holderIdentity: 'acme-ccm_1',
      leaseDurationSeconds: 3600,
      renewTime: new Date(systemClock.now()).toISOString(),
    },
  });
  const kubeconfig = path.join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig('token').yaml);
  return { server, kubeconfig };
}

test('migrate check reads, judges, says what it could not see, and writes nothing', async (t) => {
  const { kubeconfig, server } = await start(t);
  server.clearRequests();
  const all = await check(kubeconfig);
  assert.equal(all.code, 1, all.err);
  assert.match(all.out, /^missing {2}no pod of kube-system is Outrigger\n {9}→ start it/mu);
  assert.match(all.out, /^unknown {2}of 1 of 1 kubelets .*\n {11}a: .*404.*\n {9}→/mu);
  assert.match(all.out, /^Missing: hand-over\. Unknown: kubelets\.$/mu);
  assert.ok(server.requests.length >= 9, 'it has looked');
  assert.deepEqual(new Set(server.requests.map(({ method }) => method)), new Set(['GET']));

  const json = await check(kubeconfig, '--output=json');
  const { state, steps } = JSON.parse(json.out) as { state: string; steps: { step: string; state: string }[] };
  assert.deepEqual([json.code, state, steps.length], [1, 'missing', 11]);
  for (const { out } of [all, json]) assert.doesNotMatch(out, new RegExp(SECRET, 'u'));

  assert.equal((await check(kubeconfig, '--steps=nodes,beside')).code, 0);
  assert.equal((await check(kubeconfig, '--steps=nodes,kubelets')).code, 2);
  const foreign = await check(kubeconfig, '--steps=nodes', '--cloud-provider=memory');
  assert.deepEqual([foreign.code, /another provider than memory/u.test(foreign.out)], [1, true]);
});

test('with a cloud config the plan of each Service is told, and nothing is written anywhere', async (t) => {
  const { kubeconfig, server } = await start(t);
  const spec = { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }], ipFamilies: ['IPv4'] };
  for (const [name, ports] of [
    ['web', spec.ports],
    ['odd', [...spec.ports, { port: 81, protocol: 'SCTP', nodePort: 30_081 }]],
  ] as const) {
    const metadata = { namespace: 'default', name, uid: `uid-${name}` };
    server.store.put({ kind: 'Service', apiVersion: 'v1', metadata, spec: { ...spec, ports } });
  }
  const cloudConfig = path.join(path.dirname(kubeconfig), 'cloud.json');
  await writeFile(cloudConfig, '{}');
  server.clearRequests();
  const flags = ['--cloud-provider=memory', `--cloud-config=${cloudConfig}`];
  const { code, err, out } = await check(kubeconfig, '--steps=load-balancers', ...flags);
  assert.equal(code, 1, err + out);
  assert.match(out, /^ok {7}default\/web would be changed\n {11}create address$/mu);
  assert.match(out, /^missing {2}default\/odd would be refused: .*SCTP/mu);
  assert.deepEqual(new Set(server.requests.map(({ method }) => method)), new Set(['GET']));

  const json = await check(kubeconfig, '--output=json', ...flags);
  const { steps } = JSON.parse(json.out) as { steps: { step: string; state: string }[] };
  assert.equal(steps.find(({ step }) => step === 'load-balancers')?.state, 'missing');

  const named = await check(kubeconfig, '--steps=load-balancers', ...flags, '--cloud-provider=north=memory');
  assert.match(named.out, /^ok {7}default\/web would be changed$/mu, 'a provider may have a name of its own');

  const without = await check(kubeconfig, '--steps=load-balancers', '--cloud-provider=memory');
  assert.deepEqual([without.code, /no cloud config is given/u.test(without.out)], [2, true]);
  await writeFile(cloudConfig, '{"nonsense": 1}');
  const broken = await check(kubeconfig, '--steps=load-balancers,nodes', ...flags);
  assert.equal(broken.code, 1, 'nodes are of another provider');
  assert.match(broken.out, /^unknown {2}the plans of Services could not be made: /mu);
});

test('what the chosen steps do not need is not asked for', async (t) => {
  const { kubeconfig, server } = await start(t);
  const lists = {
    csiNodes: '/apis/storage.k8s.io/v1/csinodes',
    leases: '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases',
    nodes: '/api/v1/nodes',
    pods: '/api/v1/namespaces/kube-system/pods',
    services: '/api/v1/services',
    volumes: '/api/v1/persistentvolumes',
  };
  const { csiNodes, leases, nodes, pods, services, volumes } = lists;
  const kubelet = ['/api/v1/nodes/a/proxy/configz', '/api/v1/nodes/a/proxy/flagz'];
  for (const [steps, paths] of Object.entries({
    'kube-controller-manager': [leases, pods],
    'kube-apiserver': ['/flagz', leases, pods],
    volumes: [csiNodes, nodes, volumes],
    kubelets: [nodes, ...kubelet],
    nodes: [nodes],
    services: [services],
    leader: [leases],
    beside: [leases, pods],
    'hand-over': [leases, pods],
    'one-first': [leases, pods],
    'node-ipam': [leases, pods],
    'nodes,services,leader': [leases, nodes, services],
    '': ['/flagz', ...kubelet, ...Object.values(lists)],
  })) {
    server.clearRequests();
    await check(kubeconfig, ...(steps === '' ? [] : [`--steps=${steps}`]));
    const asked = new Set(server.requests.map(({ path }) => path.replace(/\?.*$/u, '')));
    assert.deepEqual([...asked].toSorted(), paths.toSorted(), steps);
  }
});

test('migrate check refuses what it does not understand', async () => {
  for (const [args, words] of [
    [['--steps=nonsense'], /no step nonsense; there are kube-controller-manager/u],
    [['again'], /expected check/u],
  ] as const) {
    const { code, err } = await check('/none', ...args);
    assert.equal(code, 1);
    assert.match(err, words);
  }
});

test('what does not answer, answers with an error or with nonsense is unknown', async (t) => {
  const { server } = await start(t);
  await using proxy = await startFaultProxy({ target: server.url, certificateAuthority: server.ca ?? '' });
  const directory = await mkdtemp(path.join(tmpdir(), 'migrate-'));
  t.after(() => rm(directory, { recursive: true }));
  const kubeconfig = path.join(directory, 'kubeconfig');
  const base64 = (pem = ''): string => Buffer.from(pem).toString('base64');
  const direct = server.kubeconfig('token').yaml;
  await writeFile(
    kubeconfig,
    direct.replaceAll(server.url, proxy.url).replaceAll(base64(server.ca), base64(proxy.certificateAuthority)),
  );
  proxy.add({ match: { resource: 'leases' }, fault: { type: 'status', code: 403 } });
  const { code, out } = await check(kubeconfig, '--request-timeout=60s', '--steps=leader,nodes');
  assert.equal(code, 2, out);
  assert.match(out, /Leases of kube-system could not be listed: Forbidden \(403\)/u);
  assert.match(out, /Nothing is known to be missing\. Unknown: leader\./u);

  // Judged without those that answer: on a busy machine they need not be in time for it.
  proxy.add({ match: { resource: 'services' }, fault: { type: 'hang' } });
  proxy.add({ match: { resource: 'persistentvolumes' }, fault: { type: 'half-line' } });
  const silent = await check(kubeconfig, '--request-timeout=1500ms', '--steps=services,volumes');
  assert.equal(silent.code, 2, silent.out);
  assert.match(silent.out, /Services could not be listed: timeout/u);
  assert.match(silent.out, /PersistentVolumes could not be listed/u);
  assert.match(silent.out, /Nothing is known to be missing\. Unknown: volumes, services\./u);

  await server[Symbol.asyncDispose]();
  const gone = await check(kubeconfig, '--request-timeout=1500ms', '--steps=nodes,services');
  assert.equal(gone.code, 2, 'an API server that is not there proves nothing');
});

test('kubelets are asked through the API server', async (t) => {
  const { kubeconfig } = await start(t);
  const answers: Readonly<Record<string, unknown>> = {
    '/api/v1/nodes/a/proxy/flagz': { kind: 'Flagz', flags: { 'cloud-provider': 'external' } },
    '/api/v1/nodes/a/proxy/configz': { kubeletconfig: { providerID: 'acme://a' } },
  };
  const accepted: (string | undefined)[] = [];
  const answering = (inner: Transport): Transport => ({
    send: (request: TransportRequest): Promise<TransportResponse> => {
      const answer = answers[request.path];
      if (answer === undefined) return inner.send(request);
      accepted.push(request.headers?.['accept']);
      const body = Buffer.from(JSON.stringify(answer));
      return Promise.resolve({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: (async function* () {
          yield await Promise.resolve(body);
        })(),
      });
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  });
  await using transport = createTransport(await loadConfig({ kubeconfig }), { layers: [answering] });
  const reads = readsOf(['kubelets']);
  const client = createClient(transport);
  const cluster = await readCluster({ client, clock: systemClock, timeoutMs: 10_000, reads });
  assert.deepEqual(cluster.kubelets.get('a')?.providerID, { known: true, value: 'acme://a' });
  const [kubelets] = judgeCluster(cluster, { providerName: 'acme', leaseName: 'x' }, ['kubelets']);
  assert.deepEqual(kubelets?.checks, [{ state: 'ok', text: '1 of 1 kubelets have --cloud-provider=external' }]);
  assert.ok(accepted.includes('application/json;as=Flagz;v=v1beta1;g=config.k8s.io'));
});
