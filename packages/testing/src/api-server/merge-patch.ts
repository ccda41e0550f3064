/** RFC 7386: objects are merged, null deletes, anything else replaces. */
import { isJsonObject, type JsonObject } from './api-object.ts';
import { badRequest } from './status-error.ts';

function merge(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? target : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = merge(result[field], value);
  }
  return result;
}

/** Changes `document` in place. Throws 400 when the patch is no object. */
export function applyMergePatch(document: JsonObject, patch: unknown): JsonObject {
  if (!isJsonObject(patch)) throw badRequest('error decoding patch: a merge patch is an object');
  return merge(document, patch) as JsonObject;
}
