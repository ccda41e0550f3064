/** Options of writes: from the query, for deletions from the body too. */
import { isJsonObject, stringAt, type ApiObject } from './api-object.ts';
import { parseObject } from './http-exchange.ts';
import type { DeleteRequest } from './registry.ts';
import { invalid, unsupportedValue } from './status-error.ts';

/** Throws 422 for anything but `All`. `options`: the kind that the error names. */
export function parseDryRun(query: URLSearchParams, options: string): boolean {
  return checkDryRun(query.getAll('dryRun'), options);
}

function checkDryRun(asked: readonly unknown[], options: string): boolean {
  const given = asked.filter((value) => value !== '');
  if (given.some((value) => value !== 'All')) {
    throw invalid({ group: 'meta.k8s.io', kind: options }, '', [unsupportedValue('dryRun', given, ['All'])]);
  }
  return given.length > 0;
}

/** The body wins over the query. Throws 400 for a body that is no object. */
export function parseDeleteOptions(query: URLSearchParams, text: Buffer): DeleteRequest {
  const body: ApiObject = text.length === 0 ? {} : parseObject(text, 'DeleteOptions');
  const preconditions = isJsonObject(body['preconditions']) ? body['preconditions'] : {};
  const grace =
    body['gracePeriodSeconds'] ??
    (query.has('gracePeriodSeconds') ? Number(query.get('gracePeriodSeconds')) : undefined);
  const asked = Array.isArray(body['dryRun']) ? (body['dryRun'] as unknown[]) : query.getAll('dryRun');
  return {
    uid: stringAt(preconditions, 'uid') || undefined,
    resourceVersion: stringAt(preconditions, 'resourceVersion') || undefined,
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    propagationPolicy: stringAt(body, 'propagationPolicy') || query.get('propagationPolicy') || undefined,
    dryRun: checkDryRun(asked, 'DeleteOptions'),
  };
}
