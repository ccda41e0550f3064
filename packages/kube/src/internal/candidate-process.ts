/**
 * For tests of leader election: a program that stands for the Lease `election`, and while it leads (and, to be mean, after)
 * writes its name into the Lease `work` as often as it can. Says what happens to it on stdout, one JSON text a line.
 */
import { randomInt } from 'node:crypto';
import {
  createClient,
  createTransport,
  fence,
  isNotLeaderError,
  LeaderElector,
  loadConfig,
  noMetrics,
  resources,
  silentLogger,
  systemClock,
  type TransportLayer,
} from '../index.ts';

const [kubeconfig, identity = ''] = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort(new DOMException('SIGTERM', 'AbortError')));

function say(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
  process.stdout.write(`${JSON.stringify({ event, identity, ...fields })}\n`);
}

const config = await loadConfig({ kubeconfig, env: {} });
let looked = false;
const sayLooked: TransportLayer = (inner) => ({
  send: async (request) => {
    const answer = await inner.send(request);
    if (!looked) say('looked');
    looked = true;
    return answer;
  },
  [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
});
await using transport = createTransport(config, { layers: [sayLooked] });
const elector = new LeaderElector({
  leases: createClient(transport).of(resources.leases),
  namespace: 'kube-system',
  name: 'election',
  identity,
  clock: systemClock,
  logger: silentLogger,
  metrics: noMetrics,
  random: () => randomInt(1_000) / 1_000,
  leaseDurationMs: 12_000,
  renewDeadlineMs: 9_000,
  retryPeriodMs: 500,
});
const leadership = await elector.acquire(stop.signal);
say('leads');
leadership.signal.addEventListener('abort', () => say('ended', { reason: String(leadership.signal.reason) }));

await using fenced = createTransport(config, { layers: [fence(leadership)], retry: false });
const work = createClient(fenced).of(resources.leases);
let refused = 0;
for (let n = 1; !stop.signal.aborted; n++) {
  try {
    const body = { spec: { holderIdentity: identity, leaseTransitions: n } };
    await work.patch({ namespace: 'kube-system', name: 'work' }, { type: 'merge', body });
  } catch (error) {
    if (isNotLeaderError(error) && refused++ === 0) say('refused');
    else if (!isNotLeaderError(error)) say('failed', { error: String(error) });
  }
  await systemClock.sleep(10);
}
await leadership.release();
say('released', { refused });
