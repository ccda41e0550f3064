// Over 400 lines: one rig, and one test for each way in which a Lease is won, kept and lost.
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeLeaseServer, MachineClock, type Wire } from './internal/fake-lease-server.ts';
import { recordMetrics } from './internal/recorded-metrics.ts';
import { LeaderElector, leaderIdentity, type LeaderElectorOptions } from './leader-elector.ts';
import { isNotLeaderError, type Leadership } from './leadership.ts';
import { silentLogger, type Logger } from './logger.ts';

const LEASE_MS = 15_000;

interface Candidate {
  readonly machine: MachineClock;
  readonly elector: LeaderElector;
  readonly leave: AbortController;
  readonly metrics: ReturnType<typeof recordMetrics>;
  /** The terms so far; the last may be running. */
  readonly terms: Leadership[];
  readonly leads: () => boolean;
}

/** A candidate that stands again whenever it has lost. */
function stand(
  server: FakeLeaseServer,
  machine: MachineClock,
  identity: string,
  options: Partial<LeaderElectorOptions> & { readonly wire?: Wire } = {},
): Candidate {
  const { wire = { latencyMs: () => 5 }, ...rest } = options;
  const leave = new AbortController();
  const metrics = recordMetrics();
  const terms: Leadership[] = [];
  const elector = new LeaderElector({
    leases: server.client(machine, wire),
    namespace: 'kube-system',
    name: 'ccm',
    identity,
    clock: machine,
    logger: silentLogger,
    metrics,
    random: () => 0.5,
    ...rest,
  });
  const run = async (): Promise<void> => {
    while (!leave.signal.aborted) {
      const term = await elector.acquire(leave.signal);
      terms.push(term);
      await new Promise((resolve) => term.signal.addEventListener('abort', resolve, { once: true }));
    }
  };
  run().catch(() => {});
  return { machine, elector, leave, metrics, terms, leads: () => terms.at(-1)?.isLeader() ?? false };
}

function setUp(): { clock: FakeClock; server: FakeLeaseServer; machine: () => MachineClock } {
  const clock = new FakeClock();
  return { clock, server: new FakeLeaseServer(clock), machine: () => new MachineClock(clock) };
}

/** Milliseconds of true time until `done`, in steps of 10. */
async function timeUntil(clock: FakeClock, done: () => boolean, limitMs = 60_000): Promise<number> {
  const startedAt = clock.monotonic();
  while (!done()) {
    if (clock.monotonic() - startedAt > limitMs) return Infinity;
    await clock.advance(10);
  }
  return clock.monotonic() - startedAt;
}

test('the first candidate creates the lease as client-go does, and renews it every retry period', async () => {
  const { clock, server, machine } = setUp();
  const holders: string[] = [];
  const a = stand(server, machine(), 'a', { onNewLeader: (holder) => void holders.push(holder) });
  assert.ok((await timeUntil(clock, a.leads)) <= 50);
  assert.deepEqual(server.lease?.spec, {
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.010000Z',
    renewTime: '2026-01-01T00:00:00.010000Z',
    leaseTransitions: 0,
  });
  assert.equal(a.metrics.value('leader_election_master_status', { name: 'ccm' }), 1);
  await clock.advance(60_000);
  assert.equal(a.leads(), true);
  assert.equal(a.terms.length, 1);
  assert.equal(server.lease?.spec?.acquireTime, '2026-01-01T00:00:00.010000Z');
  assert.ok(server.requests.update >= 29 && server.requests.update <= 30, `${server.requests.update} updates in 60 s`);
  assert.equal(server.requests.get, 1);
  assert.deepEqual(holders, ['a']);
  assert.equal(a.elector.leader, 'a');
  assert.doesNotThrow(() => a.elector.check());
});

test('a clean release is taken up at once, and is counted as a transition', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  const b = stand(server, machine(), 'b');
  await clock.advance(5_000);
  a.leave.abort();
  void a.terms[0]?.release();
  assert.equal(a.leads(), false);
  assert.ok((await timeUntil(clock, b.leads)) <= 100);
  assert.equal(server.lease?.spec?.leaseTransitions, 1);
  assert.equal(a.metrics.value('leader_election_master_status', { name: 'ccm' }), 0);
});

test('a released lease says so as client-go does', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  a.leave.abort();
  void a.terms[0]?.release();
  await clock.advance(100);
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = server.lease?.spec ?? {};
  assert.deepEqual([holderIdentity, leaseDurationSeconds, leaseTransitions], ['', 1, 0]);
  assert.equal(a.elector.leader, '');
  assert.equal(clock.pendingTimers, 0);
});

test('after kill -9 another leads within the lease duration and a second', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  const others = ['b', 'c'].map((identity) => stand(server, machine(), identity));
  await clock.advance(9_999);
  a.machine.kill();
  const took = await timeUntil(clock, () => others.some((one) => one.leads()));
  assert.ok(took > LEASE_MS - 2_100 && took <= LEASE_MS + 1_000, `took ${took} ms`);
  assert.equal(others.filter((one) => one.leads()).length, 1);
});

test('a candidate that comes late waits the whole duration from its own first look', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  a.machine.kill();
  await clock.advance(14_000);
  const b = stand(server, machine(), 'b');
  const took = await timeUntil(clock, b.leads);
  assert.ok(took >= LEASE_MS && took <= LEASE_MS + 100, `took ${took} ms`);
});

test('without the right to watch, candidates poll and still take over in time', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  const b = stand(server, machine(), 'b', { wire: { latencyMs: () => 5, watch: false } });
  await clock.advance(10_000);
  const polls = server.requests.get;
  a.machine.kill();
  const took = await timeUntil(clock, b.leads);
  assert.ok(took <= LEASE_MS + 1_000, `took ${took} ms`);
  assert.ok(server.requests.get - polls <= 9, 'one look each retry period, as client-go');
});

test('a watch that the server ends is opened anew at once; one that never lasts is not', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  const b = stand(server, machine(), 'b');
  await clock.advance(30_000);
  server.cutWatches();
  await clock.advance(100);
  assert.equal(server.requests.watch, 2);
  server.cutWatches();
  await clock.advance(1_000);
  assert.equal(server.requests.watch, 2);
  await clock.advance(4_000);
  assert.equal(server.requests.watch, 3);
  a.leave.abort();
  void a.terms[0]?.release();
  assert.ok((await timeUntil(clock, b.leads)) <= 100);
});

test('a leader that cannot renew stops before anybody can take over', async () => {
  const { clock, server, machine } = setUp();
  let fate: 'ok' | 'request-lost' = 'ok';
  const a = stand(server, machine(), 'a', { wire: { latencyMs: () => 5, fate: () => fate } });
  await timeUntil(clock, a.leads);
  const b = stand(server, machine(), 'b');
  await clock.advance(10_000);
  fate = 'request-lost';
  const lostAfter = await timeUntil(clock, () => !a.leads());
  assert.ok(lostAfter >= 10_000 && lostAfter <= 12_000, `held on for ${lostAfter} ms, as client-go`);
  assert.ok(a.terms[0]?.signal.aborted);
  assert.ok(isNotLeaderError(a.terms[0]?.signal.reason));
  const gap = await timeUntil(clock, b.leads);
  assert.ok(gap >= 2_000 && gap <= 4_100, `nobody led for ${gap} ms`);
});

test('a renewal that fails after the term has ended is not told: nothing is tried again', async () => {
  const { clock, server, machine } = setUp();
  let fate: 'ok' | 'request-lost' = 'ok';
  const told: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => void told.push(message), with: () => logger };
  const a = stand(server, machine(), 'a', { logger, wire: { latencyMs: () => 5, fate: () => fate } });
  await timeUntil(clock, a.leads);
  fate = 'request-lost';
  await timeUntil(clock, () => !a.leads());
  a.leave.abort();
  assert.ok(told.length > 0, 'what failed before is told');
  told.length = 0;
  await clock.advance(20_000);
  assert.deepEqual(
    told.filter((message) => message.includes('renew')),
    [],
  );
});

test('an outage of less than half the renew deadline, and answers that are lost, change nothing', async () => {
  const { clock, server, machine } = setUp();
  let fate: 'ok' | 'request-lost' | 'answer-lost' = 'ok';
  const a = stand(server, machine(), 'a', { wire: { latencyMs: () => 5, fate: () => fate } });
  await timeUntil(clock, a.leads);
  for (const bad of ['request-lost', 'answer-lost'] as const) {
    await clock.advance(10_000);
    fate = bad;
    await clock.advance(4_500);
    fate = 'ok';
    await clock.advance(10_000);
    assert.equal(a.leads(), true);
  }
  assert.equal(a.terms.length, 1);
  assert.ok(a.metrics.value('leader_election_slowpath_total', { name: 'ccm' }) >= 1);
});

test("an acquisition whose answer is lost is known again as one's own", async () => {
  const { clock, server, machine } = setUp();
  const fates = ['ok', 'answer-lost'] as ('ok' | 'answer-lost')[];
  const a = stand(server, machine(), 'a', { wire: { latencyMs: () => 5, fate: () => fates.shift() ?? 'ok' } });
  const took = await timeUntil(clock, a.leads);
  assert.ok(took < 10_000, `took ${took} ms: a time-out and a retry, not a whole lease`);
  assert.equal(server.lease?.spec?.leaseTransitions, 0);
});

test("a record of the same identity that this process did not write is somebody else's", async () => {
  const { clock, server, machine } = setUp();
  const before = stand(server, machine(), 'fixed');
  await timeUntil(clock, before.leads);
  before.machine.kill();
  const after = stand(server, machine(), 'fixed');
  const took = await timeUntil(clock, after.leads);
  assert.ok(took >= LEASE_MS, `took ${took} ms`);
});

test('SIGSTOP: the leader may send nothing after SIGCONT, before any timer has told it', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  const b = stand(server, machine(), 'b');
  await clock.advance(5_000);
  a.machine.stop();
  await clock.advance(20_000);
  assert.equal(b.leads(), true);
  const term = a.terms[0];
  assert.ok(term);
  assert.equal(term.signal.aborted, false, 'no timer has run');
  // Neither clock alone is to be relied on: this one was set back meanwhile.
  a.machine.skew(-3_600_000);
  await a.machine.resume(() => {
    assert.equal(term.isLeader(), false);
    assert.throws(term.guard, isNotLeaderError);
  });
  await clock.advance(100);
  assert.equal(term.signal.aborted, true);
  assert.equal(b.leads(), true);
});

test('a wall clock that jumps ahead, as after a suspension, stops sending until the next renewal', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  a.machine.skew(3_600_000);
  assert.equal(a.leads(), false);
  await clock.advance(2_100);
  assert.equal(a.leads(), true);
  a.machine.skew(-7_200_000);
  assert.equal(a.leads(), true);
  await clock.advance(30_000);
  assert.equal(a.terms.length, 1);
});

test('labels, annotations and unknown fields of the lease survive, and an edit does not end the term', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  server.edit((lease) => ({
    ...lease,
    metadata: { ...lease.metadata, annotations: { note: 'keep' } },
    spec: { ...lease.spec, preferredHolder: 'x', someday: 1 } as never,
  }));
  await clock.advance(10_000);
  assert.equal(a.terms.length, 1);
  assert.equal(a.leads(), true);
  assert.deepEqual(server.lease?.metadata?.annotations, { note: 'keep' });
  assert.equal(Object(server.lease?.spec).someday, 1);
});

test('a lease that another takes by force ends the term at the next renewal', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  server.edit((lease) => ({ ...lease, spec: { ...lease.spec, holderIdentity: 'thief' } }));
  await clock.advance(2_100);
  assert.match(String(a.terms[0]?.signal.reason), /held by thief/);
});

test('a deleted lease is made again by its holder; nobody else takes it before its time', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  const b = stand(server, machine(), 'b');
  await clock.advance(5_000);
  server.remove();
  await clock.advance(10_000);
  assert.equal(a.terms.length, 1);
  assert.equal(a.leads(), true);
  assert.equal(b.terms.length, 0);
  server.remove();
  a.machine.kill();
  const took = await timeUntil(clock, b.leads);
  assert.ok(took > 10_000 && took <= LEASE_MS + 1_000, `took ${took} ms`);
});

test('release waits for what is in flight, renewing all the while, and starts nothing new', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a', { drainTimeoutMs: 60_000 });
  await timeUntil(clock, a.leads);
  const b = stand(server, machine(), 'b');
  const term = a.terms[0];
  assert.ok(term);
  const work = term.perform(() => a.machine.sleep(30_000));
  a.leave.abort();
  void term.release();
  await assert.rejects(
    term.perform(() => Promise.resolve()),
    /being released/,
  );
  await clock.advance(29_000);
  assert.equal(server.lease?.spec?.holderIdentity, 'a');
  assert.equal(term.signal.aborted, false);
  await clock.advance(1_200);
  await work;
  assert.equal(b.leads(), true);
});

test('a stop waits for no answer about the lease longer than five seconds, however long the deadlines are', async () => {
  const { clock, server, machine } = setUp();
  let fate: 'ok' | 'request-lost' = 'ok';
  const a = stand(server, machine(), 'a', {
    leaseDurationMs: 120_000,
    renewDeadlineMs: 80_000,
    wire: { latencyMs: () => 5, fate: () => fate },
  });
  await timeUntil(clock, a.leads);
  fate = 'request-lost';
  const { update } = server.requests;
  await timeUntil(clock, () => server.requests.update > update);
  a.leave.abort();
  let isReleased = false;
  void a.terms[0]?.release().then(() => (isReleased = true));
  const took = await timeUntil(clock, () => isReleased, 200_000);
  assert.ok(took <= 5_100, `the stop took ${took} ms`);
  assert.equal(server.lease?.spec?.holderIdentity, 'a', 'left to expire');
  const { requests } = server;
  const sent = { ...requests };
  await clock.advance(200_000);
  assert.deepEqual(requests, sent, 'a former leader asks for nothing');
});

for (const [what, renewal] of [
  ['took effect and whose answer is lost', { fate: 'answer-lost', latencyMs: 5 }],
  ['is lost', { fate: 'request-lost', latencyMs: 5 }],
  ['arrives after the lease was given back', { fate: 'ok', latencyMs: 1_000 }],
  ['arrives while it is being given back', { fate: 'ok', latencyMs: 8 }],
] as const) {
  test(`a stop while a renewal is under way that ${what} gives the lease back at once, and for good`, async () => {
    const { clock, server, machine } = setUp();
    let now: { readonly fate: 'ok' | 'answer-lost' | 'request-lost'; readonly latencyMs: number } = {
      fate: 'ok',
      latencyMs: 5,
    };
    const a = stand(server, machine(), 'a', { wire: { latencyMs: () => now.latencyMs, fate: () => now.fate } });
    await timeUntil(clock, a.leads);
    now = renewal;
    const { update } = server.requests;
    await timeUntil(clock, () => server.requests.update > update);
    now = { fate: 'ok', latencyMs: 5 };
    if (renewal.fate === 'answer-lost') await clock.advance(10);
    a.leave.abort();
    void a.terms[0]?.release();
    await clock.advance(100);
    assert.equal(server.lease?.spec?.holderIdentity, '');
    await clock.advance(30_000);
    assert.equal(server.lease?.spec?.holderIdentity, '');
    assert.equal(clock.pendingTimers, 0);
  });
}

test('what does not end in time is aborted, and the lease is left to expire', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a', { drainTimeoutMs: 3_000 });
  await timeUntil(clock, a.leads);
  const b = stand(server, machine(), 'b');
  const term = a.terms[0];
  assert.ok(term);
  let told = false;
  void term.perform(
    (signal) => new Promise<void>(() => signal.addEventListener('abort', () => (told = true), { once: true })),
  );
  a.leave.abort();
  void term.release();
  await clock.advance(4_000);
  assert.equal(told, true);
  assert.equal(server.lease?.spec?.holderIdentity, 'a');
  const took = await timeUntil(clock, b.leads);
  assert.ok(took >= 10_000, `taken over only after the lease expired: ${took} ms`);
});

test('a write of unknown outcome forbids giving the lease back, for as long as it protects from what may still come', async () => {
  for (const [olderMs, givesBack] of [
    [0, false],
    [LEASE_MS - 1_000, false],
    [LEASE_MS + 1_000, true],
  ] as const) {
    const { clock, server, machine } = setUp();
    const warnings: unknown[] = [];
    const logger: Logger = { ...silentLogger, warn: (...line) => void warnings.push(line), with: () => logger };
    const a = stand(server, machine(), 'a', { logger });
    await timeUntil(clock, a.leads);
    const term = a.terms[0];
    assert.ok(term);
    term.outcomeUnknown('POST /loadbalancers');
    await clock.advance(olderMs);
    a.leave.abort();
    void term.release();
    await clock.advance(100);
    assert.equal(term.isLeader(), false);
    assert.equal(server.lease?.spec?.holderIdentity, givesBack ? '' : 'a');
    assert.equal(warnings.length, givesBack ? 0 : 1, JSON.stringify(warnings));
    if (!givesBack) assert.match(JSON.stringify(warnings), /left to expire.*POST \/loadbalancers/u);
  }
});

test('a leader whose loop hangs past its deadline is reported to the health check', async () => {
  const { clock, server, machine } = setUp();
  const a = stand(server, machine(), 'a');
  await timeUntil(clock, a.leads);
  a.machine.stop();
  await clock.advance(31_000);
  assert.doesNotThrow(() => a.elector.check());
  await clock.advance(2_000);
  assert.throws(() => a.elector.check(), /lease ccm: not renewed/);
  await assert.rejects(a.elector.acquire(new AbortController().signal), /already led from here/);
});

test('a server that does not answer is tried for ever, and waiting can be given up', async () => {
  const { clock, server, machine } = setUp();
  let fate: 'ok' | 'request-lost' = 'request-lost';
  const a = stand(server, machine(), 'a', { wire: { latencyMs: () => 5, fate: () => fate } });
  await clock.advance(300_000);
  assert.ok(server.requests.get > 30 && server.requests.get < 60, `${server.requests.get} tries in 300 s`);
  fate = 'ok';
  assert.ok((await timeUntil(clock, a.leads)) < 10_000);
  const b = stand(server, machine(), 'b');
  await clock.advance(1_000);
  b.leave.abort(new Error('enough'));
  await clock.advance(100_000);
  assert.equal(b.terms.length, 0);
});

test('timings that do not fit are refused, all in one line', () => {
  const { server, machine } = setUp();
  const make = (options: Partial<LeaderElectorOptions>) => () => stand(server, machine(), 'a', options);
  assert.throws(make({ leaseDurationMs: 10_000 }), /leaseDuration \(10000 ms\) must be above renewDeadline/);
  assert.throws(make({ renewDeadlineMs: 2_400 }), /renewDeadline \(2400 ms\) must be above 1.2 x retryPeriod/);
  assert.throws(make({ retryPeriodMs: 0 }), /retryPeriod \(0 ms\) must be above 0/);
  assert.throws(make({ leaseDurationMs: Number.NaN }), RangeError);
  assert.throws(
    make({ identity: '', name: '', namespace: '' }),
    /identity is empty; namespace is empty; name is empty/,
  );
  assert.equal(leaderIdentity('host', 'uuid'), 'host_uuid');
});

test('never do two lead at a time, whatever happens to machines, clocks and the wire', async () => {
  const trouble = fc.record({
    afterMs: fc.integer({ min: 50, max: 4_000 }),
    who: fc.nat(2),
    what: fc.constantFrom(
      'stop' as const,
      'kill' as const,
      'release' as const,
      'skew' as const,
      'partition' as const,
      'cut-watches' as const,
    ),
    ms: fc.integer({ min: 100, max: 6_000 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 3 }),
      fc.array(trouble, { minLength: 1, maxLength: 8 }),
      fc.array(fc.double({ min: 0.95, max: 1.05, noNaN: true }), { minLength: 3, maxLength: 3 }),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 5, maxLength: 5 }),
      async (size, troubles, rates, latencies) => {
        const clock = new FakeClock();
        const server = new FakeLeaseServer(clock);
        let sent = 0;
        const cut = new Map<number, { readonly until: number; readonly fate: 'request-lost' | 'answer-lost' }>();
        const enter = (seat: number, generation: number): Candidate => {
          const machine = new MachineClock(clock, { rate: rates[seat] ?? 1, wallOffsetMs: seat * 3_600_000 });
          return stand(server, machine, `${seat}-${generation}`, {
            leaseDurationMs: 3_000,
            renewDeadlineMs: 2_000,
            retryPeriodMs: 500,
            random: () => (sent % 7) / 7,
            wire: {
              latencyMs: () => latencies[sent++ % latencies.length] ?? 1,
              fate: () => {
                const now = cut.get(seat);
                return now && now.until > clock.monotonic() ? now.fate : 'ok';
              },
            },
          });
        };
        const seats = Array.from({ length: size }, (_, seat) => enter(seat, 0));
        const check = (): void => {
          const leading = seats.filter((one) => !one.machine.stopped && one.leads());
          assert.ok(leading.length <= 1, `${leading.length} leaders at ${clock.monotonic()} ms`);
        };
        const pass = async (ms: number): Promise<void> => {
          for (let passed = 0; passed < ms; passed += 40) {
            await clock.advance(40);
            check();
          }
        };
        for (const [round, { afterMs, who, what, ms }] of troubles.entries()) {
          await pass(afterMs);
          const seat = who % size;
          const one = seats[seat];
          if (!one) continue;
          if (what === 'kill') {
            one.machine.kill();
            seats[seat] = enter(seat, round + 1);
          } else if (what === 'stop') {
            one.machine.stop();
            await pass(ms);
            await one.machine.resume(check);
            check();
          } else if (what === 'release') void one.terms.at(-1)?.release();
          else if (what === 'skew') one.machine.skew(ms % 2 === 0 ? ms * 10 : -ms * 10);
          else if (what === 'partition')
            cut.set(seat, { until: clock.monotonic() + ms, fate: ms % 4 === 0 ? 'answer-lost' : 'request-lost' });
          else server.cutWatches();
        }
        await pass(6_000);
        // All troubles are over: one of them leads.
        await pass(9_000);
        assert.equal(seats.filter((one) => one.leads()).length, 1);
      },
    ),
    { numRuns: 25 },
  );
});
