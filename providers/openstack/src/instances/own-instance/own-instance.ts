/** Which server a node is: asked on the node itself, without credentials, in the order of `[Metadata] search-order`. */
import { CloudError, type CallContext, type Clock } from '@outrigger/cloud-provider';
import type { MetadataConfig, MetadataSource } from '../../config/cloud-config.ts';
import { labelValueOf } from '../label-value.ts';
import { readConfigDrive } from './config-drive.ts';
import { readMetadataService } from './metadata-service.ts';

export interface OwnInstance {
  /** Of the server, as in the provider ID. */
  readonly id: string;
  /** Of the server; the node's may be another. */
  readonly name: string | undefined;
  /** As a label value. */
  readonly zone: string | undefined;
}

/** Reads `meta_data.json`, as text. Rejects where this source is not there. The signal carries the time limit. */
export type ReadMetadata = (call: CallContext) => Promise<string>;

export interface OwnInstanceOptions {
  readonly metadata: MetadataConfig;
  readonly clock: Clock;
  /** Default: this machine's. */
  readonly sources?: Readonly<Record<MetadataSource, ReadMetadata>>;
}

const thisMachine: Readonly<Record<MetadataSource, ReadMetadata>> = {
  configDrive: readConfigDrive,
  metadataService: readMetadataService,
};

/**
 * The first source that answers is right; each has `request-timeout` for it. Throws `unavailable` with what each of them said
 * where none does. Not remembered: a config drive is written once, and a server that was rebuilt has a new zone at most.
 */
export async function readOwnInstance(
  { metadata, clock, sources = thisMachine }: OwnInstanceOptions,
  call: CallContext,
): Promise<OwnInstance> {
  const refusals: string[] = [];
  for (const source of metadata.searchOrder) {
    try {
      const text = await limited(clock, metadata.requestTimeoutMs, call, sources[source]);
      return parseMetadata(text);
    } catch (error) {
      call.signal.throwIfAborted();
      refusals.push(`${source}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new CloudError('unavailable', `which server this machine is could not be read: ${refusals.join('; ')}`);
}

async function limited(clock: Clock, limitMs: number, call: CallContext, read: ReadMetadata): Promise<string> {
  const limit = new AbortController();
  const done = new AbortController();
  const signal = AbortSignal.any([call.signal, limit.signal]);
  const isLate = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  clock.sleep(limitMs, done.signal).then(
    () => limit.abort(new CloudError('timeout', `no answer within ${limitMs} ms`)),
    () => undefined,
  );
  try {
    const { priority, logger } = call;
    return await Promise.race([
      read({ signal, priority, logger, call: (what, send) => call.call(what, send) }),
      isLate,
    ]);
  } finally {
    done.abort();
  }
}

/** nova's `meta_data.json`, of which more is there than is used. */
function parseMetadata(text: string): OwnInstance {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new CloudError('invalid', 'meta_data.json is no JSON');
  }
  const { uuid, name, availability_zone: zone } = (parsed ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof uuid !== 'string' || uuid === '') throw new CloudError('invalid', 'meta_data.json has no uuid');
  return {
    id: uuid,
    name: typeof name === 'string' ? name : undefined,
    zone: typeof zone === 'string' ? labelValueOf(zone) : undefined,
  };
}
