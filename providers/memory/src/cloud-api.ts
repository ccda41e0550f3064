/** The cloud's API: from a request to a response, with latency, rate limit and faults on the way. */
import type { CloudRequest, CloudResponse } from './cloud-request.ts';
import { Refusal } from './cloud-request.ts';
import type { MemoryInstance, MemoryPart, NewRoute } from './cloud-model.ts';
import type { MemoryCloud } from './memory-cloud.ts';

type Tags = MemoryInstance['tags'];

const MOST_IN_A_BATCH = 500;

interface Operation {
  /** Without IDs. */
  readonly name: string;
  /** What a list without entries looks like, for the fault `empty`. */
  readonly empty?: unknown;
  run(signal: AbortSignal): CloudResponse | Promise<CloudResponse>;
}

/** Answers a request. Rejects with the signal's reason only. */
export async function handleRequest(
  cloud: MemoryCloud,
  request: CloudRequest,
  signal: AbortSignal,
): Promise<CloudResponse> {
  const operation = findOperation(cloud, request);
  const response = await answer(cloud, operation, signal);
  cloud.note(operation.name, response.status);
  return response;
}

async function answer(cloud: MemoryCloud, operation: Operation, signal: AbortSignal): Promise<CloudResponse> {
  const { latencyMs, rateLimit } = cloud.settings;
  const waitSeconds = rateLimit ? cloud.rateLimit.take(rateLimit) : 0;
  if (waitSeconds > 0) {
    return { ...refused(429, 'throttled', 'too many requests'), retryAfterSeconds: Math.ceil(waitSeconds) };
  }
  const fault = cloud.faults.next(operation.name);
  if (latencyMs > 0) await cloud.clock.sleep(latencyMs, signal);
  switch (fault?.effect) {
    case 'hang':
      return await never(signal);
    case 'status':
      return {
        ...refused(fault.status ?? 500, 'fault', 'a failure by rule'),
        retryAfterSeconds: fault.retryAfterSeconds,
      };
    case 'lost':
      await runOperation(operation, signal);
      return refused(500, 'fault', 'done, and the answer lost by rule');
    case 'empty':
      return operation.empty === undefined
        ? await runOperation(operation, signal)
        : { status: 200, body: operation.empty };
    default:
      return await runOperation(operation, signal);
  }
}

async function runOperation(operation: Operation, signal: AbortSignal): Promise<CloudResponse> {
  try {
    return await operation.run(signal);
  } catch (error) {
    if (error instanceof Refusal) return refused(error.status, error.code, error.message);
    throw error;
  }
}

function findOperation(cloud: MemoryCloud, { method, path, body }: CloudRequest): Operation {
  const url = new URL(path, 'http://cloud');
  const [collection = '', id = ''] = url.pathname.slice(1).split('/').map(decodeURIComponent);
  const input = (body ?? {}) as Record<string, unknown>;
  switch (`${method} /${collection}${id === '' ? '' : '/{id}'}`) {
    case 'GET /instances':
      return {
        name: 'GET /instances',
        empty: { instances: [] },
        run: () => {
          const name = url.searchParams.get('name');
          const instances = cloud.instances().filter((instance) => name === null || instance.name === name);
          return ok({ instances });
        },
      };
    case 'GET /instances/{id}':
      return { name: 'GET /instances/{id}', run: () => oneOf('instance', id, cloud.instance(id)) };
    // Its tags, beside those of other names.
    case 'PATCH /instances/{id}': {
      const run = (): CloudResponse =>
        ok(cloud.updateInstance(id, { tags: { ...cloud.instance(id)?.tags, ...(input as Tags) } }));
      return { name: 'PATCH /instances/{id}', run };
    }
    case 'GET /changes': {
      const given = url.searchParams.get('since');
      const since = given === null ? undefined : Number(given);
      return { name: 'GET /changes', run: async (signal) => ok(await cloud.changesSince(since, signal)) };
    }
    case 'GET /deletedInstances/{id}':
      return {
        name: 'GET /deletedInstances/{id}',
        run: () => oneOf('deleted instance', id, cloud.hadInstance(id) ? { id } : undefined),
      };
    case 'POST /instances:batchGet':
      return { name: 'POST /instances:batchGet', empty: { instances: [] }, run: () => batchGet(cloud, input) };
    case 'GET /routes':
      return { name: 'GET /routes', empty: { routes: [] }, run: () => ok({ routes: routesOf(cloud) }) };
    case 'POST /routes:batchCreate':
      return {
        name: 'POST /routes:batchCreate',
        run: () =>
          eachOf(input.routes as readonly NewRoute[], (route) => ({
            kind: cloud.createRoute(route).created ? 'done' : 'exists',
          })),
      };
    case 'POST /routes:batchDelete':
      return {
        name: 'POST /routes:batchDelete',
        run: () =>
          eachOf(input.ids as readonly string[], (route) => ({ kind: 'done', existed: cloud.deleteRoute(route) })),
      };
    case 'POST /volumes:batchGet':
      return {
        name: 'POST /volumes:batchGet',
        empty: { volumes: [] },
        run: () => volumesOf(cloud, input.ids as readonly string[]),
      };
    case 'POST /podRanges:batchAssign':
      return {
        name: 'POST /podRanges:batchAssign',
        run: () =>
          eachOf(input.requests as readonly { instanceId: string; podCidrs: readonly string[] }[], (one) => ({
            kind: cloud.assignPodCidrs(one.instanceId, one.podCidrs).changed ? 'done' : 'exists',
          })),
      };
    case 'GET /quota':
      return { name: 'GET /quota', run: () => ok({ parts: cloud.settings.quota.parts }) };
    case 'GET /parts':
      return { name: 'GET /parts', empty: { parts: [] }, run: () => ok({ parts: partsOf(cloud, url) }) };
    case 'GET /parts:byOwner': {
      const { clusterId = '', kind = '', uid = '' } = Object.fromEntries(url.searchParams);
      const run = (): CloudResponse => oneOf('part', `${kind} of ${uid}`, cloud.partOf(kind, { clusterId, uid }));
      return { name: 'GET /parts:byOwner', run };
    }
    case 'GET /parts/{id}':
      return { name: 'GET /parts/{id}', run: () => oneOf('part', id, cloud.part(id)) };
    case 'POST /parts':
      return { name: 'POST /parts', run: () => ok(cloud.createPart(input as unknown as Omit<MemoryPart, 'id'>), 201) };
    case 'PUT /parts/{id}':
      return {
        name: 'PUT /parts/{id}',
        run: () => ok(cloud.updatePart(id, input)),
      };
    case 'DELETE /parts/{id}':
      return {
        name: 'DELETE /parts/{id}',
        run: () => (cloud.deletePart(id) ? ok({}) : refused(404, 'not-found', `there is no part ${id}`)),
      };
    default:
      return { name: 'unknown', run: () => refused(404, 'invalid', `there is no ${method} ${url.pathname}`) };
  }
}

/** `?uid=`: those with that tag. */
function partsOf(cloud: MemoryCloud, { searchParams }: URL): readonly MemoryPart[] {
  const uid = searchParams.get('uid');
  return cloud.parts().filter(({ tags }) => uid === null || tags.uid === uid);
}

/** A route outlives its instance, as a blackhole. */
function routesOf(cloud: MemoryCloud): readonly object[] {
  return cloud.routes().map((route) => ({ ...route, blackhole: cloud.instance(route.instanceId) === undefined }));
}

/** By ID, by the UUID of the system, or by name. What it does not find is not proved to be absent: it reads the list. */
function batchGet(cloud: MemoryCloud, input: Record<string, unknown>): CloudResponse {
  const { ids = [], names = [], systemUUIDs = [] } = input as Record<string, readonly string[] | undefined>;
  if (![ids, names, systemUUIDs].every((one) => Array.isArray(one))) {
    return refused(400, 'invalid', 'ids, names and systemUUIDs must be lists');
  }
  if (ids.length + Math.max(names.length, systemUUIDs.length) > MOST_IN_A_BATCH) {
    return refused(400, 'invalid', `at most ${MOST_IN_A_BATCH} instances at once`);
  }
  const [wantedIds, wantedNames, wantedUUIDs] = [ids, names, systemUUIDs].map((one) => new Set(one)) as [
    Set<string>,
    Set<string>,
    Set<string>,
  ];
  const isWanted = ({ id, name, systemUUID = '' }: MemoryInstance): boolean =>
    wantedIds.has(id) || wantedNames.has(name) || wantedUUIDs.has(systemUUID.toLowerCase());
  return ok({ instances: cloud.instances().filter(isWanted) });
}

function volumesOf(cloud: MemoryCloud, ids: readonly string[]): CloudResponse {
  if (!Array.isArray(ids)) return refused(400, 'invalid', 'ids must be a list');
  if (ids.length > MOST_IN_A_BATCH) return refused(400, 'invalid', `at most ${MOST_IN_A_BATCH} volumes at once`);
  const wanted = new Set<string>(ids);
  return ok({ volumes: cloud.volumes().filter(({ id }) => wanted.has(id)) });
}

function eachOf<T>(items: readonly T[], work: (item: T) => object): CloudResponse {
  const results = items.map((item) => {
    try {
      return work(item);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { kind: 'failed', code: error.code, message: error.message };
    }
  });
  return ok({ results });
}

function oneOf(kind: string, id: string, found: unknown): CloudResponse {
  return found === undefined ? refused(404, 'not-found', `there is no ${kind} ${id}`) : ok(found);
}

function ok(body: unknown, status = 200): CloudResponse {
  return { status, body };
}

function refused(status: number, code: string, message: string): CloudResponse {
  return { status, body: { code, message } };
}

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    if (signal.aborted) reject(signal.reason as Error);
  });
}
