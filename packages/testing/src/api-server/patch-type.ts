/** The kinds of patch, by media type. */
import type { ApiObject, NamedObject } from './api-object.ts';
import { applyJsonPatch } from './json-patch.ts';
import type { Kind } from './kinds.ts';
import { applyMergePatch } from './merge-patch.ts';
import { StatusError } from './status-error.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

/** Throws 415 for a type that is unknown, 501 for server-side apply. */
export function patchOf(type: string, kind: Kind): (current: NamedObject, patch: unknown) => ApiObject {
  switch (type) {
    case 'application/json-patch+json':
      return applyJsonPatch;
    case 'application/merge-patch+json':
      return applyMergePatch;
    case 'application/strategic-merge-patch+json':
      return (current, patch) => applyStrategicMergePatch(current, patch, kind.mergeKeys);
    case 'application/apply-patch+yaml':
    case 'application/apply-patch+cbor':
      throw new StatusError(
        501,
        'NotImplemented',
        'the embedded API server has no server-side apply: test it against the real control plane',
      );
    default:
      throw unsupportedMediaType(type);
  }
}

export const unsupportedMediaType = (type: string): StatusError =>
  new StatusError(415, 'UnsupportedMediaType', `415: Unsupported Media Type: "${type}"`, {});
