import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancers } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import type { Webhook } from '@outrigger/controller-manager';
import { silentLogger, type LogFields } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createServiceWebhook, type ServiceWebhookDependencies } from './service-webhook.ts';

const spec = { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }] };

const serviceOf = (metadata: object, of: object | null = spec): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata,
  spec: of,
});

type Asked = Parameters<OpenedProvider['callContext']>[0];

interface Rig {
  readonly calls: Asked[];
  /** Ends the oldest question to the cloud. */
  readonly end: () => void;
  /** The namespaces of the Services about which the cloud has been asked. */
  readonly asked: string[];
  readonly review: (metadata: object, inTime?: AbortSignal, of?: object | null) => ReturnType<Webhook['answer']>;
  /** From one form of its metadata to another. */
  readonly update: (before: object, metadata: object) => ReturnType<Webhook['answer']>;
}

function rig(options: Partial<ServiceWebhookDependencies> = {}, verdict?: () => Promise<object>): Rig {
  const calls: Asked[] = [];
  const asked: string[] = [];
  const enders: (() => void)[] = [];
  const { signal } = new AbortController();
  const validate = async ({ namespace }: { readonly namespace: string }): Promise<object> => {
    asked.push(namespace);
    if (verdict) return await verdict();
    await new Promise<void>((resolve) => enders.push(resolve));
    return {};
  };
  const annotations = [{ name: 'memory.example/name' }];
  const provider = {
    name: 'memory',
    capabilities: { loadBalancers: { validate, classes: [], annotations } as unknown as LoadBalancers },
    callContext: (given: Asked) => {
      calls.push(given);
      return { ...given, logger: silentLogger, call: () => assert.fail() };
    },
  };
  const webhook = createServiceWebhook({
    isTrusted: true,
    clock: new FakeClock(),
    logger: silentLogger,
    providers: [provider],
    signal,
    ...options,
  });
  return {
    calls,
    end: () => enders.shift()?.(),
    asked,
    review: (metadata, inTime = signal, of = spec) => {
      const object = serviceOf(metadata, of);
      return webhook.answer({ uid: 'x', operation: 'CREATE', dryRun: false, object, oldObject: undefined }, inTime);
    },
    update: (before, metadata) => {
      const [oldObject, object] = [serviceOf(before), serviceOf(metadata)];
      return webhook.answer({ uid: 'x', operation: 'UPDATE', dryRun: false, object, oldObject }, signal);
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('a review goes before no Service in the cloud; one of which nobody knows who sent it is noted of none', async () => {
  for (const [isTrusted, about] of [
    [true, ['uid-1']],
    [false, []],
  ] as const) {
    const { calls, review } = rig({ isTrusted }, () => Promise.resolve({}));
    await review({ name: 'web', namespace: 'default', uid: 'uid-1' });
    assert.deepEqual([calls[0]?.priority, calls[0]?.about], ['normal', about]);
  }
});

test('two reviews of a namespace ask the cloud at a time, and eight of all; namespaces take turns', async () => {
  const { asked, end, review } = rig();
  const next = async (): Promise<string | undefined> => {
    const before = asked.length;
    end();
    await settled();
    assert.ok(asked.length <= before + 1);
    return asked[before];
  };
  const reviews = Array.from({ length: 12 }, () => review({ namespace: 'greedy' }));
  await settled();
  assert.deepEqual(asked, ['greedy', 'greedy']);
  for (const namespace of ['b', 'c', 'd', 'e', 'f', 'g', 'late']) reviews.push(review({ namespace }));
  await settled();
  assert.deepEqual(asked.slice(2), ['b', 'c', 'd', 'e', 'f', 'g']);
  // The places of the greedy one come free: one of them is for the one that came last.
  assert.deepEqual([await next(), await next(), await next()], ['greedy', 'late', 'greedy']);
  for (let left = reviews.length; left > 0; left--) await next();
  assert.deepEqual(
    await Promise.all(reviews),
    reviews.map(() => ({ warnings: [] })),
  );
  assert.equal(asked.length, 19);
});

test('a review that finds no place in its time asks nothing, and one that is over leaves its place to another', async () => {
  const { asked, end, review } = rig();
  const over = new AbortController();
  const reviews = Array.from({ length: 5 }, (_, i) => review({ namespace: 'a', name: `${i}` }, over.signal));
  const later = review({ namespace: 'a' });
  await settled();
  over.abort(new Error('no answer within 4.5s'));
  for (const one of reviews) await assert.rejects(one, /no answer within 4\.5s/u);
  await settled();
  assert.equal(asked.length, 3, 'the two that were asked about, whose cloud is silent, and the one that has time');
  end();
  end();
  end();
  assert.deepEqual(await later, { warnings: [] });
});

test('where many of a namespace wait, more do not: they take no place of other reviews', async () => {
  const { asked, end, review } = rig();
  const reviews = Array.from({ length: 2 + 16 }, () => review({ namespace: 'a' }));
  await assert.rejects(review({ namespace: 'a' }), /16 Services of the namespace wait for the cloud already/u);
  const other = review({ namespace: 'b' });
  await settled();
  assert.deepEqual(asked, ['a', 'a', 'b']);
  for (const _ of [...reviews, other]) {
    end();
    await settled();
  }
  await Promise.all([...reviews, other]);
});

test('a cloud that cannot be asked is one short line a minute, whatever the Services are called', async () => {
  const lines: unknown[] = [];
  const clock = new FakeClock();
  const warn = (_: string, { service }: LogFields = {}): void => void lines.push(service);
  const { review } = rig({ clock, logger: { ...silentLogger, warn } }, () => Promise.reject(new Error('down')));
  const name = 'x'.repeat(100_000);
  for (let i = 0; i < 100; i++) assert.equal((await review({ namespace: `${i}`, name })).warnings?.length, 1);
  assert.deepEqual(
    lines.map((line) => String(line).length < 1_000),
    [true],
  );
  await clock.advance(60_000);
  await review({ namespace: 'a', name: 'b' });
  assert.equal(lines[1], 'a/b');
});

test('a Service whose spec is null is refused', async () => {
  const { asked, review } = rig();
  assert.deepEqual(await review({ name: 'web' }, undefined, null), {
    refused: 'spec is null; a Service has an object',
  });
  assert.deepEqual(asked, []);
});

test('a text over its bound is refused where it is written, and holds up no other change of its Service', async () => {
  const lines: unknown[] = [];
  const { asked, review, update } = rig({ logger: { ...silentLogger, warn: (line) => void lines.push(line) } });
  const long = { name: 'web', namespace: 'a', annotations: { 'memory.example/name': 'x'.repeat(256) } };
  const why = 'annotation memory.example/name is too long: shorten it to at most 255 characters (invalid)';
  assert.deepEqual(await review(long), { refused: why, warnings: [] });
  assert.deepEqual(await update({ name: 'web', namespace: 'a' }, long), { refused: why, warnings: [] });
  const other = { ...long, annotations: { ...long.annotations, other: 'x' } };
  assert.deepEqual(await update(long, other), {
    warnings: [`the Service is stored, but its controller refuses it: ${why}`],
  });
  assert.deepEqual([asked, lines], [[], []]);
});
