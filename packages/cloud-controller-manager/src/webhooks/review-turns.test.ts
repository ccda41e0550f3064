import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { createWebhookPages, type HttpRequest, type Webhook } from '@outrigger/controller-manager';
import { noMetrics, silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { ReviewTurns } from './review-turns.ts';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** The listener of both webhooks, as the program has it. The cloud answers no review of a Service. */
function rig() {
  const turns = new ReviewTurns();
  const refusals: string[] = [];
  const service: Webhook['answer'] = ({ object }, signal) =>
    turns
      .inTurn((object as { metadata: { namespace: string } }).metadata.namespace, signal, () => new Promise(() => {}))
      .catch((error: unknown) => {
        if (!signal.aborted) refusals.push(String(error));
        throw error;
      }) as ReturnType<Webhook['answer']>;
  const clock = new FakeClock();
  const app = createWebhookPages({
    webhooks: [
      { name: 'service', path: '/service', answer: service },
      { name: 'volume', path: '/volume', answer: () => Promise.resolve({}) },
    ],
    clock,
    logger: silentLogger,
    metrics: noMetrics,
    subsystem: 'test_webhook',
    redact: (text) => text,
  });
  const review = async (path: string, namespace: string): Promise<number> => {
    const object = { metadata: { namespace } };
    const request = { uid: 'u', operation: 'CREATE', object, oldObject: null, dryRun: true };
    const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
    const said = { headers: { 'content-type': 'application/json' }, socket: { remoteAddress: '192.0.2.1' } };
    const incoming = Object.assign(Readable.from([Buffer.from(body)]), said) as unknown as HttpRequest['incoming'];
    return (await app({ method: 'POST', path, query: new URLSearchParams(), incoming })).status;
  };
  return { clock, refusals, review };
}

for (const [namespaces, isPassed] of [
  [4, false],
  [20, false],
  [60, true],
] as const) {
  test(`where the cloud is slow and ${namespaces} namespaces write without an end, others find a place in the listener`, async () => {
    const { clock, refusals, review } = rig();
    const flood: Promise<number>[] = [];
    for (let i = 0; i < namespaces * 20; i++) {
      flood.push(review('/service', `greedy-${Math.floor(i / 20)}`));
      for (let turn = 0; turn < 3; turn++) await settled();
    }
    assert.match(refusals.at(-1) ?? '', /\d\d Services wait for the cloud already; write this one again later/u);
    assert.equal(await review('/volume', ''), 200);
    let isAnswered = false;
    const honest = review('/service', 'honest').finally(() => (isAnswered = true));
    for (let turn = 0; turn < 10; turn++) await settled();
    assert.equal(isAnswered, isPassed, 'it waits for its turn, unless too many do');
    await clock.advance(10_000);
    assert.deepEqual(new Set([...(await Promise.all(flood)), await honest]), new Set([200]));
  });
}
