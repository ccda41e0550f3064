import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { controlPlaneOrSkip, DEFAULT_KUBERNETES } from '@outrigger/testing';
import { systemClock } from './clock.ts';
import { loadConfig } from './config/load-config.ts';
import { createClient } from './create-client.ts';
import { silentLogger } from './logger.ts';
import { noMetrics } from './metrics.ts';
import { openStore } from './open-store.ts';
import { metadataOf } from './resource.ts';
import { resources } from './resources.ts';
import {
  isAlreadyExists,
  isConflict,
  isExpired,
  isInvalid,
  isNotFound,
  isResourceVersionTooLarge,
} from './status-error.ts';
import { createTransport } from './transport/create-transport.ts';
import type { Node, Service, TokenRequest } from './types/index.ts';
import { WatchListMemory } from './watch-list-memory.ts';
import { reflector } from './reflector.ts';

const run = promisify(execFile);
const TYPES = join(import.meta.dirname, '../../../tools/kube-types');

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = systemClock.monotonic() + 180_000;
  while (!holds()) {
    assert.ok(systemClock.monotonic() < deadline, `not within 180 s: ${what}`);
    await systemClock.sleep(20);
  }
}

function rejectUnlessNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

test('client, reflector, store and types against the real API server', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t, { auditLog: false });
  if (!controlPlane) return;
  const config = await loadConfig({ kubeconfig: controlPlane.kubeconfig.path });
  const warnings: string[] = [];
  await using transport = createTransport(config);
  const client = createClient(transport, { onWarning: (warning) => void warnings.push(warning) });
  const nodes = client.of(resources.nodes);

  await t.test('every resource is served where we think it is', async () => {
    for (const resource of Object.values(resources)) {
      const path = resource.group === '' ? '/api/v1' : `/apis/${resource.group}/${resource.version}`;
      const discovery = (await client.raw(path)) as {
        resources: { name: string; kind: string; namespaced: boolean }[];
      };
      const found = discovery.resources.find((entry) => entry.name === resource.plural);
      assert.deepEqual([found?.kind, found?.namespaced], [resource.kind, resource.namespaced], resource.plural);
    }
  });

  await t.test('reads, writes, patches and deletes, with the errors that the server gives', async () => {
    const created = await nodes.create({ metadata: { name: 'a', labels: { x: '1' } } }, { fieldManager: 'test' });
    assert.ok(created.metadata?.uid);
    await assert.rejects(nodes.create({ metadata: { name: 'a' } }), isAlreadyExists);
    await assert.rejects(nodes.create({ metadata: { name: 'Not A Name' } }), isInvalid);
    await assert.rejects(nodes.get({ name: 'none' }), isNotFound);
    await nodes.create({ metadata: { name: 'dry' } }, { dryRun: true });
    await assert.rejects(nodes.get({ name: 'dry' }), isNotFound);

    const small = await nodes.patch(
      { name: 'a' },
      { type: 'merge', body: { metadata: { labels: { y: '2' } } } },
      { answer: 'metadata' },
    );
    assert.deepEqual(
      [small.kind, small.metadata.labels?.['y'], 'spec' in small],
      ['PartialObjectMetadata', '2', false],
    );
    const taint = { key: 'k', effect: 'NoSchedule' };
    const tainted = await nodes.patch({ name: 'a' }, { type: 'strategic', body: { spec: { taints: [taint] } } });
    assert.ok(tainted.spec?.taints?.some((entry) => entry.key === 'k'));
    const condition = { type: 'Ready', status: 'True', reason: 'r', message: 'm' };
    const ready = await nodes.patch(
      { name: 'a' },
      { type: 'strategic', body: { status: { conditions: [condition] } } },
      { subresource: 'status' },
    );
    assert.equal(ready.status?.conditions?.[0]?.status, 'True');
    const test = { op: 'test', path: '/metadata/labels/x', value: 'other' } as const;
    await assert.rejects(nodes.patch({ name: 'a' }, { type: 'json', operations: [test] }), isInvalid);
    const body = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', labels: { applied: 'yes' } } };
    const applied = await nodes.patch({ name: 'a' }, { type: 'apply', body, force: true }, { fieldManager: 'applier' });
    assert.equal(applied.metadata?.labels?.['applied'], 'yes');
    assert.equal((await nodes.get({ name: 'a' }, { answer: 'metadata' })).kind, 'PartialObjectMetadata');

    await assert.rejects(nodes.update({ ...created, metadata: { ...created.metadata, labels: {} } }), isConflict);
    const unknown = { metadata: { name: 'u' }, spec: { fieldOfTheFuture: 1 } } as Node;
    await nodes.create(unknown, { dryRun: true, fieldValidation: 'Warn' });
    assert.match(warnings.at(-1) ?? '', /fieldOfTheFuture/);
    await assert.rejects(nodes.create(unknown, { dryRun: true, fieldValidation: 'Strict' }));

    await assert.rejects(nodes.delete({ name: 'a' }, { preconditions: { uid: 'another' } }), isConflict);
    const { metadata } = await nodes.get({ name: 'a' });
    await nodes.delete(
      { name: 'a' },
      { preconditions: { uid: metadata?.uid ?? '', resourceVersion: metadata?.resourceVersion ?? '' } },
    );
    await assert.rejects(nodes.get({ name: 'a' }), isNotFound);
  });

  await t.test('pages, collections, metadata only, subresources that create', async () => {
    const maps = client.of(resources.configMaps);
    for (let i = 0; i < 7; i++)
      await maps.create({ metadata: { name: `m${i}`, namespace: 'default', labels: { of: 'test' } } });
    const scope = { namespace: 'default', labelSelector: 'of=test' };
    const pages = await Array.fromAsync(maps.pages({ ...scope, limit: 3 }));
    assert.deepEqual(
      pages.map((page) => page.items.length),
      [3, 3, 1],
    );
    const small = await client.of(metadataOf(resources.configMaps)).list(scope);
    assert.deepEqual([small.items.length, small.items.some((item) => 'data' in item)], [7, false]);
    await maps.deleteCollection(scope);
    assert.equal((await maps.list(scope)).items.length, 0);

    await client.of(resources.serviceAccounts).create({ metadata: { name: 'sa', namespace: 'default' } });
    const request: TokenRequest = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [] },
    };
    const where = { namespace: 'default', name: 'sa', subresource: 'token' };
    const answer: TokenRequest = await client.of({ ...resources.serviceAccounts, object: {} }).create(request, where);
    assert.ok(answer.status?.token);
  });

  await t.test('a version of the future and a token of nobody', async () => {
    // The server waits 3 s for the version; sending it again would take most of a minute.
    await using impatient = createTransport(config, { retry: false });
    const nodes = createClient(impatient).of(resources.nodes);
    await assert.rejects(
      nodes.list({ resourceVersion: '999999999', resourceVersionMatch: 'NotOlderThan' }),
      isResourceVersionTooLarge,
    );
    const future = nodes.watch({
      resourceVersion: '999999999',
      resourceVersionMatch: 'NotOlderThan',
      sendInitialEvents: true,
    });
    await assert.rejects(Array.fromAsync(future), isResourceVersionTooLarge);
    await assert.rejects(nodes.list({ limit: 1, continue: 'bm9uc2Vuc2U' }), (error) => !isExpired(error));
  });

  await t.test('initial stream and pages list the same, and a store outlives the server', async () => {
    for (let i = 0; i < 5; i++) await nodes.create({ metadata: { name: `n${i}` } });
    const fallenBack = new WatchListMemory();
    fallenBack.fallBack(systemClock.monotonic());
    const lists: string[][] = [];
    for (const watchList of [new WatchListMemory(), fallenBack]) {
      const seen: string[] = [];
      const failures: unknown[] = [];
      const options = {
        clock: systemClock,
        random: () => 0,
        watchList,
        pageSize: 2,
        onError: (f: unknown) => void failures.push(f),
      };
      for await (const event of reflector(nodes, options)) {
        if (event.type === 'init-apply') seen.push(event.object.metadata?.name ?? '');
        if (event.type === 'init-done') break;
      }
      assert.deepEqual(failures, []);
      lists.push(seen.sort((a, b) => a.localeCompare(b)));
    }
    assert.deepEqual(lists[0], ['n0', 'n1', 'n2', 'n3', 'n4']);
    assert.deepEqual(lists[0], lists[1]);

    const first = await nodes.list({ limit: 2 });
    const shorter = await nodes.list({ limit: 1, ...(first.continue && { continue: first.continue }) });
    assert.deepEqual(
      shorter.items.map(({ metadata }) => metadata?.name),
      ['n2'],
      'a page may be shorter than the one before',
    );

    await using store = openStore({
      client,
      resource: resources.nodes,
      clock: systemClock,
      logger: silentLogger,
      metrics: noMetrics,
      random: () => 0,
    });
    await store.whenSynced();
    const said: string[] = [];
    store.subscribe((change) => void said.push(`${change.type} ${change.key}`));
    assert.equal(said.splice(0).length, 5);
    await nodes.delete({ name: 'n0' });
    await until('the deletion is seen', () => store.get('n0') === undefined);
    await controlPlane.restartApiServer();
    await nodes.create({ metadata: { name: 'after' } });
    await until('the store has caught up after the restart', () => store.get('after') !== undefined);
    assert.deepEqual(
      said.filter((line) => !line.startsWith('update')),
      ['delete n0', 'add after'],
    );
  });

  // The types are those of the current release; an older server says something else, and rightly so.
  if (controlPlane.kubernetes !== DEFAULT_KUBERNETES) return;
  await t.test(
    'a deletion in the moment of the first finalizer has no deletion timestamp, and the watch tells it',
    async () => {
      const services = client.of(resources.services);
      const watched = { client, clock: systemClock, logger: silentLogger, metrics: noMetrics };
      await using store = openStore<Service>({ ...watched, resource: resources.services, namespace: 'default' });
      await store.whenSynced();
      const untold: string[] = [];
      const raced: string[] = [];
      store.subscribe((event) => {
        if (event.type !== 'delete') return;
        const { deletionTimestamp, finalizers = [] } = event.previous.metadata ?? {};
        if (finalizers.length > 0 && deletionTimestamp === undefined) raced.push(event.key);
        if (!event.seen) untold.push(event.key);
      });
      const finalizersOf = (finalizers: readonly string[] | null) =>
        ({ type: 'merge', body: { metadata: { finalizers } } }) as const;
      // Some 8 of 100 meet it.
      for (let round = 0; round < 100 && raced.length === 0; round++) {
        const refs = Array.from({ length: 10 }, (_, i) => ({ namespace: 'default', name: `race-${round}-${i}` }));
        await Promise.all(
          refs.map((metadata) => services.create({ metadata, spec: { ports: [{ port: 80, protocol: 'TCP' }] } })),
        );
        await Promise.all(
          refs.map(async (ref) => {
            const patched = services.patch(ref, finalizersOf(['example.com/first'])).catch(rejectUnlessNotFound);
            await services.delete(ref);
            await patched;
            await services.patch(ref, finalizersOf(null)).catch(rejectUnlessNotFound);
          }),
        );
        await until('all are gone', () => refs.every(({ name }) => store.get(`default/${name}`) === undefined));
      }
      assert.deepEqual(untold, []);
      assert.ok(
        raced.length > 0,
        'never in 1,000 tries: kube-apiserver may have mended it, and the Service controller need not know of it',
      );
    },
  );

  await t.test('the generated types are what the server says', async () => {
    if (!existsSync(join(TYPES, 'node_modules'))) await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: TYPES });
    const { kubeconfig } = controlPlane;
    // Rejects with what differs when the exit code is not 0.
    await run(process.execPath, [join(TYPES, 'generate.ts'), '--kubeconfig', kubeconfig.path, '--check']);
  });
});
