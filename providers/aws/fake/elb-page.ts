/** Pages of both load balancer APIs: at most 400 things, and a marker that means nothing to anybody else. */
import { refused } from './aws-error.ts';

const MOST = 400;

export function elbPage<T>(
  things: readonly T[],
  { Marker: marker, PageSize: size = MOST }: { readonly Marker?: string; readonly PageSize?: number },
  idOf: (thing: T) => string,
): { readonly items: readonly T[]; readonly next: { readonly NextMarker?: string } } {
  const sorted = things.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const after = marker === undefined ? '' : Buffer.from(marker, 'base64url').toString();
  if (marker !== undefined && (marker === '' || Buffer.from(after).toString('base64url') !== marker)) {
    throw refused('ValidationError', `Invalid marker: ${marker}`);
  }
  const left = sorted.filter((thing) => idOf(thing) > after);
  const items = left.slice(0, size);
  const last = items.at(-1);
  if (last === undefined || items.length === left.length) return { items, next: {} };
  return { items, next: { NextMarker: Buffer.from(idOf(last)).toString('base64url') } };
}
