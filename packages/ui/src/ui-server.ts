/** Serves the page on 127.0.0.1, and what it shows. Entry point: `startUiServer`. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { onAbort, type Clock } from '@outrigger/kube';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import type { Feed } from './feed.ts';
import type { PageFiles } from './page-files.ts';
import { Session } from './session.ts';
import type { Planned } from './view-types.ts';

/** What the page can ask for besides the stream. Each throws an `Error` with one line for a person. */
interface UiQuestions {
  /** As `outrigger explain` prints it. */
  explain(kind: string, name: string, signal: AbortSignal): Promise<string>;
  /** What a dry run would do. */
  plan(signal: AbortSignal): Promise<readonly Planned[]>;
}

export interface UiServerOptions extends UiQuestions {
  readonly clock: Clock;
  readonly feed: Feed;
  readonly files: PageFiles;
  /** 0 takes any free one. */
  readonly port: number;
  /** Somebody looks at the page, or nobody does any more. */
  readonly onWatched?: (isWatched: boolean) => void;
}

export interface UiServer extends AsyncDisposable {
  /** With the token: opens the page once. */
  readonly link: string;
  readonly port: number;
}

/** Nothing from elsewhere, nothing inline, in no frame. */
const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};
/** Changes of so long a time are told together: a crowd of nodes changes at once. */
const GATHER_MS = 200;
/** Tabs of one person. */
const MOST_CONNECTIONS = 64;

/** Throws a Node error where the port cannot be had. */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const { port } = options;
  const stop = new AbortController();
  const server = createServer();
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  const session = new Session(bound);
  const app = createApp(options, session, stop.signal);
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  // In the same turn in which it began to listen: nobody was there before.
  server.on('request', (request, response) => void listener(request, response));
  return {
    link: session.link,
    port: bound,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function createApp(options: UiServerOptions, session: Session, stop: AbortSignal): Hono {
  const { clock, feed, files, onWatched = () => {} } = options;
  const app = new Hono();
  let watchers = 0;
  app.use(async (context, next) => {
    for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
    const { req } = context;
    const verdict = session.judge({
      method: req.method,
      url: new URL(req.url),
      header: (name) => req.header(name),
    });
    if (verdict.kind === 'opened') return context.text(verdict.secret);
    if (verdict.kind === 'refused') return context.text(`${verdict.message}\n`, verdict.status);
    await next();
    return undefined;
  });
  app.get('/', (context) => context.body(files.html, 200, { 'Content-Type': 'text/html; charset=utf-8' }));
  app.get('/app.js', (context) => context.body(files.js, 200, { 'Content-Type': 'text/javascript; charset=utf-8' }));
  app.get('/app.css', (context) => context.body(files.css, 200, { 'Content-Type': 'text/css; charset=utf-8' }));
  app.get('/icon.svg', (context) => context.body(files.icon, 200, { 'Content-Type': 'image/svg+xml' }));
  app.get('/api/explain', async (context) => {
    const { kind = '', name = '' } = context.req.query();
    return context.text(await options.explain(kind, name, context.req.raw.signal));
  });
  app.get('/api/plan', async (context) => context.json(await options.plan(context.req.raw.signal)));
  app.get('/api/changes', (context) =>
    streamSSE(context, async (stream) => {
      const ended = new AbortController();
      stream.onAbort(() => ended.abort());
      using _stopped = { [Symbol.dispose]: onAbort(stop, () => ended.abort()) };
      if (++watchers === 1) onWatched(true);
      let version = 0;
      let wake = (): void => {};
      const stopListening = feed.onChange(() => wake());
      try {
        while (!ended.signal.aborted) {
          const changed = new Promise<void>((resolve) => (wake = resolve));
          const changes = feed.changes(version);
          if (!changes) {
            const gone = onAbort(ended.signal, () => wake());
            await changed;
            gone();
            await clock.sleep(GATHER_MS, ended.signal).catch(() => {});
            continue;
          }
          const { facts, reset, tables } = changes;
          await stream.writeSSE({ data: JSON.stringify({ ...(reset && { reset }), facts, ...tables }) });
          ({ version } = changes);
        }
      } finally {
        stopListening();
        if (--watchers === 0) onWatched(false);
      }
    }),
  );
  app.notFound((context) => context.text('not found\n', 404));
  // What goes wrong with a question is for the person who asked it.
  app.onError((error, context) => context.text(`${error.message}\n`, 502));
  return app;
}
