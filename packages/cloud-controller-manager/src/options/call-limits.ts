/** `--cloud-call-limits`: how fast each cloud is asked at most. */
import type { CloudProvider } from '@outrigger/cloud-provider';
import type { BucketLimits } from '@outrigger/cloud-runtime';
import { FlagError, type FlagType } from '@outrigger/controller-manager';

/** Of one provider, or of one of its buckets. */
export interface CallLimit {
  /** As it was written. */
  readonly text: string;
  readonly provider: string;
  /** Default: each bucket that has no limit of its own. */
  readonly bucket: string | undefined;
  readonly limits: BucketLimits;
}

const LIMIT = /^([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)(?:\/([\w.-]+))?=(\d+(?:\.\d+)?|\.\d+)(?::([1-9]\d*))?$/u;

/** `provider=qps`, `provider=qps:burst` or `provider/bucket=qps:burst`, separated by commas; repeatable. */
export const callLimits: FlagType<readonly CallLimit[]> = {
  word: 'strings',
  parse: (text, previous) => {
    const added = text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(parseLimit);
    return [...(previous ?? []), ...added];
  },
  format: (limits) => (limits.length === 0 ? '' : `[${limits.map(({ text }) => text).join(',')}]`),
};

/** What holds for a bucket of a provider: of several, the last one that names it best; else what the provider knows of its cloud. */
export function limitsOf(
  limits: readonly CallLimit[],
  { callLimits: known, name }: Pick<CloudProvider, 'callLimits' | 'name'>,
  bucket: string,
): BucketLimits {
  const own = limits.filter((limit) => limit.provider === name);
  const found = own.findLast((limit) => limit.bucket === bucket) ?? own.findLast((limit) => limit.bucket === undefined);
  return found?.limits ?? known?.[bucket] ?? {};
}

/** Throws a `FlagError` for the limit of a provider that there is not, or of a bucket that its provider has not. */
export function checkCallLimits(
  { cloud }: { readonly cloud: { readonly cloudCallLimits: readonly CallLimit[] } },
  providers: readonly Pick<CloudProvider, 'buckets' | 'name'>[],
): void {
  for (const { bucket, provider, text } of cloud.cloudCallLimits) {
    const known = providers.find(({ name }) => name === provider);
    if (!known) {
      const names = providers.map(({ name }) => name).join(', ');
      throw new FlagError('invalid-flag', `--cloud-call-limits=${text}: no provider ${provider}; there are ${names}`);
    }
    if (bucket === undefined || known.buckets === undefined) continue;
    const buckets = ['default', ...known.buckets];
    if (buckets.includes(bucket)) continue;
    const which = `${provider} has no bucket ${bucket}; there are ${buckets.join(', ')}`;
    throw new FlagError('invalid-flag', `--cloud-call-limits=${text}: ${which}`);
  }
}

function parseLimit(text: string): CallLimit {
  const [, provider = '', bucket, qps, burst] = LIMIT.exec(text) ?? [];
  if (qps === undefined) {
    throw new Error(`${JSON.stringify(text)} is not provider=qps, provider=qps:burst or provider/bucket=qps:burst`);
  }
  if (Number(qps) === 0) throw new Error(`${JSON.stringify(text)}: qps must be above 0`);
  return {
    text,
    provider,
    bucket,
    limits: { qps: Number(qps), ...(burst !== undefined && { burst: Number(burst) }) },
  };
}
