/** The page, its server and what keeps it up to date, put together. Entry point: `startUi`. */
import {
  explanationOf,
  explanationPath,
  renderExplanation,
  type Explanation,
} from '@outrigger/cloud-controller-manager';
import { createClient, createTransport, readOnly, userAgent, type Clock, type ClusterConfig } from '@outrigger/kube';
import { collectStatus, type LeaderAccess } from '@outrigger/status';
import { ClusterView } from './cluster-view.ts';
import { Feed } from './feed.ts';
import { LeaderPages } from './leader-pages.ts';
import { pageFiles } from './page-files.ts';
import { startUiServer, type UiServer } from './ui-server.ts';
import type { Planned } from './view-types.ts';

export interface UiOptions {
  /** The API server, and as whom to ask it. */
  readonly cluster: ClusterConfig;
  /** Where the manager that leads is, and as whom to ask it. Throws an `Error` of one line where there is none. */
  readonly findLeader: (signal: AbortSignal) => Promise<ClusterConfig>;
  /** The same, as `outrigger status` asks it: what the overview shows. */
  readonly leaderAccess: (signal: AbortSignal) => LeaderAccess;
  /** Of the Lease. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Of 127.0.0.1; 0 takes any free one. */
  readonly port: number;
  /** How long to wait for an answer, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** What of it is shown. */
interface PlanPage {
  readonly planned: readonly (Planned & { readonly subject: Parameters<typeof explanationOf>[0] })[];
}

/** Serves until it is disposed of. Nobody is asked anything before the page is open. Throws a Node error where the port cannot be had. */
export async function startUi(options: UiOptions): Promise<UiServer> {
  const { clock, cluster, findLeader, lease, leaderAccess, port, timeoutMs } = options;
  await using starting = new AsyncDisposableStack();
  const transport = starting.use(
    createTransport(cluster, { clock, userAgent: userAgent({ suffix: 'ui' }), layers: [readOnly()] }),
  );
  const leader = starting.use(new LeaderPages({ find: findLeader, clock, timeoutMs }));
  const feed = new Feed();
  const view = new ClusterView({
    feed,
    client: createClient(transport),
    leader,
    server: cluster.server,
    clock,
    collectStatus: (signal, known) =>
      collectStatus({
        transport,
        known,
        server: cluster.server,
        leader: leaderAccess(signal),
        namespace: lease.namespace,
        leaseName: lease.name,
        timeoutMs,
        clock,
        signal,
      }),
  });
  let stop = new AbortController();
  let running = Promise.resolve();
  starting.defer(async () => {
    stop.abort();
    await running;
  });
  const server = starting.use(
    await startUiServer({
      clock,
      feed,
      files: await pageFiles(),
      port,
      onWatched: (isWatched) => {
        stop.abort();
        if (!isWatched) return;
        stop = new AbortController();
        const { signal } = stop;
        running = running.then(() => view.run(signal));
      },
      explain: async (kind, name, signal) => {
        return renderExplanation((await leader.ask(explanationPath(kind, name), signal)).body as Explanation);
      },
      plan: async (signal) => {
        const { planned } = (await leader.ask('/debug/plan', signal)).body as PlanPage;
        return planned.map((one) => ({ ...one, explanation: explanationOf(one.subject) }));
      },
    }),
  );
  const owned = starting.move();
  return { link: server.link, port: server.port, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
