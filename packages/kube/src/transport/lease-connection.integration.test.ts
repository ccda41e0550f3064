import { FakeClock, startEmbeddedApiServer } from '@outrigger/testing';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  bearerToken,
  createClient,
  createTransport,
  LeaderElector,
  noMetrics,
  resources,
  silentLogger,
  systemClock,
  type Logger,
} from '../index.ts';
import { startFreezableProxy } from './local-server.suite.ts';

async function until(condition: () => boolean, what: string): Promise<void> {
  const end = systemClock.monotonic() + 120_000;
  while (!condition()) {
    assert.ok(systemClock.monotonic() < end, `after 120 s still not: ${what}`);
    await sleep(5);
  }
}

test('a connection that dies without a word does not cost the leadership', { timeout: 300_000 }, async () => {
  await using api = await startEmbeddedApiServer();
  await using proxy = await startFreezableProxy(Number(new URL(api.url).port));
  const clock = new FakeClock();
  await using transport = createTransport(
    {
      server: `https://127.0.0.1:${proxy.port}`,
      tls: { ca: { data: api.ca ?? '' } },
      credentials: bearerToken(api.token),
    },
    { clock },
  );
  const failures: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => void failures.push(message), with: () => logger };
  const elector = new LeaderElector({
    leases: createClient(transport).of(resources.leases),
    namespace: 'kube-system',
    name: 'manager',
    identity: 'a',
    clock,
    logger,
    metrics: noMetrics,
    random: () => 0,
  });
  const term = await elector.acquire(new AbortController().signal);
  const first = term.deadline;
  await clock.advance(2_000);
  await until(() => term.deadline > first, 'the lease is renewed');

  proxy.freezeStanding();
  const renewed = term.deadline;
  for (let waitedMs = 0; failures.length === 0; waitedMs += 100) {
    assert.ok(waitedMs < 12_000, 'a renewal fails in time');
    await clock.advance(100);
  }
  // The next try, right after it, needs nothing but the network's own time.
  await clock.advance(1_000);
  await until(() => term.deadline > renewed, 'the lease is renewed over another connection');
  assert.ok(term.isLeader());
  term.signal.throwIfAborted();
  await term.release();
});
