/** The server and what keeps it up to date, over sockets: an embedded API server, and a leader that says what the test wants. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { loadConfig, systemClock } from '@outrigger/kube';
import { hollowNode, startEmbeddedApiServer, type EmbeddedApiServer } from '@outrigger/testing';
import { startUi } from './start-ui.ts';
import type { UiServer } from './ui-server.ts';
import type { Update } from './view-types.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Rig extends AsyncDisposable {
  readonly api: EmbeddedApiServer;
  readonly ui: UiServer;
  /** Of the leader: path → what it answers with 200; all else is 404. */
  readonly pages: Map<string, unknown>;
  /** Paths that the leader was asked for, and with which status it answered. */
  readonly asked: string[];
  /** The leader is there. */
  isUp: boolean;
  /** How often it was looked for. */
  finds: number;
  ask(path: string, headers?: Readonly<Record<string, string>>, method?: string): Promise<Answer>;
  /** Opens the link, as the page does; what it is to send from then on. */
  open(): Promise<string>;
}

async function setUp(): Promise<Rig> {
  await using starting = new AsyncDisposableStack();
  const api = starting.use(await startEmbeddedApiServer());
  const pages = new Map<string, unknown>();
  const asked: string[] = [];
  const leader = createServer(({ headers, socket, url = '' }, response) => {
    if (!rig.isUp) return void socket.destroy();
    const body = pages.get(url);
    const tag = `"${JSON.stringify(body)?.length}"`;
    const status = body === undefined ? 404 : headers['if-none-match'] === tag ? 304 : 200;
    asked.push(`${status} ${url}`);
    response.writeHead(status, { etag: tag });
    return void response.end(status === 200 ? JSON.stringify(body) : status === 404 ? 'no such object\n' : undefined);
  }).listen(0, '127.0.0.1');
  await once(leader, 'listening');
  starting.defer(() => {
    leader.closeAllConnections();
    leader.close();
  });
  const server = `http://127.0.0.1:${(leader.address() as AddressInfo).port}`;
  const cluster = await loadConfig({
    kubeconfig: 'embedded',
    readFile: () => Promise.resolve(api.kubeconfig().yaml),
  });
  const ui = starting.use(
    await startUi({
      cluster,
      findLeader: () => {
        rig.finds++;
        return Promise.resolve({ server });
      },
      leaderAccess: () => ({ url: server, configOf: () => ({ server }) }),
      lease: { namespace: 'kube-system', name: 'cloud-controller-manager' },
      port: 0,
      timeoutMs: 60_000,
      clock: systemClock,
    }),
  );
  const ask: Rig['ask'] = async (path, headers = {}, method = 'GET') => {
    const outgoing = request({ host: '127.0.0.1', port: ui.port, path, method, headers, agent: false }).end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    return { status: incoming.statusCode ?? 0, headers: incoming.headers, text };
  };
  const owned = starting.move();
  const rig: Rig = {
    api,
    ui,
    pages,
    asked,
    isUp: true,
    finds: 0,
    ask,
    open: async () => {
      const token = new URL(ui.link).hash.replace('#token=', '');
      const answer = await ask('/api/session', { authorization: `Bearer ${token}` });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers['set-cookie'], undefined, 'every port of this machine would get it');
      return `Bearer ${answer.text}`;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
  for (const kind of ['node', 'service', 'route']) pages.set(`/explain/${kind}/`, { kind, dryRun: false, items: [] });
  return rig;
}

function addNode({ api }: Rig, name: string): void {
  const node = hollowNode({ name, ip: '10.0.0.1' });
  api.store.put({ ...node, metadata: { ...node.metadata, name, uid: `uid-${name}` } });
}

/** The stream, as a browser reads it. */
async function* updatesOf(rig: Rig, authorization: string): AsyncGenerator<Update> {
  const outgoing = request({
    host: '127.0.0.1',
    port: rig.ui.port,
    path: '/api/changes',
    headers: { authorization },
    agent: false,
  });
  const [incoming] = (await once(outgoing.end(), 'response')) as [IncomingMessage];
  let text = '';
  try {
    for await (const chunk of incoming) {
      text += String(chunk);
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) yield JSON.parse(event.replace(/^data: /u, '')) as Update;
    }
  } finally {
    outgoing.destroy();
  }
}

/** The first update for which `holds`; the facts are those of all that came before it too. */
async function until(
  updates: AsyncGenerator<Update>,
  holds: (update: Update, facts: Update['facts']) => boolean,
): Promise<Update> {
  let facts: Update['facts'] = {};
  for (;;) {
    const { done, value } = (await updates.next()) as IteratorResult<Update, undefined>;
    if (done) assert.fail('the stream has ended');
    facts = { ...facts, ...value.facts };
    if (holds(value, facts)) return { ...value, facts };
  }
}

test('only who opened the link is told anything: no other name, no other site, no write, nothing inline', async () => {
  await using rig = await setUp();
  const host = `127.0.0.1:${rig.ui.port}`;
  for (const path of ['/api/changes', '/api/plan', '/api/explain?kind=node&name=a', '/api/session', '/%61pi/plan']) {
    assert.equal((await rig.ask(path)).status, 403, path);
  }
  const authorization = await rig.open();
  for (const [headers, status] of [
    [{ host: `rebound.example:${rig.ui.port}` }, 421],
    [{ host: 'rebound.example' }, 421],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
  ] as const) {
    for (const path of ['/', '/api/changes', '/api/plan']) {
      const refused = await rig.ask(path, { authorization, ...headers });
      assert.equal(refused.status, status, `${path} ${JSON.stringify(headers)}`);
      assert.equal(refused.headers['access-control-allow-origin'], undefined);
    }
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
    assert.equal((await rig.ask('/', { authorization, origin: `http://${host}` }, method)).status, 405, method);
  }
  const page = await rig.ask('/');
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.text, /<style|<script>|style=|onclick=/u);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/u);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/u);
  assert.match(policy, /frame-ancestors 'none'/u);
  for (const [name, value] of [
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'no-referrer'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['cache-control', 'no-store'],
  ] as const) {
    assert.equal(page.headers[name], value);
  }
  const script = await rig.ask('/app.js');
  const style = await rig.ask('/app.css');
  assert.match(String(script.headers['content-type']), /^text\/javascript/u);
  assert.ok(script.text.length + style.text.length <= 60_000, `${script.text.length} + ${style.text.length} bytes`);
  assert.equal(script.text.includes(authorization.replace('Bearer ', '')), false);
});

test('nodes come from the API server, what they wait for from the leader; what has not changed is not sent again', async () => {
  await using rig = await setUp();
  addNode(rig, 'node-1');
  const waits = {
    name: 'node-1',
    controller: 'cloud-node-controller',
    state: 'look-up',
    planned: [{ text: 'Look it up.' }],
  };
  rig.pages.set('/explain/node/', { kind: 'node', dryRun: false, items: [waits] });
  const updates = updatesOf(rig, await rig.open());
  const { nodes } = await until(updates, (update) => (update.nodes?.set[0]?.lines.length ?? 0) > 0);
  assert.deepEqual(
    nodes?.set.map(({ lines, name, state }) => [name, state, lines[0]?.planned]),
    [['node-1', 'waiting', waits.planned]],
  );
  addNode(rig, 'node-2');
  const { nodes: next } = await until(updates, (update) => update.nodes !== undefined);
  assert.deepEqual(
    next?.set.map(({ name }) => name),
    ['node-2'],
  );
  const again = rig.asked.filter((one) => one === '304 /explain/node/').length;
  while (rig.asked.filter((one) => one === '304 /explain/node/').length === again) await systemClock.sleep(50);
  await updates.return(undefined);
});

test('a node that went while nobody looked is gone when somebody looks again', async () => {
  await using rig = await setUp();
  const authorization = await rig.open();
  addNode(rig, 'node-1');
  const before = updatesOf(rig, authorization);
  await until(before, ({ nodes }) => nodes?.set.length === 1);
  await before.return(undefined);
  while (rig.api.watches > 0) await systemClock.sleep(20);
  rig.api.store.delete({ plural: 'nodes' }, 'node-1');
  addNode(rig, 'node-2');
  const after = updatesOf(rig, authorization);
  const shown = new Set<string>();
  await until(after, ({ nodes }) => {
    for (const { name } of nodes?.set ?? []) shown.add(name);
    for (const name of nodes?.gone ?? []) shown.delete(name);
    return shown.has('node-2') && !shown.has('node-1');
  });
  await after.return(undefined);
});

test('a leader that does not answer is named with the time of its last answer, and what it said stays', async () => {
  await using rig = await setUp();
  const route = { name: '10.1.0.0/24', controller: 'node-route-controller', state: 'owned', to: 'node-1', planned: [] };
  rig.pages.set('/explain/route/', { kind: 'route', dryRun: false, items: [route] });
  const updates = updatesOf(rig, await rig.open());
  await until(updates, (update) => update.routes !== undefined);
  rig.isUp = false;
  const lost = await until(updates, (_, facts) => facts?.leader?.error !== undefined);
  assert.ok((lost.facts?.leader?.at ?? 0) > 0);
  assert.equal(lost.routes, undefined);
  assert.equal(lost.facts?.api?.error, undefined);
  rig.isUp = true;
  await until(updates, (update) => update.facts?.leader !== undefined && update.facts.leader.error === undefined);
  await updates.return(undefined);
});

test('the judgement of the overview does not look for the leader again', async () => {
  await using rig = await setUp();
  rig.pages.set('/readyz?verbose', '[+]ping ok');
  const updates = updatesOf(rig, await rig.open());
  const { facts } = await until(updates, (_, all) => all?.items !== undefined && all.leader !== undefined);
  assert.deepEqual(
    facts?.items?.find(({ name }) => name === 'Health'),
    { name: 'Health', state: 'ok', text: 'ready' },
  );
  assert.equal(rig.finds, 1);
  await updates.return(undefined);
});

test('an explanation is the text of the command; why there is none is one line', async () => {
  await using rig = await setUp();
  const authorization = await rig.open();
  rig.pages.set('/explain/service/default/web', {
    kind: 'service',
    name: 'default/web',
    at: 0,
    dryRun: false,
    findings: [{ controller: 'service-lb-controller', about: [], observed: [], planned: [{ text: 'Nothing.' }] }],
    applied: [],
    calls: [],
  });
  const told = await rig.ask('/api/explain?kind=service&name=default%2Fweb', { authorization });
  assert.match(
    told.text,
    /^service default\/web, at 1970-.*\n\nservice-lb-controller\n {2}Planned:\n {4}- Nothing\.\n/u,
  );
  const none = await rig.ask('/api/explain?kind=node&name=a', { authorization });
  assert.equal(none.status, 502);
  assert.match(none.text, /^http:\S+: no such object \(404\)\n$/u);
  const asked = rig.asked.length;
  for (const query of [
    'kind=node&name=..%2F..%2Fmetrics',
    'kind=..&name=metrics',
    'kind=node&name=',
    'kind=pod&name=a',
  ]) {
    const refused = await rig.ask(`/api/explain?${query}`, { authorization });
    assert.match(
      refused.text,
      /^expected node, service, route, persistentvolume, certificatesigningrequest and a name/u,
    );
  }
  assert.equal(rig.asked.length, asked);
});

test('each item of a plan says what to open for it', async () => {
  await using rig = await setUp();
  const authorization = await rig.open();
  const subjects = [
    { kind: 'PersistentVolume', name: 'data-1', uid: 'uid-1' },
    { kind: 'Service', name: 'default/web (deleted)', uid: 'uid-2' },
    { kind: 'OfALaterVersion', name: 'a', uid: 'uid-3' },
  ];
  rig.pages.set('/debug/plan', { planned: subjects.map((subject) => ({ subject, actions: [] })) });
  const { text } = await rig.ask('/api/plan', { authorization });
  assert.deepEqual(
    (JSON.parse(text) as readonly { readonly explanation?: object }[]).map(({ explanation }) => explanation),
    [{ kind: 'persistentvolume', name: 'data-1' }, { kind: 'service', name: 'uid-2' }, undefined],
  );
});

test('nobody is asked anything while nobody looks', async () => {
  await using rig = await setUp();
  const authorization = await rig.open();
  await rig.ask('/');
  assert.deepEqual(rig.asked, []);
  const updates = updatesOf(rig, authorization);
  await until(updates, (update) => update.facts?.leader !== undefined);
  await updates.return(undefined);
});
