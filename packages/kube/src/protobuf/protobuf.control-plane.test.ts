import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { controlPlaneOrSkip, DEFAULT_KUBERNETES, hollowNode } from '@outrigger/testing';
import type { Client } from '../client.ts';
import { loadConfig } from '../config/load-config.ts';
import { createClient } from '../create-client.ts';
import type { KubeObject } from '../kube-object.ts';
import type { Resource } from '../resource.ts';
import { resources } from '../resources.ts';
import { isBadRequest, isExpired } from '../status-error.ts';
import { defaultTransform } from '../transform.ts';
import { createTransport } from '../transport/create-transport.ts';
import type { Transport } from '../transport.ts';
import { withoutNulls } from './without-nulls.suite.ts';

const TOOL = join(import.meta.dirname, '../../../../tools/kube-protobuf');

/** The client, and the encodings in which its GETs were answered. */
async function open(kubeconfig: string): Promise<{ client: Client; transport: Transport; answered: Set<string> }> {
  const transport = createTransport(await loadConfig({ kubeconfig }));
  const answered = new Set<string>();
  const client = createClient({
    send: async (request) => {
      const response = await transport.send(request);
      if (request.method === 'GET')
        answered.add(/protobuf|json/.exec(response.headers['content-type'] ?? '')?.[0] ?? '');
      return response;
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  return { client, transport, answered };
}

/** The events until the object named `last` is deleted. `onBookmark`: what was there at the beginning has been told. */
async function eventsUntil<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  last: string,
  { onBookmark, ...how }: Parameters<ReturnType<Client['of']>['watch']>[0] & { readonly onBookmark?: () => void },
): Promise<unknown[]> {
  const trim = defaultTransform(resource);
  const events: unknown[] = [];
  for await (const event of client.of(resource).watch({ ...how, timeoutSeconds: 120 })) {
    const { annotations } = event.object.metadata ?? {};
    // Others come when they like.
    if (event.type === 'BOOKMARK' && !annotations?.['k8s.io/initial-events-end']) continue;
    if (event.type === 'BOOKMARK') onBookmark?.();
    events.push(
      withoutNulls({ type: event.type, object: event.type === 'BOOKMARK' ? event.object : trim(event.object) }),
    );
    if (event.type === 'DELETED' && event.object.metadata?.name === last) return events;
  }
  throw new Error(`the watch ended before ${last} was deleted`);
}

test('lists, watches and errors of the real API server are in protobuf what they are in JSON', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { auditLog: false });
  if (!controlPlane) return;
  const { client, transport, answered } = await open(controlPlane.kubeconfig.path);
  await using _ = transport;
  const nodes = client.of(resources.nodes);
  const services = client.of(resources.services);
  const namespace = 'default';
  const nodesBefore = await nodes.list();
  const servicesBefore = await services.list();

  await nodes.create(hollowNode({ name: 'plain' }));
  await nodes.create({ metadata: { name: 'bare' } });
  const { status, ...full } = hollowNode({ name: 'full' });
  await nodes.create({
    ...full,
    metadata: {
      ...full.metadata,
      labels: { 'example.com/empty': '', 'topology.kubernetes.io/zone': 'a' },
      annotations: { 'example.com/text': 'ä 日本 "<&>" \u2028\n'.repeat(20) },
      finalizers: ['example.com/a'],
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: false }],
    },
    spec: {
      podCIDR: '10.0.0.0/24',
      podCIDRs: ['10.0.0.0/24', 'fd00::/64'],
      providerID: 'memory://a/b',
      unschedulable: true,
      taints: [
        { key: 'a', effect: 'NoExecute', timeAdded: '2026-01-31T12:00:00Z' },
        { key: 'b', value: '', effect: 'NoSchedule' },
        { key: 'c', value: 'x', effect: 'PreferNoSchedule' },
      ],
    },
  });
  const more = {
    capacity: { cpu: '1500m', memory: '16Gi', 'example.com/gpu': '1e3', pods: '0' },
    allocatable: { cpu: 0.5, memory: '1.5Gi' },
    conditions: [{ type: 'Ready', status: 'Unknown' }],
    volumesAttached: [{ name: 'v', devicePath: '' }],
    volumesInUse: ['v'],
    images: [{ names: ['a', 'b'], sizeBytes: 2 ** 40 }, { names: [] }],
    runtimeHandlers: [{ name: '', features: { recursiveReadOnlyMounts: false } }],
  };
  const body = { status: { ...status, ...more } };
  await nodes.patch({ name: 'full' }, { type: 'merge', body }, { subresource: 'status' });

  const port = { port: 80, protocol: 'TCP' } as const;
  await services.create({
    metadata: { name: 'web', namespace, finalizers: ['example.com/a'] },
    spec: {
      type: 'LoadBalancer',
      selector: { app: 'web' },
      sessionAffinity: 'ClientIP',
      externalTrafficPolicy: 'Local',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      allocateLoadBalancerNodePorts: false,
      ports: [
        { ...port, name: 'a', targetPort: 'http' },
        { ...port, name: 'b', port: 81, targetPort: 8080 },
        { ...port, name: 'c', port: 82, appProtocol: 'example.com/x' },
      ],
    },
  });
  await services.create({
    metadata: { name: 'external', namespace },
    spec: { type: 'ExternalName', externalName: 'example.com' },
  });
  const balanced = {
    loadBalancer: {
      ingress: [{ ip: '192.0.2.1', ipMode: 'Proxy', ports: [{ port: 80, protocol: 'TCP', error: 'NoRoute' }] }],
    },
    conditions: [
      {
        type: 'example.com/X',
        status: 'True',
        reason: 'R',
        message: '',
        observedGeneration: 3,
        lastTransitionTime: '2026-01-31T12:00:00Z',
      },
    ],
  };
  await services.patch(
    { namespace, name: 'web' },
    { type: 'merge', body: { status: balanced } },
    { subresource: 'status' },
  );

  for (const resource of [resources.nodes, resources.services]) {
    const trim = defaultTransform<KubeObject>(resource);
    const of = client.of<KubeObject>(resource);
    for (const limit of [0, 2]) {
      const readBoth = async () => {
        const whole = await of.list({ limit });
        answered.clear();
        const trimmed = await of.list({ limit, trimmed: true });
        assert.deepEqual([...answered], ['protobuf']);
        return { whole, trimmed };
      };
      let { whole, trimmed } = await readBoth();
      // The version of a list is that of all that is stored, and the server itself writes now and then: between the two, too.
      for (let again = 0; again < 20 && trimmed.resourceVersion !== whole.resourceVersion; again++) {
        ({ whole, trimmed } = await readBoth());
      }
      assert.deepEqual(
        withoutNulls(trimmed.items),
        withoutNulls(whole.items.map(trim)),
        `${resource.plural}, ${limit}`,
      );
      assert.deepEqual(trimmed.items, withoutNulls(trimmed.items), 'no null');
      assert.equal(trimmed.resourceVersion, whole.resourceVersion);
      assert.equal(trimmed.remainingItemCount, whole.remainingItemCount);
      assert.equal(trimmed.continue === undefined, whole.continue === undefined);
    }
  }
  const seen = await Array.fromAsync(nodes.pages({ limit: 2, trimmed: true }), ({ items }) => items.length);
  assert.deepEqual(seen, [2, 1]);

  // Events since before all of that, and a stream that begins with all objects.
  const merge = (finalizers: null) => ({ type: 'merge', body: { metadata: { finalizers } } }) as const;
  await nodes.patch({ name: 'full' }, merge(null));
  await nodes.delete({ name: 'full' });
  await services.patch({ namespace, name: 'web' }, merge(null));
  await services.delete({ namespace, name: 'web' });
  for (const [resource, name, { resourceVersion }] of [
    [resources.nodes, 'full', nodesBefore],
    [resources.services, 'web', servicesBefore],
  ] as const) {
    const whole = await eventsUntil<KubeObject>(client, resource, name, { resourceVersion });
    answered.clear();
    const trimmed = await eventsUntil<KubeObject>(client, resource, name, { resourceVersion, trimmed: true });
    assert.deepEqual([...answered], ['protobuf']);
    assert.deepEqual(trimmed, whole, resource.plural);
  }
  const initial = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const;
  const bookmarks: Promise<void>[] = [];
  const streams = [{ ...initial }, { ...initial, trimmed: true }].map((how) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    bookmarks.push(promise);
    return eventsUntil(client, resources.nodes, 'bare', { ...how, onBookmark: resolve });
  });
  // Each of them must have been told of it. A stream that has none ends, and says so.
  await Promise.race([Promise.all(bookmarks), Promise.all(streams)]);
  await nodes.delete({ name: 'bare' });
  const [whole, trimmed] = await Promise.all(streams);
  assert.ok(whole?.some((event) => (event as { type: string }).type === 'BOOKMARK'));
  const withoutBookmarkVersion = (events: unknown[] | undefined): unknown =>
    events?.map((event) => ((event as { type: string }).type === 'BOOKMARK' ? 'BOOKMARK' : event));
  assert.deepEqual(withoutBookmarkVersion(trimmed), withoutBookmarkVersion(whole));

  // As an answer, and as an event of a stream that has begun.
  await controlPlane.compact();
  for (const trimmed of [false, true]) {
    answered.clear();
    await assert.rejects(nodes.list({ limit: 1, continue: 'bm9uc2Vuc2U', trimmed }), isBadRequest);
    const watch = nodes.watch({ resourceVersion: '1', trimmed, timeoutSeconds: 60 });
    await assert.rejects(Array.fromAsync(watch), isExpired);
    assert.deepEqual([...answered], [trimmed ? 'protobuf' : 'json']);
  }
});

test('the tables and the vectors are what the Go types say', (t) => {
  if (process.env['KUBERNETES'] && process.env['KUBERNETES'] !== DEFAULT_KUBERNETES) return;
  const print = (what: string): string =>
    execFileSync('go', ['run', '.', what], { cwd: TOOL, encoding: 'utf8', maxBuffer: 1 << 24 });
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
  } catch {
    t.skip('needs the Go toolchain');
    return;
  }
  const here = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8');
  assert.equal(print('tables'), here('generated/messages.ts'));
  assert.equal(print('vectors'), here('vectors.json'));
});
