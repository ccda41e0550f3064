/**
 * The floor under every implementation: a bare client with one node watch that does nothing but the two writes that
 * initialise a node, or the one that gives it a pod CIDR, eight in flight, in the form that costs the API server least, and asks
 * for metadata only in return. No cloud, no queue, no retry, no checks.
 *
 *     node bench/floor.ts <server URL> <CA file> <bearer token> [pod-cidr]
 */
import { connect, type ClientHttp2Session } from 'node:http2';
import { readFileSync } from 'node:fs';

const IN_FLIGHT = 8;
const TAINT = 'node.cloudprovider.kubernetes.io/uninitialized';
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

interface NodeObject {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec?: { readonly podCIDR?: string; readonly taints?: readonly { readonly key: string }[] };
}

interface WatchEvent {
  readonly type: string;
  readonly object: NodeObject;
}

const [server, caFile, token, what] = process.argv.slice(2);
if (!server || !caFile || !token) throw new Error('usage: floor.ts <server URL> <CA file> <bearer token> [pod-cidr]');
const session: ClientHttp2Session = connect(server, { ca: readFileSync(caFile) });
const headers = { authorization: `Bearer ${token}`, 'user-agent': 'floor' };

/** Strategic: a JSON or merge patch has the API server write the whole node as JSON and read it again (ADR 0043). */
function patch(path: string, body: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ...headers,
      ':method': 'PATCH',
      ':path': `${path}?fieldValidation=Ignore`,
      'content-type': 'application/strategic-merge-patch+json',
      accept: METADATA_ONLY,
    });
    stream.on('response', (answer) => {
      if (answer[':status'] !== 200) reject(new Error(`PATCH ${path}: ${answer[':status']}`));
    });
    stream.on('error', reject);
    stream.on('end', resolve);
    stream.resume();
    stream.end(JSON.stringify(body));
  });
}

const waiting: string[] = [];
const seen = new Set<string>();
let running = 0;

function indexOf(name: string): number {
  return Number(name.replaceAll(/\D/g, '')) || 0;
}

async function assignPodCidr(name: string): Promise<void> {
  const index = indexOf(name);
  const podCIDR = `10.${(index >> 8) & 255}.${index & 255}.0/24`;
  const spec = { podCIDR, podCIDRs: [podCIDR] };
  await patch(`/api/v1/nodes/${name}`, { spec });
}

async function initialise(name: string): Promise<void> {
  const index = indexOf(name);
  const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  await patch(`/api/v1/nodes/${name}/status`, { status: { addresses: [{ type: 'InternalIP', address }] } });
  await patch(`/api/v1/nodes/${name}`, {
    metadata: { labels: { 'topology.kubernetes.io/zone': 'zone-a', 'topology.kubernetes.io/region': 'region-1' } },
    spec: { providerID: `memory://region-1/${name}`, taints: null },
  });
}

const isWaiting = ({ spec }: NodeObject): boolean =>
  what === 'pod-cidr' ? !spec?.podCIDR : (spec?.taints?.some(({ key }) => key === TAINT) ?? false);
const write = what === 'pod-cidr' ? assignPodCidr : initialise;

function drain(): void {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    running++;
    void write(name).finally(() => {
      running--;
      drain();
    });
    if (running >= IN_FLIGHT) return;
  }
}

/** The server ends a watch that it finds too slow, at its start above all: it is opened again where it ended. */
function watchNodes(resourceVersion: string): void {
  let last = resourceVersion;
  let rest: Buffer = Buffer.alloc(0);
  const path = `/api/v1/nodes?watch=true&allowWatchBookmarks=true&resourceVersion=${resourceVersion}`;
  const stream = session.request({ ...headers, ':path': path });
  stream.on('data', (chunk: Buffer) => {
    rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const event = JSON.parse(rest.subarray(0, end).toString('utf8')) as WatchEvent;
      rest = rest.subarray(end + 1);
      const { name, resourceVersion: version } = event.object.metadata;
      last = version;
      if (event.type !== 'ADDED' || seen.has(name) || !isWaiting(event.object)) continue;
      seen.add(name);
      waiting.push(name);
      if (running < IN_FLIGHT) drain();
    }
  });
  // The first events of a watch without a version come in no order of versions: then it begins anew.
  stream.on('close', () => watchNodes(resourceVersion === '' ? '' : last));
  stream.end();
}

watchNodes('');
process.on('SIGTERM', () => process.exit(0));
