/** Leader election as it is meant: two processes, signals that no program can catch, and an API server. */
import { clientOf, controlPlaneOrSkip, startEmbeddedApiServer } from '@outrigger/testing';
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { resources, systemClock } from './index.ts';

type Subject = 'embedded' | 'real control plane';

/** As `candidate-process.ts` has it: so long that a machine which is busy loses no lease of itself. */
const LEASE_MS = 12_000;
const PROBE_MS = 50;
/** What a candidate may lose that does not get its turn, its pause of 0.5 s included. Who waits for a lease in vain takes longer. */
const SLOW_CANDIDATE_MS = 6_000;
/** A fail-over is: read the Lease, write it, write into the other one, and hear of it. Each takes the machine's time. */
const REQUESTS_IN_A_ROW = 4;
const PROGRAM = new URL('internal/candidate-process.ts', import.meta.url).pathname;

interface Write {
  readonly who: string;
  readonly at: number;
}

interface Candidate {
  readonly process: ChildProcess;
  readonly events: readonly string[];
}

/** One server, and who wrote into the Lease `work`, in the server's order. */
async function openField(cleanUp: AsyncDisposableStack, kubeconfig: string) {
  const client = await clientOf(kubeconfig);
  const leases = client.of(resources.leases);
  const work = await leases.create({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'kube-system', name: 'work' },
    spec: {},
  });
  const writers: Write[] = [];
  const done = new AbortController();
  const watching = (async () => {
    const events = leases.watch({
      namespace: 'kube-system',
      fieldSelector: 'metadata.name=work',
      resourceVersion: work.metadata?.resourceVersion ?? '',
      signal: done.signal,
    });
    for await (const event of events) {
      if (event.type !== 'MODIFIED') continue;
      writers.push({ who: event.object.spec?.holderIdentity ?? '', at: systemClock.monotonic() });
    }
  })().catch((error: unknown) => {
    if (!done.signal.aborted) throw error;
  });
  const probes: { readonly at: number; readonly tookMs: number }[] = [];
  const probing = (async () => {
    while (!done.signal.aborted) {
      const at = systemClock.monotonic();
      await leases.get({ namespace: 'kube-system', name: 'work' });
      await systemClock.sleep(PROBE_MS);
      probes.push({ at, tookMs: systemClock.monotonic() - at - PROBE_MS });
    }
  })();
  // Told by the clean-up.
  probing.catch(() => {});
  const candidates: Candidate[] = [];
  cleanUp.defer(async () => {
    for (const { process: child } of candidates) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    done.abort(new DOMException('the test is over', 'AbortError'));
    await watching;
    await probing;
    await client[Symbol.asyncDispose]();
  });
  return {
    writers,
    /** The order in which the writers took turns, without those writes: `['a', 'b']` when a never wrote again after b had begun. */
    turns: (without: readonly Write[] = []) =>
      writers
        .filter((write) => !without.includes(write))
        .map(({ who }) => who)
        .filter((who, i, all) => who !== all[i - 1]),
    /** What this machine's other load adds to a fail-over that began then. */
    slowMs: async (began: number): Promise<number> => {
      // The probe under way counts too: it may be what everything waited for.
      const soFar = probes.length;
      await until('a probe ends', () => probes.length > soFar);
      return (
        REQUESTS_IN_A_ROW *
        Math.max(0, ...probes.filter(({ at }) => at >= began - PROBE_MS).map(({ tookMs }) => tookMs))
      );
    },
    stand: (identity: string): Candidate => {
      const child = spawn(process.execPath, [PROGRAM, kubeconfig, identity], { stdio: ['ignore', 'pipe', 'inherit'] });
      const events: string[] = [];
      createInterface({ input: child.stdout }).on('line', (line) => {
        const { event } = JSON.parse(line) as { event: string };
        events.push(event);
      });
      const candidate = { process: child, events };
      candidates.push(candidate);
      return candidate;
    },
  };
}

async function until(what: string, condition: () => boolean, limitMs = 180_000): Promise<void> {
  const end = systemClock.monotonic() + limitMs;
  while (!condition()) {
    assert.ok(systemClock.monotonic() < end, `waited ${limitMs} ms for: ${what}`);
    await systemClock.sleep(5);
  }
}

async function kubeconfigOf(
  subject: Subject,
  t: TestContext,
  cleanUp: AsyncDisposableStack,
): Promise<string | undefined> {
  if (subject === 'real control plane') return (await controlPlaneOrSkip(t))?.kubeconfig.path;
  const server = cleanUp.use(await startEmbeddedApiServer());
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-election-'));
  cleanUp.defer(() => rm(directory, { recursive: true }));
  const path = join(directory, 'kubeconfig');
  await writeFile(path, server.kubeconfig().yaml);
  return path;
}

export function leaderElectionSuite(subject: Subject): void {
  test(`${subject}: kill -9, SIGSTOP, SIGTERM: another takes over in time, and a former leader starts no write`, async (t) => {
    await using cleanUp = new AsyncDisposableStack();
    const kubeconfig = await kubeconfigOf(subject, t, cleanUp);
    if (kubeconfig === undefined) return;
    const field = await openField(cleanUp, kubeconfig);
    const wrote = (who: string) => () => field.writers.at(-1)?.who === who;

    const a = field.stand('a');
    await until('a writes', wrote('a'));
    const b = field.stand('b');
    await until('b has looked at the Lease', () => b.events.includes('looked'));
    const killedAt = systemClock.monotonic();
    a.process.kill('SIGKILL');
    await until('b writes after kill -9 of a', wrote('b'));
    const afterKill = systemClock.monotonic() - killedAt;
    const killBoundMs = LEASE_MS + SLOW_CANDIDATE_MS + (await field.slowMs(killedAt));
    assert.ok(afterKill <= killBoundMs, `fail-over after kill -9 took ${afterKill} ms`);

    const c = field.stand('c');
    await until('c has looked at the Lease', () => c.events.includes('looked'));
    b.process.kill('SIGSTOP');
    await until('c writes while b is stopped', wrote('c'));
    b.process.kill('SIGCONT');
    await until('b notices', () => b.events.includes('ended') && b.events.includes('refused'));
    await systemClock.sleep(500);
    // SIGSTOP may come between the fence's question and the first byte, which then follows. It writes one after the other.
    const begun = field.writers.findIndex(({ who }) => who === 'c');
    const underWay = field.writers.filter(({ who }, i) => i > begun && who === 'b');
    assert.ok(underWay.length <= 1, `b wrote ${underWay.length} times after c had begun`);
    assert.deepEqual(field.turns(underWay), ['a', 'b', 'c'], 'nobody wrote out of turn');
    const ended = once(b.process, 'exit');
    b.process.kill('SIGTERM');
    await ended;

    const d = field.stand('d');
    await until('d has looked at the Lease', () => d.events.includes('looked'));
    const stoppedAt = systemClock.monotonic();
    c.process.kill('SIGTERM');
    await until('d writes after c has released', wrote('d'));
    const afterRelease = systemClock.monotonic() - stoppedAt;
    const releaseBoundMs = SLOW_CANDIDATE_MS + (await field.slowMs(stoppedAt));
    assert.ok(afterRelease <= releaseBoundMs, `a clean release took ${afterRelease} ms`);
    await until('c says that it has released', () => c.events.includes('released'));
    assert.deepEqual(field.turns(underWay), ['a', 'b', 'c', 'd']);
    assert.deepEqual(
      [...a.events, ...b.events, ...c.events].filter((event) => event === 'failed'),
      [],
    );
    t.diagnostic(`fail-over: ${Math.round(afterKill)} ms after kill -9, ${Math.round(afterRelease)} ms after SIGTERM`);
  });
}
